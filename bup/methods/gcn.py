"""The graph convolutional network of Kipf and Welling: messages without uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bup.engine.layers import Dropout, dropout_factors, glorot, per_seed_product
from bup.engine.loop import OnEpoch, Parameters, Trained
from bup.engine.receptive_field import ReceptiveField
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.io.lazy import Generator, Tensor, functional, torch
from bup.methods.base import Fitted, Method
from bup.methods.network import Finish, NetworkSettings, TrainingData, fit_network
from bup.run.settings import setting
from bup.run.splits import Split


@dataclass(frozen=True)
class GcnSettings(NetworkSettings):
    """The defaults are those of the original code."""

    hidden: int = setting(16, "Width of the hidden layer.", low=1, high=1024)
    epochs: int = setting(200, "Epochs at most.", low=1, high=10_000)
    patience: int = setting(10, "Epochs without improvement before stopping.", low=1, high=10_000)
    keep: str = setting(
        "last",
        "Keep the last weights, as the original does, or those of the best validation epoch.",
        choices=("last", "best"),
    )


def initial_parameters(
    words: int, hidden: int, classes: int, generators: Sequence[torch.Generator]
) -> Parameters:
    return {
        "mean_1": glorot(generators, words, hidden),
        "mean_2": glorot(generators, hidden, classes),
    }


def words_product(
    rows: Csr, weights: Tensor, dropout: float, generators: Sequence[torch.Generator] | None
) -> Tensor:
    """X W for every seed's rows; ``generators`` switch dropout of the words on."""
    if generators is not None and dropout:
        rows = rows.mask_entries(*Dropout.draw(dropout, rows.blocks, generators))
    return rows.matmul(weights.flatten(0, 1))


def hidden_layer(
    p: Parameters,
    field: ReceptiveField,
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """Message passing, Eq. (1): theta' = a(K theta W), here relu(K X W_1) [inner, hidden].

    ``generators`` switch dropout on.
    """
    words = words_product(field.outer_words, p["mean_1"], dropout, generators)
    return field.hops[0].kernel.matmul(words).relu()


def apply_dropout(
    hidden: Tensor,
    rows: Sequence[int],
    dropout: float,
    generators: Sequence[torch.Generator] | None,
) -> Tensor:
    """A hidden layer after dropout, ``rows[s]`` rows of it for each seed s."""
    if generators is None or not dropout:
        return hidden
    counts = [count * hidden.shape[1] for count in rows]
    return hidden * dropout_factors(dropout, counts, generators).view_as(hidden)


def gcn_output(
    p: Parameters,
    field: ReceptiveField,
    dropout: float = 0.0,
    generators: Sequence[torch.Generator] | None = None,
) -> Tensor:
    """K relu(K X W_1) W_2 for a field's targets [targets, c]; ``generators`` switch dropout on."""
    hidden = hidden_layer(p, field, dropout, generators)
    hidden = apply_dropout(hidden, [len(nodes) for nodes in field.inner], dropout, generators)
    # Averaged before it is mapped: there are fewer targets than inner nodes.
    around = field.hops[1].kernel.matmul(hidden)
    return per_seed_product(around, [len(nodes) for nodes in field.targets], p["mean_2"])


Output = Callable[[Parameters, ReceptiveField, float, Sequence[Generator] | None], Tensor]


class Classifier:
    """A network whose outputs become probabilities by softmax, trained by cross-entropy."""

    decayed: tuple[str, ...] = ("mean_1",)

    def __init__(
        self, data: TrainingData, s: GcnSettings, parameters: Parameters, output: Output
    ) -> None:
        self.data, self.s, self.parameters, self.output = data, s, parameters, output

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        output = self.output(self.parameters, self.data.train, self.s.dropout, generators)
        labels = self.data.train_labels
        return self.data.seed_means(functional.cross_entropy(output, labels, reduction="none"))

    def validation(self) -> tuple[Tensor, Tensor]:
        output = self.output(self.parameters, self.data.validation, 0.0, None)
        labels = self.data.validation_labels
        nll = functional.cross_entropy(output, labels, reduction="none")
        return self.data.seed_means(nll), self.data.seed_means(output.argmax(-1) == labels)


def fit_classifier(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: GcnSettings,
    on_epoch: OnEpoch | None,
    finish: Finish,
    output: Output = gcn_output,
) -> list[Fitted]:
    """Train a GCN, or another network of two layers; ``finish`` makes a result of it."""

    def make(data: TrainingData, generators: Sequence[torch.Generator]) -> Classifier:
        p = initial_parameters(graph.num_features, s.hidden, data.classes, generators)
        return Classifier(data, s, p, output)

    return fit_network(graph, splits, seeds, s.schedule(s.keep), on_epoch, make, finish)


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: GcnSettings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    def finish(trained: Trained, everything: ReceptiveField, split: Split, seed: int) -> Fitted:
        output = gcn_output(trained.parameters, everything)
        return Fitted.of(trained, output.softmax(-1), mean=output)

    return fit_classifier(graph, splits, seeds, s, on_epoch, finish)


METHOD = Method(
    name="gcn",
    title="Graph convolutional network (GCN)",
    explanation="Each node averages its neighbours' messages twice and turns the result into class "
    "probabilities. The message is a plain number per class: the network has no way of saying how "
    "sure it is of the message itself.",
    settings=GcnSettings,
    fit=fit,
    # What is calibrated afterwards gets as much width and patience as BUP has.
    calibrated_defaults={"hidden": 64, "keep": "best", "patience": 40},
)
