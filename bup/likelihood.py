"""How likely a node's Gaussian message makes each class.

A message is N(mean, diag(var)) over the classes, and the label is the class whose message is the
largest. So p(y = c) is the probability that all gaps theta_k - theta_c are negative. The gaps share
theta_c, and that is all they share: given theta_c they are independent, which leaves one integral,

    p(y = c) = integral of phi(t) prod_{k != c} Phi((mean_c + std_c t - mean_k) / std_k) dt.

``log_likelihood`` is what training maximises; ``class_probabilities`` and
``probability_distribution`` are what predictions are made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.special import erfcx, log_ndtr, ndtri

from bup.errors import BupError

RULES = {
    "erf": (
        "The paper's shortcut: the product, over the other classes, of the probability to beat "
        "each one. Fast; a lower bound that does not sum to one."
    ),
    "exact": "The one-dimensional integral, by quadrature: sums to one and is good to many digits.",
    "genz": (
        "The paper's quasi Monte Carlo over all gaps at once (Genz 1992): slow, good to about "
        "three digits, an independent check on the integral."
    ),
    "sampled": (
        "The usual softmax of a message drawn from its Gaussian, averaged over draws: a different "
        "model of the label, for comparison."
    ),
}
"""The ways to turn messages into probabilities, and what to know about each."""

TRAINING_POINTS = {"exact": 32, "genz": 1024, "sampled": 64}
"""Quadrature nodes, Sobol points and samples when ``log_likelihood`` is given no ``points``."""

PREDICTION_POINTS = {"genz": 1024, "sampled": 1024}
"""The same for predictions; the exact rule then counts for itself how many nodes it needs."""

NODES_PER_WIDTH = 1.8
"""How finely exact predictions resolve the sharpest class: to 1e-9 for some twenty classes, still
to 1e-5 for thousands."""

_LOG_SQRT_TWO_PI = 0.5 * math.log(2 * math.pi)
_PHI_AT_ZERO = math.exp(-_LOG_SQRT_TWO_PI)
_CHUNK = 2**17  # numbers in flight at once: bounds the memory, and about what a cache holds
_USUAL_NODES = 128  # roughly what exact predictions take per row
_PREDICTION_REACH = 7.5  # standard deviations; Phi(-7.5) = 3e-14
_UNDERFLOW = -25.0  # further left Phi loses digits: Phi(-37) = 6e-300
_GENTLE = 2.0  # times the label's std: a class at least half as wide needs no finer steps
_SETTLED = 5.5  # standard deviations above which Phi is flat: 1 - Phi(5.5) = 2e-8


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
    _check_rule(rule, points)
    _check_messages(mean, var, values=check)
    labels = _check_labels(labels, mean, values=check)
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
    """p(y = c) [..., n, c] for every class; rows sum to one. Options as in ``log_likelihood``."""
    _check_rule(rule, points)
    _check_messages(mean, var, values=check)
    classes = mean.shape[-1]
    points = points or PREDICTION_POINTS.get(rule, 0)
    if rule == "exact":
        return _in_chunks(
            lambda m, v: _exact_probabilities(m, v, points), mean, var, points or _USUAL_NODES
        )
    if rule == "sampled":
        return _in_chunks(
            lambda m, v: _softmax_samples(m, v, points, seed).mean(0), mean, var, points
        )

    if rule == "erf":
        return _in_chunks(_erf_probabilities, mean, var, classes)

    def every_label(mean: Tensor, var: Tensor) -> Tensor:
        labels = torch.arange(classes, device=mean.device).repeat(len(mean))
        rows = mean.repeat_interleave(classes, 0), var.repeat_interleave(classes, 0)
        log_lik = _LOG_LIKELIHOODS[rule](*rows, labels, points, seed)
        return log_lik.view(-1, classes).softmax(-1)

    return _in_chunks(every_label, mean, var, classes * max(points, 1))


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
    """
    if not 0 < level < 1:
        raise BupError(f"level must lie between 0 and 1, got {level}: try 0.9")
    if rule not in ("exact", "sampled"):
        raise BupError(f"no probability distribution under rule {rule!r}: use exact or sampled")
    _check_rule(rule, points)
    _check_messages(mean, var, values=check)
    tails = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low_z, high_z = ndtri(tails).tolist()
    samples = points or PREDICTION_POINTS["sampled"]

    def exact(mean: Tensor, var: Tensor) -> Tensor:
        average = _exact_probabilities(mean, var, points or 0)
        ends = [_exact_quantile(mean, var, z) for z in (low_z, high_z)]
        return torch.cat([average, *ends], -1)

    def sampled(mean: Tensor, var: Tensor) -> Tensor:
        draws = _softmax_samples(mean, var, samples, seed)
        return torch.cat([draws.mean(0), *draws.quantile(tails.to(draws), 0)], -1)

    function, cost = (exact, points or _USUAL_NODES) if rule == "exact" else (sampled, samples)
    average, low, high = _in_chunks(function, mean, var, cost).chunk(3, -1)
    return ProbabilityDistribution(average, low, high, level)


