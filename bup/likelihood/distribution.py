"""How uncertain the predictive probabilities themselves are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.special import log_ndtr, ndtri

from bup.errors import BupError
from bup.likelihood import exact, normal
from bup.likelihood.checks import check_labels, check_messages
from bup.likelihood.rows import in_chunks, split_by_label
from bup.likelihood.rules import PREDICTION_POINTS, check_rule
from bup.likelihood.sampled import softmax_samples

MIXTURE_POINTS = 41
"""Equally likely factors, and places of a message, that stand for all of them."""


@dataclass(frozen=True, eq=False)
class ProbabilityDistribution:
    """The predictive probability of each class as a random quantity: its mean and an interval."""

    mean: Tensor  # [..., n, c]
    low: Tensor  # [..., n, c], the lower end of the central interval
    high: Tensor  # [..., n, c]
    level: float  # how much of the distribution lies between low and high


@torch.no_grad()
def probability_distribution(
    mean: Tensor,
    var: Tensor,
    level: float = 0.9,
    rule: str = "exact",
    *,
    width: float = 0.0,
    points: int | None = None,
    seed: int = 0,
    check: bool = True,
) -> ProbabilityDistribution:
    """How uncertain the predictive probabilities themselves are: mean and central interval.

    ``exact``: were the message of class c known to be x, class c would be predicted with
    probability P_c(x) = prod_{k != c} Phi((x - mean_k) / std_k). Since x ~ N(mean_c, var_c), P_c is
    random. Its mean is p(y = c), the very number ``class_probabilities`` gives, and since P_c grows
    with x its quantiles are P_c at the quantiles of x.

    ``sampled``: the softmax of a random message, with quantiles over Sobol points. Its mean is the
    ``sampled`` class probability, which is not the exact p(y = c): the interval would surround
    another number than the one that is predicted. This is why ``exact`` is the default.

    Either distribution can be so skewed that its mean lies outside the interval.

    ``width``: under ``exact``, all variances of a node may be off by one common factor e^(width q)
    with q ~ N(0, 1), as after the calibration ``spread``.
    """
    if not 0 < level < 1:
        raise BupError(f"level must lie between 0 and 1, got {level}: try 0.9")
    if rule not in ("exact", "sampled"):
        raise BupError(f"no probability distribution under rule {rule!r}: use exact or sampled")
    check_rule(rule, points)
    check_messages(mean, var, values=check)
    tails = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low_z, high_z = ndtri(tails).tolist()
    samples = points or PREDICTION_POINTS["sampled"]

    def from_integral(mean: Tensor, var: Tensor) -> Tensor:
        average = exact.probabilities(mean, var, points or 0)
        ends = [exact.quantile(mean, var, z) for z in (low_z, high_z)]
        return torch.cat([average, *ends], -1)

    def from_mixture(mean: Tensor, var: Tensor) -> Tensor:
        """The same over equally likely factors and places of the message: a grid of cases."""
        cells = ndtri((torch.arange(MIXTURE_POINTS, dtype=torch.float64) + 0.5) / MIXTURE_POINTS)
        wide = var.double() * (width * cells).exp()[:, None, None]  # [factors, n, c]
        rows = mean.double().expand_as(wide).flatten(0, 1), wide.flatten(0, 1)
        average = exact.probabilities(*rows, points or 0).reshape(wide.shape).mean(0)
        cases = torch.stack([exact.quantile(*rows, z) for z in cells.tolist()])
        cases = cases.reshape(-1, *mean.shape)
        return torch.cat([average, *cases.quantile(tails.to(cases), 0)], -1)

    def from_samples(mean: Tensor, var: Tensor) -> Tensor:
        draws = softmax_samples(mean, var, samples, seed)
        return torch.cat([draws.mean(0), *draws.quantile(tails.to(draws), 0)], -1)

    exactly = rule == "exact"
    function = (from_mixture if width else from_integral) if exactly else from_samples
    cost = (points or exact.USUAL_NODES) if exactly else samples
    average, low, high = in_chunks(function, mean, var, cost).chunk(3, -1)
    return ProbabilityDistribution(average, low, high, level)


@torch.no_grad()
def probability_density(mean_row: Tensor, var_row: Tensor, label: int, grid: Tensor) -> Tensor:
    """Density of P_label (see ``probability_distribution``) at the probabilities ``grid``.

    ``mean_row`` and ``var_row`` [c] belong to one node; every entry of ``grid`` lies strictly
    between 0 and 1. By change of variables the density at p = P(x) is N(x; mean, var) / P'(x), with
    P'(x) = P(x) sum_k r(z_k) / std_k and r = phi / Phi.
    """
    check_messages(mean_row[None], var_row[None])
    labels = check_labels(torch.tensor([label]), mean_row[None])
    if not ((grid > 0) & (grid < 1)).all():
        raise BupError("a density is asked for at a probability outside (0, 1): leave out the ends")
    label_mean, label_var, means, variances = split_by_label(
        mean_row[None].double(), var_row[None].double(), labels
    )
    stds, p = variances.sqrt(), grid.double()[..., None]
    log_p = p.log()
    # A product of m factors lies between their minimum and its m-th power: that encloses the x
    # where P(x) = p, and bisection does the rest.
    root = p.pow(1 / means.shape[-1]).clamp(max=1 - 2**-53)
    low = (means + stds * ndtri(p)).amax(-1, keepdim=True)
    high = (means + stds * ndtri(root)).amax(-1, keepdim=True)
    for _ in range(64):
        middle = (low + high) / 2
        below = log_ndtr((middle - means) / stds).sum(-1, keepdim=True) < log_p
        low, high = torch.where(below, middle, low), torch.where(below, high, middle)
    _, ratio = normal.log_cdf_and_ratio((high - means) / stds)
    slope = (ratio / stds).sum(-1, keepdim=True)
    log_density = -0.5 * (high - label_mean).square() / label_var - 0.5 * label_var.log()
    density = (log_density - normal.LOG_SQRT_TWO_PI - log_p).exp() / slope
    return density[..., 0].to(grid.dtype)
