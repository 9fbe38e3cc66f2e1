"""How uncertain the predictive probabilities themselves are."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.special import log_ndtr, ndtri

from bup.errors import BupError
from bup.likelihood import exact, normal
from bup.likelihood.checks import check_labels, check_messages
from bup.likelihood.names import DISTRIBUTIONS
from bup.likelihood.rows import in_chunks, split_by_label
from bup.likelihood.rules import PREDICTION_POINTS, check_rule
from bup.likelihood.sampled import softmax_samples

CASES = 201
"""Equally likely places of a message that stand for all of them, where variances are mixed."""


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
    factors: Sequence[float] = (1.0,),
    weights: Sequence[float] = (1.0,),
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
    ``sampled`` class probability. The other rules are no mean of a distribution: they are refused.

    Either distribution can be so skewed that its mean lies outside the interval.

    ``factors`` and their ``weights``: all variances of a node are multiplied by one of these, with
    this probability, as after the calibration ``spread``. Mean and interval are those of the
    mixture.
    """
    if not 0 < level < 1:
        raise BupError(f"level must lie between 0 and 1, got {level}: try 0.9")
    if rule not in DISTRIBUTIONS:
        raise BupError(
            f"no probability distribution under rule {rule!r}: use {' or '.join(DISTRIBUTIONS)}"
        )
    check_rule(rule, points)
    check_messages(mean, var, values=check)
    tails = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    scale = torch.tensor(factors, dtype=torch.float64)[:, None, None]
    weight = torch.tensor(weights, dtype=torch.float64)
    samples = points or PREDICTION_POINTS["sampled"]
    whole = rule == "exact" and len(factors) == 1  # quantiles of the message are all it takes
    places = ndtri(tails if whole else (torch.arange(CASES, dtype=torch.float64) + 0.5) / CASES)

    def summarise(mean: Tensor, var: Tensor) -> Tensor:
        wide = scale * var.double()  # [factors, n, c]
        means, variances = mean.double().expand_as(wide).flatten(0, 1), wide.flatten(0, 1)
        if rule == "exact":
            each = exact.probabilities(means, variances, points or 0)
            cases = torch.stack([exact.quantile(means, variances, z) for z in places.tolist()])
        else:
            # In the precision of the predictions: the mean is the same to the last digit.
            cases = softmax_samples(means.to(mean.dtype), variances.to(var.dtype), samples, seed)
            each = cases.mean(0)
        cases = cases.unflatten(1, wide.shape[:2]).flatten(0, 1)  # [cases x factors, n, c]
        average = (each.reshape(wide.shape) * weight.to(each)[:, None, None]).sum(0)
        if whole:
            return torch.cat([average, *cases], -1)
        weights_of_cases = weight.repeat(len(cases) // len(weight))
        return torch.cat([average, *_quantiles(cases, weights_of_cases, tails)], -1)

    cases = len(factors) * (samples if rule == "sampled" else len(places))
    cost = max(cases, len(factors) * (points or exact.USUAL_NODES))
    average, low, high = in_chunks(summarise, mean, var, cost).chunk(3, -1)
    return ProbabilityDistribution(average, low, high, level)


def _quantiles(cases: Tensor, weights: Tensor, levels: Tensor) -> Tensor:
    """Quantiles [levels, ...] of cases [m, ...] with weights [m], linear between two cases."""
    cases, order = cases.sort(0)
    weights = weights.to(cases)[order]
    below = (weights.cumsum(0) - weights / 2) / weights.sum(0)
    found = []
    for level in levels.tolist():
        upper = (below < level).sum(0, keepdim=True).clamp(1, len(cases) - 1)
        low, high = below.gather(0, upper - 1), below.gather(0, upper)
        share = ((level - low) / (high - low)).clamp(0, 1)
        found.append(torch.lerp(cases.gather(0, upper - 1), cases.gather(0, upper), share)[0])
    return torch.stack(found)


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
