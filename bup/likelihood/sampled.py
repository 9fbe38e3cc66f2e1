"""The softmax of a random message, averaged: another model of the label, for comparison."""

import math

from torch import Tensor
from torch.special import ndtri

from bup.likelihood.sobol import sobol_points


def log_likelihood(mean: Tensor, var: Tensor, labels: Tensor, points: int, seed: int) -> Tensor:
    """log of the mean, over samples of the message, of softmax(message)[c]."""
    log_p = _message_samples(mean, var, points, seed).log_softmax(-1)
    log_p = log_p.gather(-1, labels.expand(points, -1)[..., None])[..., 0]
    return log_p.logsumexp(0) - math.log(points)


def softmax_samples(mean: Tensor, var: Tensor, points: int, seed: int) -> Tensor:
    return _message_samples(mean, var, points, seed).softmax(-1)


def _message_samples(mean: Tensor, var: Tensor, points: int, seed: int) -> Tensor:
    """Samples [points, n, c], reparameterised; all nodes share the underlying normal points."""
    normal = ndtri(sobol_points(points, mean.shape[-1], seed)).to(mean)
    return mean + var.sqrt() * normal[:, None]
