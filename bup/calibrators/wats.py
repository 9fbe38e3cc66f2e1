"""WATS (Li et al. 2025): a temperature for every node, by how heat flows around it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator
from bup.calibrators.nodewise import fit_factors, scale_logits
from bup.engine.layers import glorot
from bup.graph import Graph
from bup.graph.operators import normalised_links
from bup.io.lazy import Tensor, functional, torch

SCALE, ORDER = 2.0, 3
HIDDEN = 32


def wavelets(graph: Graph) -> np.ndarray:
    """Terms of a heat kernel applied to log degrees [n, 4]; rows sum to 1 in absolute value.

    Term k is e^(-2k) T_k(L - I) x: Chebyshev's polynomials of the Laplacian L, which reach k links
    far, and x_i = log d_i with the link to itself counted.
    """
    # L - I = -D^-1/2 A D^-1/2 but for nodes without links, whose value does not matter here.
    moved = -normalised_links(graph)
    start = np.log(graph.looped_degree.astype(np.float64))
    terms = [start, moved @ start]
    for _ in range(2, ORDER + 1):
        terms.append(2 * (moved @ terms[-1]) - terms[-2])
    rows = np.stack([np.exp(-SCALE * k) * term for k, term in enumerate(terms)], axis=1)
    return rows / np.maximum(np.abs(rows).sum(axis=1, keepdims=True), 1e-8)


def fit(data: CalibrationData) -> Calibrated:
    """Divide outputs by a temperature per node, which a small network computes from wavelets."""
    logits = data.outputs.logits
    generator = torch.Generator().manual_seed(data.seed)
    features = torch.from_numpy(wavelets(data.graph)).to(logits.dtype)
    parts = [
        glorot([generator], features.shape[1], HIDDEN)[0],
        torch.zeros(HIDDEN),
        glorot([generator], HIDDEN, 1)[0],
        torch.full((1,), float(np.log(math.e - 1))),  # initial temperature 1
    ]

    def factors(weights: Sequence[Tensor], _: torch.Generator | None) -> Tensor:
        first, bias, second, start = weights
        temperature = functional.softplus((features @ first + bias).relu() @ second + start)
        return 1 / temperature.clamp_min(1e-3)

    best = fit_factors(data, parts, factors, functional.cross_entropy)
    return scale_logits(logits, factors(best, None))


CALIBRATOR = Calibrator(
    "wats",
    "WATS",
    "A temperature for each node, which looks at the shape of the links around it and at nothing "
    "else. Answers stay the same; only how sure they are changes.",
    fit,
)
