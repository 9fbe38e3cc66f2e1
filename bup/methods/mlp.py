"""A perceptron that reads a node's own words and ignores the links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bup.engine.layers import per_seed_product
from bup.engine.loop import Parameters
from bup.engine.receptive_field import ReceptiveField
from bup.io.lazy import Tensor, torch
from bup.methods import gcn
from bup.methods.base import Explains, Method, TwoLayers

if TYPE_CHECKING:
    from bup.results.result import Result


class MlpNetwork(gcn.GcnNetwork):
    def output(
        self,
        p: Parameters,
        field: ReceptiveField,
        generators: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """relu(X W_1) W_2 for a field's targets [targets, c]."""
        dropout, rows = self.s.dropout, [len(nodes) for nodes in field.targets]
        hidden = gcn.words_product(field.target_words, p["mean_1"], dropout, generators).relu()
        hidden = gcn.apply_dropout(hidden, rows, dropout, generators)
        return per_seed_product(hidden, rows, p["mean_2"])


def layers(result: Result) -> TwoLayers:
    """The network of a run, from its weights."""
    return gcn.layers(result)._replace(reads_links=False)


METHOD = Method(
    name="mlp",
    title="Perceptron without links (MLP)",
    explanation="Two layers that read a node's own words and never look at its neighbours. What "
    "the other methods do better than this one is what the links are worth.",
    settings=gcn.WideGcnSettings,
    fit_batch=MlpNetwork.fit_batch,
    explains=Explains(layers=layers),
)
