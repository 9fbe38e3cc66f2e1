"""Quasi Monte Carlo over all gaps at once."""

import math

import torch
from torch import Tensor
from torch.special import ndtri

from bup.likelihood import normal
from bup.likelihood.rows import split_by_label
from bup.likelihood.sobol import sobol_points


def gap_cholesky(variances: Tensor, label_var: Tensor) -> tuple[Tensor, Tensor]:
    """The Cholesky factor of the covariance of the gaps theta_k - theta_c, Eq. (7) of the paper.

        gap_cov = diag(var_k) + var_c, k != c: var_k + var_c on the diagonal, var_c everywhere else

    It is known in closed form. With total_j = 1 + var_c sum_{i <= j} 1 / var_i, its diagonal is
    sqrt(var_j total_j / total_{j-1}), and below the diagonal column j is constant,
    var_c / sqrt(var_j total_j total_{j-1}). Returns both [n, c - 1].
    """
    total = 1 + label_var * variances.reciprocal().cumsum(-1)
    before = torch.cat([torch.ones_like(label_var), total[:, :-1]], -1)
    return (variances * total / before).sqrt(), label_var * (variances * total * before).rsqrt()


def log_likelihood(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log P(gap < 0) for gap ~ N(gap_mean, gap_cov), one gap after the other (Genz 1992)."""
    label_mean, label_var, means, variances = split_by_label(mean.double(), var.double(), labels)
    gap_mean = means - label_mean
    diagonal, below = gap_cholesky(variances, label_var)
    gaps = gap_mean.shape[-1]
    uniform = sobol_points(points, gaps - 1, seed).to(mean.device)
    drift = log_lik = torch.zeros(len(mean), points, dtype=torch.float64, device=mean.device)
    for j in range(gaps):
        bound = (-gap_mean[:, j, None] - drift) / diagonal[:, j, None]
        log_lik = log_lik + normal.LogCdf.apply(bound)
        if j < gaps - 1:
            # the clamp keeps ndtri and its derivative finite where the bound has underflowed
            quantile = ndtri((uniform[:, j] * normal.cdf(bound)).clamp(1e-290, 1 - 1e-15))
            drift = drift + below[:, j, None] * quantile
    return log_lik.logsumexp(-1) - math.log(points)
