"""The likelihood as one integral over the label's own message, by quadrature."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.special import log_ndtr

from bup.likelihood import normal
from bup.likelihood.rows import columns_by_label, rows_at_once

NODES_PER_WIDTH = 1.8
"""How finely exact predictions resolve the sharpest class: to 1e-9 for some twenty classes, still
to 1e-5 for thousands."""
USUAL_NODES = 128  # roughly what exact predictions take per row
_PREDICTION_REACH = 7.5  # standard deviations; Phi(-7.5) = 3e-14
_SETTLED = 5.5  # standard deviations above which Phi is flat: 1 - Phi(5.5) = 2e-8
_GENTLE = 2.0  # times the label's std: a class at least half as wide needs no finer steps


def log_likelihood(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log L of Eq. (8) of the paper: L = p(y = c), an integral over the negative orthant.

        L = integral_{-inf}^0 N(gap; gap_mean, gap_cov) d gap,  gap_k = theta_k - theta_c, k != c
          = integral of phi(t) prod_{k != c} Phi((mean_c + std_c t - mean_k) / std_k) dt

    The second line, with t the label's own message in standard deviations, is what is computed:
    given theta_c the gaps are independent. ``seed`` is not used.
    """
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
        label, others = columns_by_label(labels, mean.shape[-1])
        mean64, var64 = mean.double(), var.double()
        label_mean, label_var = mean64.gather(-1, label), var64.gather(-1, label)
        # narrower than this is a step between two neighbouring floats, and p no longer changes
        stds = torch.maximum(var64.gather(-1, others), 1e-16 * label_var).sqrt()
        label_std = label_var.sqrt()
        offset, slope = (label_mean - mean64.gather(-1, others)) / stds, label_std / stds
        rows = rows_at_once(offset.shape[-1] * points)
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
    log_cdf, ratio = normal.many_log_cdfs_and_ratios(z)
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
    return (total.log_() + top)[:, 0] - normal.LOG_SQRT_TWO_PI, moments


def _integrand_nodes(offset: Tensor, slope: Tensor, points: int) -> tuple[Tensor, Tensor]:
    """Nodes [n, points], and the log of their steps, for phi(t) prod_k Phi(offset_k + slope_k t).

    The log integrand f is concave, and its derivative convex. Newton's method therefore goes to
    the mode from the left, and to the two places where f is ``drop`` below its top from the
    outside, without ever stepping over them: however early it stops, nothing is cut off.
    """
    drop = min(36.0, 6.0 + points / 4)

    def log_integrand(t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        z = torch.addcmul(offset, slope, t)
        log_cdf, ratio = normal.log_cdf_and_ratio(z)
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


def probabilities(mean: Tensor, var: Tensor, points: int) -> Tensor:
    return (raw := unnormalised_probabilities(mean, var, points)) / raw.sum(-1, keepdim=True)


def unnormalised_probabilities(mean: Tensor, var: Tensor, points: int = 0) -> Tensor:
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
    cdf = normal.cdf(z)
    largest = (cdf.prod(1) * log_step.exp())[:, None]
    density = (-0.5 * z * z - normal.LOG_SQRT_TWO_PI).exp()
    return (largest * density / cdf).sum(-1) / std


def quantile(mean: Tensor, var: Tensor, z: float) -> Tensor:
    """P_c(mean_c + std_c z) [n, c]."""
    mean, std = mean.double(), var.double().sqrt()
    x = mean + std * z
    log_cdf = log_ndtr((x[:, :, None] - mean[:, None]) / std[:, None])
    log_cdf.diagonal(dim1=1, dim2=2).zero_()
    return log_cdf.sum(-1).exp()
