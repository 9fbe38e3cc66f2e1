"""What a method is, what it returns, and what it can explain about a node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bup import calibrators, likelihood
from bup.calibrators import Outputs, spread
from bup.engine.loop import OnEpoch, Schedule, Trained
from bup.engine.receptive_field import Inputs
from bup.errors import BupError
from bup.graph import Graph
from bup.io.lazy import Tensor, sparse, special, torch
from bup.propagation import Propagation
from bup.run.settings import setting
from bup.run.spec import Value
from bup.run.splits import Split
from bup.scores import SCORES, Score

if TYPE_CHECKING:
    from bup.results.result import Result


@dataclass(frozen=True, eq=False)
class Fitted:
    """What training one seed gives, over all nodes; a ``Result`` has fields of these names."""

    probs: np.ndarray  # [n, c]
    history: Mapping[str, list[float]]
    kept_epoch: int  # counting from 1
    mean: np.ndarray | None = None  # [n, c] the message before it becomes a probability
    var: np.ndarray | None = None  # [n, c] for methods whose messages have a variance
    weights: Mapping[str, np.ndarray] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)  # e.g. a fitted temperature
    own_scores: Mapping[str, np.ndarray] = field(default_factory=dict)  # [n], see Method.scores
    split: Split | None = None  # where it is another than the one given

    @classmethod
    def of(
        cls,
        trained: Trained,
        probs: Tensor,
        mean: Tensor | None = None,
        var: Tensor | None = None,
        constants: Mapping[str, float] | None = None,
        scores: Mapping[str, Tensor] | None = None,
    ) -> Fitted:
        return cls(
            probs=probs.numpy(),
            history=trained.history,
            kept_epoch=trained.kept_epoch,
            mean=None if mean is None else mean.numpy(),
            var=None if var is None else var.numpy(),
            weights={name: tensor[0].numpy() for name, tensor in trained.parameters.items()},
            constants=constants or {},
            own_scores={name: score.numpy() for name, score in (scores or {}).items()},
        )


FitOne = Callable[[Graph, Split, int, Any, OnEpoch | None], Fitted]
FitBatch = Callable[[Graph, Sequence[Split], Sequence[int], Any, OnEpoch | None], list[Fitted]]


class PropagationStep(NamedTuple):
    """A propagation step of a trained model: variances of a hidden message before and after it."""

    sources: np.ndarray
    before: np.ndarray  # [sources, k]
    targets: np.ndarray
    after: np.ndarray  # [targets, k]


@dataclass(frozen=True, eq=False)
class Trace:
    """The messages of some nodes, and the propagation steps before them."""

    mean: np.ndarray  # [nodes, c]
    var: np.ndarray  # [nodes, c]
    steps: tuple[PropagationStep, ...]


class ProbabilityIntervals(NamedTuple):
    """The class probabilities of messages, and credible intervals of them.

    Where there is an interval, ``probs`` are the means of the distribution that it belongs to.
    """

    probs: np.ndarray  # [nodes, c]
    low: np.ndarray | None  # [nodes, c], the ends of a central interval
    high: np.ndarray | None


def probability_intervals(
    rule: str, result: Result, mean: np.ndarray, var: np.ndarray, level: float
) -> ProbabilityIntervals:
    """Probabilities of a run's messages under a likelihood rule, calibrated as the run is.

    The interval is None under a rule whose probabilities are not the mean of a distribution.
    """
    rows = torch.from_numpy(mean), torch.from_numpy(var)
    width = result.constants.get("variance_width", 0.0)
    if rule not in likelihood.DISTRIBUTIONS:
        link = partial(likelihood.class_probabilities, rule=rule)
        probs = spread.mix_probabilities(Outputs(rows[0], *rows, link), slice(None), 1.0, width)
        return ProbabilityIntervals(probs.numpy(), None, None)
    factors, weights = spread.factors(width)
    distribution = likelihood.probability_distribution(
        *rows, level, rule, factors=factors, weights=weights
    )
    return ProbabilityIntervals(
        *(part.numpy() for part in (distribution.mean, distribution.low, distribution.high))
    )


def link_by_prediction(settings: Any, mean: Tensor, var: Tensor) -> Tensor:
    """Class probabilities of messages by the likelihood rule in the setting ``prediction``."""
    return likelihood.class_probabilities(mean, var, rule=settings.prediction)


def intervals_by_prediction(
    result: Result, mean: np.ndarray, var: np.ndarray, level: float
) -> ProbabilityIntervals:
    """Probabilities and intervals of messages by the run's setting ``prediction``."""
    rule = str(dict(result.spec.settings)["prediction"])
    return probability_intervals(rule, result, mean, var, level)


