"""The graph convolutional network of Kipf and Welling: messages without uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bup.engine.layers import Dropout, dropout_factors, glorot, per_seed_product
from bup.engine.loop import Parameters, Schedule, Trained
from bup.engine.receptive_field import ReceptiveField
from bup.engine.sparse import Csr
from bup.io.lazy import Tensor, functional, torch
from bup.methods.base import Explains, Fitted, Method, TwoLayers
from bup.methods.network import BatchNetwork, NetworkSettings
from bup.run.settings import setting
from bup.run.splits import Split

if TYPE_CHECKING:
    from bup.results.result import Result


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


@dataclass(frozen=True)
class WideGcnSettings(GcnSettings):
    """With as many hidden units as BUP has."""

    hidden: int = setting(64, "Width of the hidden layer.", low=1, high=1024)


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


class GcnNetwork(BatchNetwork):
    """Two layers whose outputs become probabilities by softmax, trained by cross-entropy."""

    def schedule(self) -> Schedule:
        return self.s.schedule(self.s.keep)

    def initial_parameters(self, generators: Sequence[torch.Generator]) -> Parameters:
        return initial_parameters(self.graph.num_features, self.s.hidden, self.classes, generators)

    def output(
        self,
        p: Parameters,
        field: ReceptiveField,
        generators: Sequence[torch.Generator] | None = None,
    ) -> Tensor:
        """Logits [targets, c]; ``generators`` switch dropout on."""
        return gcn_output(p, field, self.s.dropout, generators)

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        logits = self.output(self.parameters, self.train_field, generators)
        loss = functional.cross_entropy(logits, self.train_labels, reduction="none")
        return self.seed_means(loss)

    def validation(self) -> tuple[Tensor, Tensor]:
        logits, labels = self.output(self.parameters, self.validation_field), self.validation_labels
        nll = functional.cross_entropy(logits, labels, reduction="none")
        return self.seed_means(nll), self.seed_means(logits.argmax(-1) == labels)

    def predict(self, trained: Trained, split: Split, seed: int) -> Fitted:
        logits = self.output(trained.parameters, self.everything)
        return Fitted.of(
            trained, logits.softmax(-1), mean=logits, scores=self.scores(trained, logits, split)
        )

    def scores(self, trained: Trained, logits: Tensor, split: Split) -> Mapping[str, Tensor]:
        """Scores [n] beside those that every method has."""
        return {}


def layers(result: Result) -> TwoLayers:
    """The network of a run, from its weights."""
    return TwoLayers(result.weights["mean_1"][None], result.weights["mean_2"][None])


METHOD = Method(
    name="gcn",
    title="Graph convolutional network (GCN)",
    explanation="Each node averages its neighbours' messages twice and turns the result into class "
    "probabilities. The message is a plain number per class: the network has no way of saying how "
    "sure it is of the message itself.",
    settings=GcnSettings,
    fit_batch=GcnNetwork.fit_batch,
    explains=Explains(layers=layers),
    # What is calibrated afterwards gets as much width and patience as BUP has.
    calibrated_defaults={"hidden": 64, "keep": "best", "patience": 40},
)
