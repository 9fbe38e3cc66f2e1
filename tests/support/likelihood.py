"""Messages to try the likelihoods on, and the integral by slow and obvious means."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from scipy.integrate import quad
from scipy.special import log_ndtr
from torch import Tensor


def messages(seed: int, nodes: int, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Means, variances and labels of ordinary size, in float64."""
    random = np.random.RandomState(seed)
    mean = torch.from_numpy(random.randn(nodes, classes))
    var = torch.from_numpy(random.uniform(0.1, 2, (nodes, classes)))
    return mean, var, torch.from_numpy(random.randint(classes, size=nodes))


def mixed_scales(seed: int, nodes: int, classes: int) -> tuple[Tensor, Tensor]:
    """Variances from 1e-6 to 1e3 within one message, in float64."""
    random = np.random.RandomState(seed)
    mean = torch.from_numpy(random.randn(nodes, classes))
    return mean, torch.from_numpy(10 ** random.uniform(-6, 3, (nodes, classes)))


def probability_by_quadrature(mean: Tensor, var: Tensor, label: int) -> float:
    """The integral by adaptive quadrature between the places where a factor starts or settles."""
    m, s = mean.numpy(), var.sqrt().numpy()
    others = np.arange(len(m)) != label
    m_k, s_k = m[others], s[others]

    def integrand(t: float) -> float:
        log_cdf = log_ndtr((m[label] + s[label] * t - m_k) / s_k).sum()
        return math.exp(log_cdf - t * t / 2) / math.sqrt(2 * math.pi)

    steps = ((m_k - m[label])[:, None] + s_k[:, None] * np.array([-8, -2, 0, 2, 8])) / s[label]
    cuts = np.unique(np.concatenate([steps.ravel().clip(-9, 9), np.linspace(-9, 9, 7)]))
    return sum(quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(cuts))


def log_by_grid(mean: Tensor, var: Tensor, label: int) -> float:
    """The log of the integral by a very fine trapezoid, which also works far out in the tails."""
    m, s = mean.double().numpy(), var.double().sqrt().numpy()
    t = np.linspace(-80, 80, 40001)
    others = np.arange(len(m)) != label
    z = (m[label] + s[label] * t - m[others, None]) / s[others, None]
    log_terms = log_ndtr(z).sum(axis=0) - t * t / 2 - 0.5 * math.log(2 * math.pi)
    return float(np.logaddexp.reduce(log_terms) + math.log(t[1] - t[0]))