def softmax(outputs: np.ndarray) -> np.ndarray:
    return special.softmax(outputs, axis=-1)


class TwoLayers(NamedTuple):
    """A trained network without biases: K relu(K X W_1) W_2, or relu(X W_1) W_2 without links.

    Several members, such as those of an ensemble, average their probabilities.
    """

    first: np.ndarray  # [members, f, hidden]
    second: np.ndarray  # [members, hidden, c]
    reads_links: bool = True
    probabilities: Callable[[np.ndarray], np.ndarray] = softmax
    """From outputs [..., c] to class probabilities [..., c]."""


class Differentiable(NamedTuple):
    """A trained network of any form, after its product with the words of all nodes."""

    outputs: Callable[[Tensor], Tensor]
    """From X W [n, hidden] to outputs [n, c], of which probabilities are the softmax."""
    first: np.ndarray | None = None  # W [f, hidden]; None: the network reads X itself
    features: sparse.csr_array | None = None  # X [n, f]; None: the rows of words of every method


class StoredRequirements(NamedTuple):
    """The arrays and numbers that a stored run must contain, by name."""

    weights: Mapping[str, tuple[int, ...]]  # with their shapes
    constants: Collection[str]  # all of them, or none in runs that earlier versions stored


@dataclass(frozen=True)
class Explains:
    """What a method can explain about a node beside its class probabilities; pages read this."""

    variance: bool = False  # its messages have one
    probabilities: (
        Callable[[Result, np.ndarray, np.ndarray, float], ProbabilityIntervals] | None
    ) = None
    """From a run and messages (mean, var) [nodes, c]: probabilities, with an interval of a level
    where ``bup.methods.why_no_interval`` has no objection."""
    propagation: Callable[[Graph, Result, Inputs], Propagation] | None = None
    """Applies a run's rule to a graph, whose links may differ from those in training."""
    trace: Callable[[Result, np.ndarray, Inputs, Propagation], Trace] | None = None
    """The messages of some nodes under a run's weights, on such a graph."""
    requires: Callable[[Result, Graph], StoredRequirements] | None = None
    """The arrays and numbers that this needs of a stored run."""
    layers: Callable[[Result], TwoLayers] | None = None
    """A run's network, whose outputs are exactly a sum over the words that it reads."""
    network: Callable[[Result, Graph, Inputs], Differentiable] | None = None
    """A run's network on a graph, whose outputs are such a sum up to a remainder."""
    remainder: str = ""
    """What of a run's answer is no such sum, as text."""

    @property
    def reasons(self) -> bool:
        """Whether it tells which nodes and words speak for an answer."""
        return self.layers is not None or self.network is not None

    @property
    def intervals(self) -> bool:
        return self.probabilities is not None

    @property
    def shares(self) -> bool:
        """Whether it tells what every neighbour did to a node's variance."""
        return self.trace is not None

    @property
    def what_if(self) -> bool:
        """Whether it tells what another link would change."""
        return self.trace is not None and self.probabilities is not None


