"""Bayesian uncertainty propagation: a message per node with a mean and a variance of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from bup import likelihood
from bup.calibration import CALIBRATORS, Held, fit_scale
from bup.graph import Graph
from bup.methods import gcn
from bup.methods.base import Fitted, Method, NetworkSettings, fit_network
from bup.propagation import RULES, SMALLEST_LAM, evidence_variance, paper_factor
from bup.scores import MESSAGE
from bup.settings import setting
from bup.splits import Split
from bup.training import (
    Field,
    Inputs,
    OnEpoch,
    Parameters,
    Task,
    Trained,
    glorot,
    per_seed_product,
    per_seed_rows,
)

SMALLEST_VARIANCE = 1e-6


@dataclass(frozen=True)
class Settings(NetworkSettings):
    # Chosen by ``bup reproduce sweep``, on validation nodes only.
    dropout: float = setting(0.8, "Share of inputs dropped in training.", low=0, high=0.95)
    weight_decay: float = setting(0.01, "Pull of first-layer weights to zero.", low=0, high=1)
    propagation: str = setting("paper", "How variance travels along links.", choices=RULES)
    lam: float = setting(
        1.0,
        "Strength of the paper's rule: the larger, the weaker the correlation between neighbours.",
        low=SMALLEST_LAM,
        high=1000,
    )
    evidence_weight: float = setting(
        1.0, "How much a neighbour counts under evidence propagation.", low=0, high=1000
    )
    evidence_noise: float = setting(
        1.0, "How far linked messages may differ under evidence propagation.", low=1e-6, high=1e6
    )
    loss: str = setting("erf", "Likelihood that training maximises.", choices=likelihood.RULES)
    prediction: str = setting(
        "erf", "How class probabilities come out of messages.", choices=likelihood.RULES
    )
    calibrate: str = setting(
        "none",
        "Adjust the class probabilities afterwards, on the validation nodes; 'variance' fits one "
        "factor on all variances.",
        choices=("none", "variance", *CALIBRATORS),
    )


class Layer(NamedTuple):
    """One propagation step: the variances before and after conditioning on the neighbours."""

    before: Tensor
    after: Tensor


class Messages(NamedTuple):
    mean: Tensor  # [targets, c]
    var: Tensor  # [targets, c]
    layers: tuple[Layer, Layer]


def initial_parameters(
    words: int, classes: int, s: Settings, generators: Sequence[torch.Generator]
) -> Parameters:
    return gcn.initial_parameters(words, s.hidden, classes, generators) | {
        "var_1": glorot(generators, words, s.hidden),
        "var_bias": torch.zeros(len(generators), s.hidden),
        "var_2": torch.zeros(len(generators), s.hidden, classes),
    }


def messages(
    p: Parameters,
    field: Field,
    s: Settings,
    factor: Tensor,
    generators: Sequence[torch.Generator] | None = None,
) -> Messages:
    r"""The messages of a field's targets; ``generators`` switch dropout on.

    mean = K relu(K X W_1) W_2
    var_0 = softplus(X V_1 + b), then two propagation steps, then var = cond_var softmax(V_2)

    No weight on a variance is negative, so more variance below is never less above; and each
    class's variance is a weighted mean of the hidden ones, because a free scale would let training
    shrink all variances instead of learning them. ``factor`` [n] is the paper's rule.
    """
    mean = gcn.gcn_output(p, field, s.dropout, generators)

    local = s.propagation in ("paper", "none")  # a node's variance needs no other node's
    rows, nodes = (field.target_words, field.targets) if local else (field.outer_words, field.outer)
    words = gcn.words_product(rows, p["var_1"], s.dropout, generators)
    before_1 = softplus(words + per_seed_rows(p["var_bias"], [len(n) for n in nodes]))
    if s.propagation == "paper":
        here = factor[field.target_nodes, None]
        after_1 = before_2 = before_1 * here
        after_2 = before_2 * here
    elif s.propagation == "none":
        after_1 = before_2 = after_2 = before_1
    elif s.propagation == "gcn":
        after_1 = before_2 = field.kernel_1.matmul(before_1)
        after_2 = field.kernel_2.matmul(before_2)
    else:
        strength = s.evidence_weight, s.evidence_noise
        own = before_1[field.inner_in_outer]
        after_1 = before_2 = evidence_variance(own, before_1, field.links_1, *strength)
        own = before_2[field.targets_in_inner]
        after_2 = evidence_variance(own, before_2, field.links_2, *strength)
    targets = [len(n) for n in field.targets]
    var = per_seed_product(after_2, targets, p["var_2"].softmax(dim=1)) + SMALLEST_VARIANCE
    return Messages(mean, var, (Layer(before_1, after_1), Layer(before_2, after_2)))


def log_probability(mean: Tensor, var: Tensor, labels: Tensor, rule: str) -> Tensor:
    """Log of the normalised probability of the label."""
    if rule == "erf":
        probs = likelihood.class_probabilities(mean, var, rule=rule)
        return probs.gather(-1, labels[..., None]).squeeze(-1).clamp_min(1e-30).log()
    return likelihood.log_likelihood(mean, var, labels, rule=rule, check=False)


class _Network:
    decayed: tuple[str, ...] = ("mean_1", "var_1")

    def __init__(self, task: Task, s: Settings, parameters: Parameters, factor: Tensor) -> None:
        self.task, self.s, self.parameters, self.factor = task, s, parameters, factor

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        m = messages(self.parameters, self.task.train, self.s, self.factor, generators)
        labels = self.task.train_labels
        log_lik = likelihood.log_likelihood(m.mean, m.var, labels, rule=self.s.loss, check=False)
        return self.task.seed_means(-log_lik)

    def validation(self) -> tuple[Tensor, Tensor]:
        m = messages(self.parameters, self.task.validation, self.s, self.factor)
        labels = self.task.validation_labels
        nll = -log_probability(m.mean, m.var, labels, self.s.prediction)
        return self.task.seed_means(nll), self.task.seed_means(m.mean.argmax(-1) == labels)


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: Settings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    factor = torch.from_numpy(paper_factor(graph, s.lam)).float()

    def make(task: Task, generators: Sequence[torch.Generator]) -> _Network:
        p = initial_parameters(graph.num_features, task.classes, s, generators)
        return _Network(task, s, p, factor)

    def finish(trained: Trained, everything: Field, split: Split, seed: int) -> Fitted:
        mean, var, _ = messages(trained.parameters, everything, s, factor)
        figures = {}
        if s.calibrate == "variance":
            held = Held.of(graph, split)

            def nll(scale: float) -> float:
                held_var = scale * var[held.nodes]
                log_lik = log_probability(mean[held.nodes], held_var, held.labels, s.prediction)
                return -log_lik.mean().item()

            figures["variance_scale"] = fit_scale(nll)
            var = figures["variance_scale"] * var
        probs = likelihood.class_probabilities(mean, var, rule=s.prediction)
        return Fitted.of(trained, probs, mean, var, figures)

    return fit_network(graph, splits, seeds, s.schedule(), on_epoch, make, finish)


def trace(graph: Graph, weights: Mapping[str, np.ndarray], s: Settings) -> Messages:
    """All nodes' messages under trained weights, every propagation step included.

    The graph may be another than the one trained on (a link added or removed), with the same words
    and classes. The variances are those before ``calibrate``.
    """
    parameters = {name: torch.from_numpy(array)[None] for name, array in weights.items()}
    factor = torch.from_numpy(paper_factor(graph, s.lam)).float()
    with torch.no_grad():
        return messages(parameters, Inputs.of(graph).everything(), s, factor)


METHOD = Method(
    name="bup",
    title="Bayesian uncertainty propagation (BUP)",
    explanation="Each node's message is a Gaussian: a mean, passed on as in a GCN, and a variance "
    "that links reduce. The probability of a class is the chance that its message is the largest, "
    "so a doubtful message cannot give a confident answer.",
    settings=Settings,
    fit=fit,
    scores=MESSAGE,
)
