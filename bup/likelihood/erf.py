"""The paper's shortcut: the product of the probabilities to beat each other class."""

import torch
from torch import Tensor

from bup.likelihood import normal
from bup.likelihood.rows import split_by_label


def log_likelihood(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log L of Eq. (9) of the paper, which skips what the gaps share; no points, no seed.

    log L ~ sum_{k != c} log 1/2 [1 + erf((mean_c - mean_k) / sqrt(2 (var_k + var_c)))]
          = sum_{k != c} log Phi((mean_c - mean_k) / sqrt(var_k + var_c))
    """
    label_mean, label_var, means, variances = split_by_label(mean.double(), var.double(), labels)
    return normal.LogCdf.apply((label_mean - means) * (label_var + variances).rsqrt()).sum(-1)


def probabilities(mean: Tensor, var: Tensor) -> Tensor:
    """The same for every label [n, c], normalised; nothing here needs a gradient.

    Each pair of classes is looked at once: what one wins, the other loses. Classes come first, so
    that a pair is a contiguous row.
    """
    mean, var = mean.double().T.contiguous(), var.double().T.contiguous()
    classes = len(mean)
    one, other = torch.triu_indices(classes, classes, offset=1, device=mean.device)
    z = (mean[one] - mean[other]) * (var[one] + var[other]).rsqrt()
    behind = -z.abs()
    cdf = normal.cdf(behind)
    wins, loses = (-cdf).log1p_(), normal.log_of_cdf(cdf, behind)
    ahead = z > 0
    log_p = torch.zeros_like(mean)
    log_p.index_add_(0, one, torch.where(ahead, wins, loses))
    log_p.index_add_(0, other, torch.where(ahead, loses, wins))
    return log_p.softmax(0).T
