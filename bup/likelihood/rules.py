"""The ways to turn messages into probabilities, by name."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from bup.errors import BupError
from bup.likelihood import erf, exact, genz, sampled
from bup.likelihood.checks import check_labels, check_messages
from bup.likelihood.names import RULES
from bup.likelihood.rows import in_chunks

TRAINING_POINTS = {"exact": 32, "genz": 1024, "sampled": 64}
"""Quadrature nodes, Sobol points and samples when ``log_likelihood`` is given no ``points``."""

PREDICTION_POINTS = {"genz": 1024, "sampled": 1024}
"""The same for predictions; the exact rule then counts for itself how many nodes it needs."""
_LOG_LIKELIHOODS: dict[str, Callable[[Tensor, Tensor, Tensor, int, int], Tensor]] = {
    "erf": erf.log_likelihood,
    "exact": exact.log_likelihood,
    "genz": genz.log_likelihood,
    "sampled": sampled.log_likelihood,
}


def log_likelihood(
    mean: Tensor,
    var: Tensor,
    labels: Tensor,
    rule: str = "erf",
    *,
    points: int | None = None,
    seed: int = 0,
    check: bool = True,
) -> Tensor:
    """log p(y = label) [..., n] of messages ``mean``, ``var`` [..., n, c]; differentiable.

    ``labels`` is [n], shared by all leading dimensions, or [..., n]. ``points`` is the number of
    quadrature nodes (exact), Sobol points (genz) or samples (sampled); ``seed`` scrambles the
    points of the last two. ``check=False`` skips looking at the values, for a training loop.
    """
    check_rule(rule, points)
    check_messages(mean, var, values=check)
    labels = check_labels(labels, mean, values=check)
    classes = mean.shape[-1]
    flat = mean.reshape(-1, classes), var.reshape(-1, classes), labels.reshape(-1)
    log_lik = _LOG_LIKELIHOODS[rule](*flat, points or TRAINING_POINTS.get(rule, 0), seed)
    return log_lik.to(mean.dtype).reshape(mean.shape[:-1])


@torch.no_grad()
def class_probabilities(
    mean: Tensor,
    var: Tensor,
    rule: str = "exact",
    *,
    points: int | None = None,
    seed: int = 0,
    check: bool = True,
) -> Tensor:
    """Eq. (2) of the paper for every class [..., n, c]: the message is integrated out.

        p(y = c) = integral of p(y = c | theta) N(theta; mean, diag(var)) d theta

    p(y = c | theta) is one where theta_c is the largest and zero elsewhere; under ``sampled`` it is
    softmax(theta)_c. Rows sum to one. Options as in ``log_likelihood``.
    """
    check_rule(rule, points)
    check_messages(mean, var, values=check)
    classes = mean.shape[-1]
    points = points or PREDICTION_POINTS.get(rule, 0)

    def genz_probabilities(mean: Tensor, var: Tensor) -> Tensor:
        labels = torch.arange(classes, device=mean.device).repeat(len(mean))
        rows = mean.repeat_interleave(classes, 0), var.repeat_interleave(classes, 0)
        return genz.log_likelihood(*rows, labels, points, seed).view(-1, classes).softmax(-1)

    by_rule: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], int]] = {
        "erf": (erf.probabilities, classes),
        "exact": (partial(exact.probabilities, points=points), points or exact.USUAL_NODES),
        "genz": (genz_probabilities, classes * points),
        "sampled": (lambda m, v: sampled.softmax_samples(m, v, points, seed).mean(0), points),
    }
    probabilities, cost = by_rule[rule]
    return in_chunks(probabilities, mean, var, cost)


def check_rule(rule: str, points: int | None) -> None:
    if rule not in RULES:
        raise BupError(f"unknown likelihood rule {rule!r}: use one of {', '.join(RULES)}")
    if points is not None and points < 1:
        raise BupError(f"points must be at least 1, got {points}")
