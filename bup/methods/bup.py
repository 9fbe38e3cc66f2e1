"""Bayesian uncertainty propagation: a message per node with a mean and a variance of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bup import calibrators, likelihood
from bup.calibrators.base import label_nll
from bup.engine.layers import glorot, per_seed_product, per_seed_rows
from bup.engine.loop import Parameters, Trained
from bup.engine.receptive_field import Inputs, ReceptiveField
from bup.graph import Graph
from bup.io.lazy import Tensor, functional, torch
from bup.methods import gcn
from bup.methods.base import (
    Explains,
    Fitted,
    Method,
    PropagationStep,
    StoredRequirements,
    Trace,
    intervals_by_prediction,
    link_by_prediction,
)
from bup.methods.network import BatchNetwork, NetworkSettings
from bup.propagation import RULES, Propagation, Rule
from bup.run.settings import make_settings, setting
from bup.run.splits import Split
from bup.scores.messages import MESSAGE_ENTROPY, MESSAGE_STD

if TYPE_CHECKING:
    from bup.results.result import Result

SMALLEST_VARIANCE = 1e-6

LAYERS = {
    "simple": "One map from words to variances below, a weighted mean of them above, nothing "
    "between the propagation steps.",
    "paper": "As published: a map and an activation after every propagation step.",
}


@dataclass(frozen=True)
class BupModelSettings(NetworkSettings):
    # Chosen by ``bup reproduce sweep``, on validation nodes only.
    dropout: float = setting(0.8, "Share of inputs dropped in training.", low=0, high=0.95)
    weight_decay: float = setting(0.01, "Pull of first-layer weights to zero.", low=0, high=1)
    propagation: str = setting(
        "paper", "How variance travels along links.", choices=RULES, prominent=True
    )
    layers: str = setting(
        "simple",
        "How variances pass from layer to layer: as published, with a map and an "
        "activation in each, or with none between the steps.",
        choices=LAYERS,
    )
    # Chosen by ``bup reproduce choices``, on validation nodes with fresh seeds.
    calibrate: str = setting(
        "spread",
        "Adjust the messages or the class probabilities afterwards, on the validation nodes.",
        choices=calibrators.choices(with_variance=True),
    )
    loss: str = setting("erf", "Likelihood that training maximises.", choices=likelihood.RULES)
    # Not the loss: the probabilities that are shown have an interval, and must be its mean. What
    # that costs was measured by ``bup reproduce choices``.
    prediction: str = setting(
        "exact", "How class probabilities come out of messages.", choices=likelihood.RULES
    )

    @property
    def rule(self) -> Rule:
        return RULES[self.propagation]

    def canonical(self) -> Self:
        """The settings of another rule than the chosen one change nothing."""
        used = {f.name for kind in (BupModelSettings, self.rule.settings) for f in fields(kind)}
        unused: dict[str, Any] = {f.name: f.default for f in fields(self) if f.name not in used}
        return dataclasses.replace(self, **unused)


# Fields come in the reverse order of the bases: the method's own first, then rule by rule.
_OF_RULES = dict.fromkeys(rule.settings for rule in reversed(RULES.values()))
BupSettings: Any = dataclasses.make_dataclass(
    "BupSettings", (), bases=(*_OF_RULES, BupModelSettings), frozen=True
)
"""The method's own settings and those of every rule."""


class Messages(NamedTuple):
    mean: Tensor  # [targets, c]
    var: Tensor  # [targets, c]
    steps: tuple[tuple[Tensor, Tensor], ...]  # variances before and after each layer's step


def initial_parameters(
    words: int, classes: int, s: BupModelSettings, generators: Sequence[torch.Generator]
) -> Parameters:
    p = gcn.initial_parameters(words, s.hidden, classes, generators) | {
        "var_1": glorot(generators, words, s.hidden),
        "var_bias": torch.zeros(len(generators), s.hidden),
    }
    if s.layers == "paper":
        return p | {
            "var_hidden": glorot(generators, s.hidden, s.hidden),
            "var_2": glorot(generators, s.hidden, classes),
        }
    return p | {"var_2": torch.zeros(len(generators), s.hidden, classes)}


def messages(
    p: Parameters,
    field: ReceptiveField,
    s: BupModelSettings,
    propagation: Propagation,
    generators: Sequence[torch.Generator] | None = None,
) -> Messages:
    r"""The Gaussian messages of a field's targets, Eq. (3): N(mean, diag(var)).

    mean = K relu(K X W_1) W_2
    var_0 = softplus(X V_1 + b), then a propagation step in each of the two layers

    Between and after the steps, ``layers=paper`` maps variances by ``next_variance``. ``simple``
    passes them on as they are, and ends in var = cond_var softmax(V_2): no weight on a variance is
    negative, so more variance below is never less above; and each class's variance is a weighted
    mean of the hidden ones, because a free scale would let training shrink all variances instead of
    learning them. ``generators`` switch dropout on.
    """
    mean = gcn.gcn_output(p, field, s.dropout, generators)
    reads = s.rule.reads_neighbours
    hops, rows = (field.hops, field.outer_words) if reads else (field.self_hops, field.target_words)
    words = gcn.words_product(rows, p["var_1"], s.dropout, generators)
    bias = per_seed_rows(p["var_bias"], [len(n) for n in hops[0].sources])
    before = functional.softplus(words + bias)
    steps = []
    for layer, (hop, weights) in enumerate(zip(hops, ("var_hidden", "var_2"), strict=True), 1):
        acts = layer in s.rule.layers
        after = propagation.step(before, hop) if acts else hop.at_targets(before)
        steps.append((before, after))
        counts = [len(n) for n in hop.targets]
        before = next_variance(after, counts, p[weights]) if s.layers == "paper" else after
    if s.layers == "simple":
        before = per_seed_product(before, counts, p["var_2"].softmax(dim=1))
    return Messages(mean, before + SMALLEST_VARIANCE, tuple(steps))


