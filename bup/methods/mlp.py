"""A perceptron that reads a node's own words and ignores the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bup.engine.layers import per_seed_product
from bup.engine.loop import OnEpoch, Parameters, Trained
from bup.engine.receptive_field import ReceptiveField
from bup.graph import Graph
from bup.io.lazy import Tensor, torch
from bup.methods import gcn
from bup.methods.base import Fitted, Method
from bup.run.settings import setting
from bup.run.splits import Split


@dataclass(frozen=True)
class MlpSettings(gcn.GcnSettings):
    """The GCN's, with a wider layer: without neighbours a node has fewer words to go by."""

    hidden: int = setting(64, "Width of the hidden layer.", low=1, high=1024)


def mlp_output(
    p: Parameters,
    field: ReceptiveField,
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """relu(X W_1) W_2 for a field's targets [targets, c]; ``generators`` switch dropout on."""
    hidden = gcn.words_product(field.target_words, p["mean_1"], dropout, generators).relu()
    rows = [len(nodes) for nodes in field.targets]
    hidden = gcn.apply_dropout(hidden, rows, dropout, generators)
    return per_seed_product(hidden, rows, p["mean_2"])


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: MlpSettings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    def finish(trained: Trained, everything: ReceptiveField, split: Split, seed: int) -> Fitted:
        output = mlp_output(trained.parameters, everything)
        return Fitted.of(trained, output.softmax(-1), mean=output)

    return gcn.fit_classifier(graph, splits, seeds, s, on_epoch, finish, mlp_output)


METHOD = Method(
    name="mlp",
    title="Perceptron without links (MLP)",
    explanation="Two layers that read a node's own words and never look at its neighbours. What "
    "the other methods do better than this one is what the links are worth.",
    settings=MlpSettings,
    fit=fit,
)