@torch.no_grad()
def probability_density(mean_row: Tensor, var_row: Tensor, label: int, grid: Tensor) -> Tensor:
    """Density of P_label (see ``probability_distribution``) at the probabilities ``grid``.

    ``mean_row`` and ``var_row`` [c] belong to one node; every entry of ``grid`` lies strictly
    between 0 and 1. By change of variables the density at p = P(x) is N(x; mean, var) / P'(x), with
    P'(x) = P(x) sum_k r(z_k) / std_k and r = phi / Phi.
    """
    _check_messages(mean_row[None], var_row[None])
    labels = _check_labels(torch.tensor([label]), mean_row[None])
    if not ((grid > 0) & (grid < 1)).all():
        raise BupError("a density is asked for at a probability outside (0, 1): leave out the ends")
    label_mean, label_var, means, variances = _split(
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
    _, ratio = _log_cdf_and_ratio((high - means) / stds)
    slope = (ratio / stds).sum(-1, keepdim=True)
    log_density = -0.5 * (high - label_mean).square() / label_var - 0.5 * label_var.log()
    density = (log_density - _LOG_SQRT_TWO_PI - log_p).exp() / slope
    return density[..., 0].to(grid.dtype)


def _erf(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """sum_{k != c} log Phi((mean_c - mean_k) / sqrt(var_c + var_k)), the paper's approximation."""
    label_mean, label_var, means, variances = _split(mean.double(), var.double(), labels)
    return _LogCdf.apply((label_mean - means) * (label_var + variances).rsqrt()).sum(-1)


def _erf_probabilities(mean: Tensor, var: Tensor) -> Tensor:
    """The same for every label [n, c], normalised; nothing here needs a gradient.

    Each pair of classes is looked at once: what one wins, the other loses. Classes come first, so
    that a pair is a contiguous row.
    """
    mean, var = mean.double().T.contiguous(), var.double().T.contiguous()
    classes = len(mean)
    one, other = torch.triu_indices(classes, classes, offset=1, device=mean.device)
    z = (mean[one] - mean[other]) * (var[one] + var[other]).rsqrt()
    behind = -z.abs()
    cdf = _cdf(behind)
    wins, loses = (-cdf).log1p_(), _log_of_cdf(cdf, behind)
    ahead = z > 0
    log_p = torch.zeros_like(mean)
    log_p.index_add_(0, one, torch.where(ahead, wins, loses))
    log_p.index_add_(0, other, torch.where(ahead, loses, wins))
    return log_p.softmax(0).T


def _exact(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    return _LogIntegral.apply(mean, var, labels, points)


class _LogIntegral(torch.autograd.Function):
    """log of the integral of phi(t) prod_k Phi(z_k) with z_k = offset_k + slope_k t.

    offset_k = (mean_c - mean_k) / std_k and slope_k = std_c / std_k. With r = phi / Phi, and E the
    average over t weighted by the integrand, d log p / d offset_k = E[r(z_k)] and
    d log p / d slope_k = E[r(z_k) t]: both come from the numbers that the integral needs anyway, so
    the gradient is made on the way forward.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, var: Tensor, labels: Tensor, points: int) -> Tensor:
        label, others = _columns(labels, mean.shape[-1])
        mean64, var64 = mean.double(), var.double()
        label_mean, label_var = mean64.gather(-1, label), var64.gather(-1, label)
        # narrower than this is a step between two neighbouring floats, and p no longer changes
        stds = torch.maximum(var64.gather(-1, others), 1e-16 * label_var).sqrt()
        label_std = label_var.sqrt()
        offset, slope = (label_mean - mean64.gather(-1, others)) / stds, label_std / stds
        rows = max(1, _CHUNK // (offset.shape[-1] * points))
        chunks = zip(offset.split(rows), slope.split(rows), strict=True)
        logs, moments = zip(*(_log_integral(a, b, points) for a, b in chunks), strict=True)
        by_mean, by_std = (torch.cat(moments) / stds[..., None]).unbind(-1)
        of_mean, of_var = torch.empty_like(mean64), torch.empty_like(mean64)
        of_mean.scatter_(-1, others, -by_mean)
        of_mean.scatter_(-1, label, by_mean.sum(-1, keepdim=True))
        of_var.scatter_(-1, others, (by_mean * offset + by_std * slope) / (-2 * stds))
        of_var.scatter_(-1, label, by_std.sum(-1, keepdim=True) / (2 * label_std))
        ctx.save_for_backward(of_mean.to(mean.dtype), of_var.to(var.dtype))
        return torch.cat(logs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        of_mean, of_var = ctx.saved_tensors
        grad = grad[:, None].to(of_mean.dtype)
        return grad * of_mean, grad * of_var, None, None


def _log_integral(offset: Tensor, slope: Tensor, points: int) -> tuple[Tensor, Tensor]:
    """The log integral [n] of ``_LogIntegral`` and the moments E[r(z_k)], E[r(z_k) t] [n, k, 2]."""
    t, log_step = _integrand_nodes(offset, slope, points)
    z = torch.addcmul(offset[..., None], slope[..., None], t[:, None])  # [n, k, points]
    log_cdf, ratio = _many_log_cdfs_and_ratios(z)
    log_terms = log_cdf.sum(1).add_(log_step).addcmul_(t, t, value=-0.5)
    top = log_terms.amax(-1, keepdim=True)
    terms = log_terms.sub_(top).exp_()
    total = terms.sum(-1, keepdim=True)
    weight = terms / total
    weights = torch.stack([weight, weight * t], 1)
    moments = ratio @ weights.mT
    # By parts, sum_k slope_k E[r_k] = E[t] and sum_k slope_k E[r_k t] = E[t^2] - 1. The right-hand
    # sides stay accurate where a step is too sharp for the nodes: they put its gradient right.
    slope = slope[..., None]
    by_parts = (weights * t[:, None]).sum(-1)[:, None] - t.new_tensor([0.0, 1.0])
    share = slope * moments[..., :1]
    missing = by_parts - (slope * moments).sum(1, keepdim=True)
    moments += share * missing / (1 + (slope * share).sum(1, keepdim=True))
    return (total.log_() + top)[:, 0] - _LOG_SQRT_TWO_PI, moments


def _integrand_nodes(offset: Tensor, slope: Tensor, points: int) -> tuple[Tensor, Tensor]:
    """Nodes [n, points], and the log of their steps, for phi(t) prod_k Phi(offset_k + slope_k t).

    The log integrand f is concave, and its derivative convex. Newton's method therefore goes to
    the mode from the left, and to the two places where f is ``drop`` below its top from the
    outside, without ever stepping over them: however early it stops, nothing is cut off.
    """
    drop = min(36.0, 6.0 + points / 4)

    def log_integrand(t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        z = torch.addcmul(offset, slope, t)
        log_cdf, ratio = _log_cdf_and_ratio(z)
        value = log_cdf.sum(-1, keepdim=True) - 0.5 * t * t
        return value, (slope * ratio).sum(-1, keepdim=True) - t, z, ratio

    # r(z) > -z puts the mode to the right of where one factor's Gaussian tail alone would have it
    square = slope * slope
    left = (-offset * slope / (1 + square)).amax(-1, keepdim=True).clamp(min=0)
    _, first, z, ratio = log_integrand(left)
    # r (z + r) lies in (0, 1); far left it is the difference of two large numbers
    bend = (square * (ratio * (z + ratio)).clamp(0, 1)).sum(-1, keepdim=True)
    mode = left + first / (1 + bend)
    # f'' <= -1 bounds the mode from above, and f on both sides of it: where no class is sharp,
    # equal steps between those bounds do
    around, slack = math.sqrt(2 * drop), left + first - mode
    step = (slack + 2 * around) / points
    equal = mode - around + step * _midpoints(points, step), step.log()
    gentle = (square.amax(-1, keepdim=True) <= _GENTLE**2) & (slack <= around)
    if gentle.all():
        return equal
    top, first, _, _ = log_integrand(mode)

    # Two bounds on each end: f'' <= -1, and both log phi(x) and log Phi(-x) stay below -x^2 / 2
    reach = (2 * (drop - top)).sqrt()
    spread = (first.square() + 2 * drop).sqrt() + first
    low = torch.maximum(
        mode - 2 * drop / spread, ((-reach - offset) / slope).amax(-1, keepdim=True)
    )
    ends = torch.stack([low, torch.minimum(mode + spread, reach)])
    value, first, _, _ = log_integrand(ends)
    low, high = ends + (top - drop - value) / first

    settled = math.sqrt(2 * drop) - 2
    z = offset + slope * low
    rising = z < settled
    finest = torch.where(rising, 1 / slope, 1.0).amin(-1, keepdim=True)
    # a step out in the tail of phi, where there is nothing to cut off, need not be resolved
    finest = torch.maximum(finest, (0.5 * low * low + top - drop).exp()).clamp(max=1)
    stretch = settled - torch.where(rising, z, 0.0).amin(-1, keepdim=True).clamp(max=0)
    stretched = _stretched_nodes(low, high, finest * stretch, points)
    # row by row, so that a row's result does not depend on its company
    return torch.where(gentle, equal[0], stretched[0]), torch.where(gentle, equal[1], stretched[1])


def _stretched_nodes(low: Tensor, high: Tensor, unit: Tensor, points: int) -> tuple[Tensor, Tensor]:
    """Midpoints x = low + unit (e^v - 1), equal steps in v, from low to high; log of dx at each.

    A class k that is still rising at distance d from ``low``, where it was at most q standard
    deviations below its mean, is at least d / (q + settled) wide. So steps in proportion to
    the distance resolve steps and slopes of every width at once. An integrand that vanishes at both
    ends makes the midpoint rule converge exponentially.
    """
    span = torch.log1p((high - low) / unit)
    v = span * (_midpoints(points, low) / points)
    return low + unit * v.expm1(), v + (unit * span / points).log()


def _midpoints(points: int, like: Tensor) -> Tensor:
    return torch.arange(points, dtype=like.dtype, device=like.device) + 0.5


def _exact_probabilities(mean: Tensor, var: Tensor, points: int) -> Tensor:
    return (raw := _unnormalised_probabilities(mean, var, points)) / raw.sum(-1, keepdim=True)


def _unnormalised_probabilities(mean: Tensor, var: Tensor, points: int = 0) -> Tensor:
    """p(y = c) = integral of N(x; mean_c, var_c) prod_{k != c} Phi_k(x) dx [n, c].

    All classes share their nodes, and so their Phi_k: below ``low`` some message is all but surely
    larger than x. ``points`` = 0 takes as many nodes as the widest spread of scales asks for.
    """
    mean, std = mean.double(), var.double().sqrt()
    # measured from the class that sets ``low``, so that its width is not lost in its mean
    mean = mean - mean.gather(-1, (mean - _PREDICTION_REACH * std).argmax(-1, keepdim=True))
    low = (mean - _PREDICTION_REACH * std).amax(-1, keepdim=True)
    high = (mean + _PREDICTION_REACH * std).amax(-1, keepdim=True)
    finest = torch.where(low - mean < _SETTLED * std, std, math.inf).amin(-1, keepdim=True)
    stretch = _PREDICTION_REACH + _SETTLED
    unit = finest * stretch
    if not points and len(mean):
        span = torch.log1p((high - low) / unit).amax().item()
        # the largest of many equal messages is that much sharper than each of them
        sharper = math.sqrt(1 + 2 * math.log(mean.shape[-1]))
        points = math.ceil(NODES_PER_WIDTH * sharper * stretch * span)
    x, log_step = _stretched_nodes(low, high, unit, points)
    z = (x[:, None] - mean[..., None]) / std[..., None]  # [n, c, points], all >= -reach
    cdf = _cdf(z)
    largest = (cdf.prod(1) * log_step.exp())[:, None]
    density = (-0.5 * z * z - _LOG_SQRT_TWO_PI).exp()
    return (largest * density / cdf).sum(-1) / std


def _exact_quantile(mean: Tensor, var: Tensor, z: float) -> Tensor:
    """P_c(mean_c + std_c z) [n, c]."""
    mean, std = mean.double(), var.double().sqrt()
    x = mean + std * z
    log_cdf = log_ndtr((x[:, :, None] - mean[:, None]) / std[:, None])
    log_cdf.diagonal(dim1=1, dim2=2).zero_()
    return log_cdf.sum(-1).exp()


def _cdf(z: Tensor) -> Tensor:
    """Phi(z) with all its digits on the left, where torch.special.ndtr, as 1 + erf, loses them."""
    return torch.erfc(z * -math.sqrt(0.5)).mul_(0.5)


def _log_cdf_and_ratio(z: Tensor) -> tuple[Tensor, Tensor]:
    """log Phi(z) and r(z) = phi(z) / Phi(z) of float64 z, safe at any distance from zero.

    erfcx(x) = exp(x^2) erfc(x) neither vanishes on the left nor, up to the clamp, overflows on the
    right; at the clamp both are zero to working precision.
    """
    z = z.clamp(max=8.5)
    scaled = erfcx(z * -math.sqrt(0.5))
    return (0.5 * scaled).log() - 0.5 * z * z, math.sqrt(2 / math.pi) / scaled


def _many_log_cdfs_and_ratios(z: Tensor) -> tuple[Tensor, Tensor]:
    """The same for many z, in half the time: plain erfc wherever nothing underflows.

    In place, for temporaries of this size cost as much again.
    """
    cdf = _cdf(z)
    ratio = (z * z).mul_(-0.5).exp_().div_(cdf).mul_(_PHI_AT_ZERO)
    log_cdf = cdf.log_()
    if z.numel() and z.amin() < _UNDERFLOW:
        far = z < _UNDERFLOW
        log_cdf[far], ratio[far] = _log_cdf_and_ratio(z[far])
    return log_cdf, ratio


def _log_of_cdf(cdf: Tensor, z: Tensor) -> Tensor:
    """log Phi(z) alone, in place of ``cdf`` = Phi(z)."""
    log_cdf = cdf.log_()
    if z.numel() and z.amin() < _UNDERFLOW:
        far = z < _UNDERFLOW
        log_cdf[far] = _log_cdf_and_ratio(z[far])[0]
    return log_cdf


class _LogCdf(torch.autograd.Function):
    """log Phi(z) with a derivative that holds at any distance; that of log_ndtr fails far left."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        log_cdf, ratio = _log_cdf_and_ratio(z)
        ctx.save_for_backward(ratio)
        return log_cdf

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * ctx.saved_tensors[0]


def _genz(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log P(gap < 0) for gap ~ N(gap_mean, gap_cov), one gap after the other (Genz 1992).

    gap_cov = diag(var_k) + var_c has a Cholesky factor in closed form. With
    total_j = 1 + var_c sum_{i <= j} 1 / var_i, its diagonal is sqrt(var_j total_j / total_{j-1}),
    and below the diagonal column j is constant, var_c / sqrt(var_j total_j total_{j-1}).
    """
    label_mean, label_var, means, variances = _split(mean.double(), var.double(), labels)
    gap_mean = means - label_mean
    total = 1 + label_var * variances.reciprocal().cumsum(-1)
    before = torch.cat([torch.ones_like(label_var), total[:, :-1]], -1)
    diagonal = (variances * total / before).sqrt()
    below = label_var * (variances * total * before).rsqrt()
    gaps = gap_mean.shape[-1]
    uniform = _sobol(points, gaps - 1, seed).to(mean.device)
    drift = log_lik = torch.zeros(len(mean), points, dtype=torch.float64, device=mean.device)
    for j in range(gaps):
        bound = (-gap_mean[:, j, None] - drift) / diagonal[:, j, None]
        log_lik = log_lik + _LogCdf.apply(bound)
        if j < gaps - 1:
            # the clamp keeps ndtri and its derivative finite where the bound has underflowed
            quantile = ndtri((uniform[:, j] * _cdf(bound)).clamp(1e-290, 1 - 1e-15))
            drift = drift + below[:, j, None] * quantile
    return log_lik.logsumexp(-1) - math.log(points)


def _sampled(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log of the mean, over samples of the message, of softmax(message)[c]."""
    log_p = _message_samples(mean, var, points, seed).log_softmax(-1)
    log_p = log_p.gather(-1, labels.expand(points, -1)[..., None])[..., 0]
    return log_p.logsumexp(0) - math.log(points)


def _softmax_samples(mean: Tensor, var: Tensor, points: int, seed: int) -> Tensor:
    return _message_samples(mean, var, points, seed).softmax(-1)


def _message_samples(mean: Tensor, var: Tensor, points: int, seed: int) -> Tensor:
    """Samples [points, n, c], reparameterised; all nodes share the underlying normal points."""
    normal = ndtri(_sobol(points, mean.shape[-1], seed)).to(mean)
    return mean + var.sqrt() * normal[:, None]


@lru_cache(maxsize=16)
def _sobol(points: int, dimensions: int, seed: int) -> Tensor:
    """Scrambled Sobol points [points, dimensions] strictly inside (0, 1)."""
    engine = torch.quasirandom.SobolEngine(max(dimensions, 1), scramble=True, seed=seed)
    # the engine's points are multiples of 2^-30 and include 0: take the middle of each cell
    return engine.draw(points, dtype=torch.float64) + 2.0**-31


_LOG_LIKELIHOODS: dict[str, Callable[[Tensor, Tensor, Tensor, int, int], Tensor]] = {
    "erf": _erf,
    "exact": _exact,
    "genz": _genz,
    "sampled": _sampled,
}


def _split(mean: Tensor, var: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean and variance [n, 1] of each row's label, then those [n, c - 1] of the other classes."""
    label, others = _columns(labels, mean.shape[-1])
    return (
        mean.gather(-1, label),
        var.gather(-1, label),
        mean.gather(-1, others),
        var.gather(-1, others),
    )


def _columns(labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Each row's label [n, 1] and its other classes [n, c - 1]."""
    label = labels[:, None]
    others = torch.arange(classes - 1, device=labels.device)
    return label, others + (others >= label)


def _in_chunks(
    function: Callable[[Tensor, Tensor], Tensor], mean: Tensor, var: Tensor, cost: int
) -> Tensor:
    """``function`` over the rows of [..., c], a few at a time; ``cost``: numbers held per entry."""
    classes = mean.shape[-1]
    rows = max(1, _CHUNK // (classes * cost))
    pairs = zip(
        mean.reshape(-1, classes).split(rows), var.reshape(-1, classes).split(rows), strict=True
    )
    parts = torch.cat([function(m, v).to(mean.dtype) for m, v in pairs])
    return parts.reshape(*mean.shape[:-1], parts.shape[-1])


def _check_rule(rule: str, points: int | None) -> None:
    if rule not in RULES:
        raise BupError(f"unknown likelihood rule {rule!r}: use one of {', '.join(RULES)}")
    if points is not None and points < 1:
        raise BupError(f"points must be at least 1, got {points}")


def _check_messages(mean: Tensor, var: Tensor, values: bool = True) -> None:
    if mean.shape != var.shape or mean.ndim < 2 or not mean.is_floating_point():
        raise BupError(
            "mean and var must be floating-point tables [..., nodes, classes] of one shape, got "
            f"{mean.dtype} {list(mean.shape)} and {var.dtype} {list(var.shape)}"
        )
    if mean.shape[-1] < 2:
        raise BupError(f"a label needs at least 2 classes to choose from, got {mean.shape[-1]}")
    if not values:
        return
    for name, tensor in (("mean", mean), ("var", var)):
        if not (finite := tensor.isfinite()).all():
            raise BupError(f"{name} must be finite, got {tensor[~finite][0].item()}")
    if not (positive := var > 0).all():
        raise BupError(f"every variance must be positive, got {var[~positive][0].item()}")


def _check_labels(labels: Tensor, mean: Tensor, values: bool = True) -> Tensor:
    """The labels, repeated over the leading dimensions they do not have."""
    nodes, classes = mean.shape[:-1], mean.shape[-1]
    if labels.ndim < 1 or labels.shape != nodes[-labels.ndim :] or labels.is_floating_point():
        raise BupError(
            f"labels must be one whole number per node, shape {list(nodes)}, got "
            f"{labels.dtype} {list(labels.shape)}"
        )
    if values and labels.numel() and not ((labels >= 0) & (labels < classes)).all():
        raise BupError(
            f"labels must be between 0 and {classes - 1}, got {labels.min()} to {labels.max()}"
        )
    return labels.long().expand(nodes)