def next_variance(cond_var: Tensor, counts: Sequence[int], weights: Tensor) -> Tensor:
    r"""From layer to layer, Eq. (6): var'(i) = a(var(i | N(i)) W_var).

    The activation is softplus, because a variance is positive; the weights may have any sign.
    """
    return functional.softplus(per_seed_product(cond_var, counts, weights))


def log_probability(mean: Tensor, var: Tensor, labels: Tensor, rule: str) -> Tensor:
    """Log of the normalised probability of the label."""
    if rule == "erf":
        return -label_nll(likelihood.class_probabilities(mean, var, rule=rule), labels)
    return likelihood.log_likelihood(mean, var, labels, rule=rule, check=False)


class BupNetwork(BatchNetwork):
    decayed = ("mean_1", "var_1")

    def __init__(
        self,
        graph: Graph,
        splits: Sequence[Split],
        s: BupModelSettings,
        generators: Sequence[torch.Generator],
    ) -> None:
        super().__init__(graph, splits, s, generators)
        self.propagation = s.rule.propagation(graph, s)

    def initial_parameters(self, generators: Sequence[torch.Generator]) -> Parameters:
        return initial_parameters(self.graph.num_features, self.classes, self.s, generators)

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        m = messages(self.parameters, self.train_field, self.s, self.propagation, generators)
        log_lik = likelihood.log_likelihood(
            m.mean, m.var, self.train_labels, rule=self.s.loss, check=False
        )
        return self.seed_means(-log_lik)

    def validation(self) -> tuple[Tensor, Tensor]:
        m = messages(self.parameters, self.validation_field, self.s, self.propagation)
        labels = self.validation_labels
        nll = -log_probability(m.mean, m.var, labels, self.s.loss)
        return self.seed_means(nll), self.seed_means(m.mean.argmax(-1) == labels)

    def predict(self, trained: Trained, split: Split, seed: int) -> Fitted:
        p, rule = trained.parameters, self.propagation
        m = messages(p, self.everything, self.s, rule)
        trained_rule = rule.after_training(split, *_predictions(self.s, m), {})
        if trained_rule is not rule:
            m = messages(p, self.everything, self.s, trained_rule)
        probs = link_by_prediction(self.s, m.mean, m.var)
        return Fitted.of(trained, probs, m.mean, m.var, trained_rule.constants)


def settings_of(result: Result) -> Any:
    return make_settings(BupSettings, dict(result.spec.settings), result.spec.method)


def propagation_of(graph: Graph, result: Result, inputs: Inputs) -> Propagation:
    """A run's rule at work on a graph."""
    s = settings_of(result)
    before = s.rule.propagation(graph, s)
    with torch.no_grad():
        first = messages(_parameters(result), inputs.everything(), s, before)
    return before.after_training(result.split, *_predictions(s, first), result.constants)


def _predictions(s: BupModelSettings, m: Messages) -> tuple[np.ndarray, np.ndarray]:
    """Means of messages, and the class probabilities by the rule that they were trained with."""
    probs = likelihood.class_probabilities(m.mean, m.var, rule=s.loss)
    return m.mean.numpy(), probs.numpy()


def _parameters(result: Result) -> Parameters:
    return {name: torch.from_numpy(array)[None] for name, array in result.weights.items()}


def requirements(result: Result, graph: Graph) -> StoredRequirements:
    """What messages of a run are computed from."""
    s = settings_of(result)
    words, hidden, classes = graph.num_features, s.hidden, len(result.split.classes)
    # Those of ``initial_parameters``, without torch and without drawing any.
    shapes: dict[str, tuple[int, ...]] = {
        "mean_1": (words, hidden),
        "mean_2": (hidden, classes),
        "var_1": (words, hidden),
        "var_bias": (hidden,),
        "var_2": (hidden, classes),
    }
    if s.layers == "paper":
        shapes["var_hidden"] = (hidden, hidden)
    return StoredRequirements(shapes, s.rule.constants)


def trace(result: Result, nodes: np.ndarray, inputs: Inputs, propagation: Propagation) -> Trace:
    """The messages of some nodes under a run's weights, every propagation step included."""
    s = settings_of(result)
    whole = len(nodes) == inputs.words.shape[0]
    field = inputs.everything() if whole else inputs.field([nodes])
    with torch.no_grad():
        m = messages(_parameters(result), field, s, propagation)
    hops = field.hops if s.rule.reads_neighbours else field.self_hops
    steps = tuple(
        PropagationStep(hop.sources[0], before.numpy(), hop.targets[0], after.numpy())
        for layer, (hop, (before, after)) in enumerate(zip(hops, m.steps, strict=True), 1)
        if layer in s.rule.layers
    )
    factor = result.constants.get("variance_factor", 1.0)
    return Trace(m.mean.numpy(), (factor * m.var).numpy(), steps)


METHOD = Method(
    name="bup",
    title="Bayesian uncertainty propagation (BUP)",
    explanation="Each node's message is a Gaussian: a mean, passed on as in a GCN, and a variance "
    "that links reduce. The probability of a class is the chance that its message is the largest, "
    "so a doubtful message cannot give a confident answer.",
    settings=BupSettings,
    effort=2.5,
    fit_batch=BupNetwork.fit_batch,
    scores=(MESSAGE_STD, MESSAGE_ENTROPY),
    explains=Explains(
        True, intervals_by_prediction, propagation_of, trace, requirements, gcn.layers
    ),
    link=link_by_prediction,
    app_defaults={"propagation": "doubt"},
)
