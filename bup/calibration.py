"""Calibration after training: outputs are adjusted on the validation nodes, weights stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn.functional import cross_entropy, leaky_relu, softplus

from bup.graph import Graph
from bup.layers import dropout_factors, glorot
from bup.operators import gcn_kernel, with_loops
from bup.sparse import Csr
from bup.splits import Split

CAGCN_HIDDEN = 16
CAGCN_DROPOUT = 0.5
CAGCN_MARGIN = 0.5
GATS_HEADS = 8
MOST_STEPS, PATIENCE = 2000, 100  # of the calibrators that are networks


@dataclass(frozen=True, eq=False)
class Held:
    """The nodes that a calibration may look at, and their output columns."""

    nodes: Tensor
    labels: Tensor

    @classmethod
    def of(cls, graph: Graph, split: Split) -> Held:
        labels = split.targets(graph.labels[split.validation])
        return cls(torch.from_numpy(split.validation), torch.from_numpy(labels))


@dataclass(frozen=True)
class Calibrator:
    """One line in the table of calibrators.

    ``fit`` takes the graph, the outputs [n, c] whose softmax are the probabilities, the split and a
    seed, and returns the new outputs and the constants that it fitted.
    """

    name: str
    title: str
    explanation: str
    fit: Callable[[Graph, Tensor, Split, int], tuple[Tensor, dict[str, float]]]


def fit_scale(nll: Callable[[float], float]) -> float:
    """The positive number that minimises ``nll``, searched on a logarithmic scale."""
    found = minimize_scalar(
        lambda log_scale: nll(float(np.exp(log_scale))), bounds=(-7, 7), method="bounded"
    )
    return float(np.exp(found.x))


Calibrated = tuple[Tensor, dict[str, float]]


def temperature(graph: Graph, logits: Tensor, split: Split, seed: int) -> Calibrated:
    """Outputs divided by one number T, the same for all nodes (Guo et al. 2017)."""
    held = Held.of(graph, split)
    t = fit_scale(lambda t: cross_entropy(logits[held.nodes] / t, held.labels).item())
    return logits / t, {"temperature": t}


def cagcn(graph: Graph, logits: Tensor, split: Split, seed: int) -> Calibrated:
    """Outputs times a positive factor per node, which a small GCN reads off the outputs.

    t = log(1.1 + exp(K relu(K Z W_1 + b_1) W_2 + b_2)) of outputs Z (Wang et al. 2021). Beside the
    cross-entropy, right answers are pushed up and wrong ones down, away from the runner-up.
    """
    kernel = Csr.from_scipy(gcn_kernel(graph))
    generator = torch.Generator().manual_seed(seed)
    layers = [
        glorot([generator], logits.shape[1], CAGCN_HIDDEN)[0],
        torch.zeros(CAGCN_HIDDEN),
        glorot([generator], CAGCN_HIDDEN, 1)[0],
        torch.zeros(1),
    ]

    def factors(weights: Sequence[Tensor], generator: torch.Generator | None) -> Tensor:
        w_1, b_1, w_2, b_2 = weights
        hidden = (kernel.matmul(logits @ w_1) + b_1).relu()
        if generator is not None:
            kept = dropout_factors(CAGCN_DROPOUT, [hidden.numel()], [generator])
            hidden = hidden * kept.view_as(hidden)
        return (1.1 + (kernel.matmul(hidden @ w_2) + b_2).exp()).log()

    def loss(scaled: Tensor, labels: Tensor) -> Tensor:
        first, second = scaled.softmax(-1).topk(2).values.unbind(-1)
        right = scaled.argmax(-1) == labels
        gap = torch.where(right, 1 - first + second, first - second)
        return cross_entropy(scaled, labels) + CAGCN_MARGIN * gap.mean()

    best = _fit_factors(graph, logits, split, layers, factors, loss, generator)
    return _report(logits, factors(best, None))


def gats(graph: Graph, logits: Tensor, split: Split, seed: int) -> Calibrated:
    """Outputs divided by a temperature per node, found by attention to its neighbours.

    Each of eight heads reads a number off a node's outputs, sorted and scaled to [0, 1], and
    averages it over the closed neighbourhood, weighted by the likeness of outputs. Confidence above
    the neighbours' and nearness to the training nodes enter by learned factors (Hsu et al. 2022).
    """
    # PyTorch Geometric takes seconds to load: only who asks for attention waits for it.
    from torch_geometric.utils import softmax

    generator = torch.Generator().manual_seed(seed)
    n, classes = logits.shape
    closed = with_loops(graph)
    every_end = [torch.from_numpy(ends.astype(np.int64)) for ends in closed.tocoo().coords]
    hops = np.ma.filled(graph.nearest_hops(split.train), n)
    is_train, is_near = (torch.from_numpy(hops == h)[:, None].float() for h in (0, 1))
    low, high = logits.amin(-1, keepdim=True), logits.amax(-1, keepdim=True)
    scaled = ((logits - low) / (high - low).clamp_min(1e-12)).sort(-1).values
    confidence = logits.softmax(-1).amax(-1)
    around = Csr.from_scipy(closed).matmul(confidence[:, None])
    above = confidence[:, None] - around / torch.tensor(graph.degree)[:, None]
    parts = [
        glorot([generator], classes, GATS_HEADS)[0],
        torch.ones(2),  # how much training nodes and their neighbours count
        torch.zeros(1),  # how much standing out counts
        torch.ones(1),  # temperature to start from
    ]

    def factors(ends: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
        (here, there), (head, (by_train, by_near), by_confidence, start) = ends, weights
        likeness = (logits[here] * logits[there]).sum(-1, keepdim=True)
        counts = 1 + (by_train - 1) * is_train + (by_near - 1) * is_near
        message = (scaled @ head) * counts
        weight = leaky_relu(likeness / (counts[here] * counts[there]), 0.2)
        weight = softmax(weight, here, num_nodes=n)
        heard = torch.zeros_like(message).index_add(0, here, weight * message[there])
        temperature = softplus(heard + by_confidence * above).mean(-1, keepdim=True) + start
        return 1 / temperature.clamp_min(1e-3)

    # only nodes whose label is looked at need their temperature before the end
    seen = torch.zeros(n, dtype=torch.bool)
    seen[torch.from_numpy(np.concatenate([split.train, split.validation]))] = True
    some_ends = [ends[seen[every_end[0]]] for ends in every_end]
    best = _fit_factors(
        graph, logits, split, parts, lambda weights, _: factors(some_ends, weights), cross_entropy
    )
    return _report(logits, factors(every_end, best))


Factors = Callable[[Sequence[Tensor], torch.Generator | None], Tensor]


def _fit_factors(
    graph: Graph,
    logits: Tensor,
    split: Split,
    weights: list[Tensor],
    factors: Factors,
    loss: Callable[[Tensor, Tensor], Tensor],
    generator: torch.Generator | None = None,
) -> list[Tensor]:
    """The best weights: learned on the validation nodes, stopped by the training nodes."""
    held = Held.of(graph, split)
    stop = torch.from_numpy(split.train)
    stop_labels = torch.from_numpy(split.targets(graph.labels[split.train]))
    for tensor in weights:
        tensor.requires_grad_(True)
    optimiser = torch.optim.Adam(weights, lr=0.01, weight_decay=5e-3)
    best, best_loss, waited = weights, math.inf, 0
    for _ in range(MOST_STEPS):
        optimiser.zero_grad()
        scaled = logits * factors(weights, generator)
        loss(scaled[held.nodes], held.labels).backward()
        optimiser.step()
        with torch.no_grad():
            value = loss((logits * factors(weights, None))[stop], stop_labels).item()
        waited += 1
        if value < best_loss:
            best, best_loss, waited = [w.detach().clone() for w in weights], value, 0
        if waited >= PATIENCE:
            break
    return best


def _report(logits: Tensor, factors: Tensor) -> Calibrated:
    return logits * factors, {"mean_temperature": (1 / factors).mean().item()}


CALIBRATORS = {
    c.name: c
    for c in (
        Calibrator(
            "temperature",
            "Temperature scaling",
            "Divides all outputs by one number, fitted to the validation nodes. Answers stay the "
            "same; only how sure they are changes.",
            temperature,
        ),
        Calibrator(
            "cagcn",
            "CaGCN",
            "A small graph network reads the outputs around a node and stretches or shrinks the "
            "node's own by one factor. Answers stay the same; neighbours become alike in how sure "
            "they are.",
            cagcn,
        ),
        Calibrator(
            "gats",
            "GATS",
            "A temperature for each node, which looks at how much its neighbours agree with it and "
            "how near the training nodes are. Answers stay the same; only how sure they are "
            "changes.",
            gats,
        ),
    )
}