@dataclass(frozen=True)
class Method:
    """One line in the table of methods."""

    name: str
    title: str
    explanation: str  # two sentences for people
    settings: type
    fit_one: FitOne | None = None
    """Trains one seed."""
    fit_batch: FitBatch | None = None
    """Trains several seeds in less time than one after the other; one of the two is needed."""
    scores: tuple[Score, ...] = ()  # the preferred ones, and those that only it has
    explains: Explains = Explains()
    link: Callable[[Any, Tensor, Tensor], Tensor] | None = None
    """From settings and messages (mean, var) to class probabilities, if messages have variances."""
    app_defaults: Mapping[str, Value] = field(default_factory=dict)
    """Settings with which the app opens, where they differ from the defaults."""
    calibrated_defaults: Mapping[str, Value] = field(default_factory=dict)
    """Settings that its name implies when a calibrator follows it, as in ``gcn+gats``."""
    max_nodes: int | None = None  # of the largest graph that it accepts
    limit_reason: str = ""  # why it refuses larger graphs
    is_imported: bool = False  # its predictions are read from a file
    effort: float = 1.0  # work of an epoch, relative to a GCN's
    memory: float = 1.0  # numbers in memory, relative to a GCN's
    stores_node_pairs: bool = False  # it keeps numbers for every pair of nodes
    reads_whole_graph: bool = False  # an epoch computes all nodes, not only those near labels
    is_stochastic: bool = False  # predictions are averages over random draws, not a function

    @property
    def short(self) -> str:
        """The abbreviation that its title ends with, or the title."""
        return self.title.partition("(")[2].rstrip(")").partition(",")[0] or self.title

    @property
    def batches_seeds(self) -> bool:
        """Whether several seeds train in less time than one after the other."""
        return self.fit_batch is not None

    def fit(
        self,
        graph: Graph,
        splits: Sequence[Split],
        seeds: Sequence[int],
        settings: Any,
        on_epoch: OnEpoch | None,
    ) -> list[Fitted]:
        """Train a model for every split and seed."""
        if self.fit_batch is not None:
            return self.fit_batch(graph, splits, seeds, settings, on_epoch)
        assert self.fit_one is not None
        pairs = zip(splits, seeds, strict=True)
        return [self.fit_one(graph, split, seed, settings, on_epoch) for split, seed in pairs]

    @property
    def all_scores(self) -> tuple[Score, ...]:
        """Its own scores, and those that its probabilities and variances give."""
        has = [s for s in SCORES.values() if s.of_probs or (s.of_var and self.explains.variance)]
        return (*has, *(score for score in self.scores if score not in has))

    def check(self, graph: Graph) -> None:
        """Raise ``BupError`` for a graph that is too large for the method."""
        if self.max_nodes is not None and graph.num_nodes > self.max_nodes:
            raise BupError(
                f"{self.name} takes graphs of at most {self.max_nodes:,} nodes "
                f"({self.limit_reason}), got {graph.name} with {graph.num_nodes:,}: "
                "choose another method or a smaller graph"
            )


@dataclass(frozen=True)
class MethodSettings:
    """Settings of every method."""

    calibrate: str = setting(
        "none",
        "Adjust the class probabilities afterwards, on the validation nodes.",
        choices=calibrators.choices(with_variance=False),
    )

    def canonical(self) -> Self:
        """The same settings, with those that have no effect at their defaults.

        Runs that do the same then have equal settings.
        """
        return self


@dataclass(frozen=True)
class CalibratesVariance:
    """Mixed into the settings of methods whose messages have a variance."""

    calibrate: str = setting(
        "none",
        "Adjust the messages or the class probabilities afterwards, on the validation nodes.",
        choices=calibrators.choices(with_variance=True),
    )


@dataclass(frozen=True)
class ScheduleSettings(MethodSettings):
    """How long to train, and which epoch to keep."""

    epochs: int = setting(200, "Epochs at most.", low=1, high=20_000)
    patience: int = setting(50, "Epochs without improvement before stopping.", low=1, high=20_000)
    learning_rate: float = setting(0.01, "Step size of Adam.", low=1e-6, high=1)
    keep: str = setting(
        "best",
        "Which epoch's weights to keep: that of the best validation loss, or the last one.",
        choices=("best", "last"),
    )

    def schedule(self, weight_decay: float = 0.0) -> Schedule:
        return Schedule(self.epochs, self.patience, self.learning_rate, weight_decay, self.keep)
