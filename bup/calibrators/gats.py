"""GATS (Hsu et al. 2022): a temperature for every node, by attention to its neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bup.calibrators.base import Calibrated, Calibrator, LabelledNodes, Outputs
from bup.calibrators.nodewise import fit_factors, scale_logits
from bup.engine.layers import glorot
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import with_loops
from bup.io.lazy import Tensor, functional, torch
from bup.run.splits import Split

HEADS = 8


def fit(outputs: Outputs, held: LabelledNodes, graph: Graph, split: Split, seed: int) -> Calibrated:
    """Outputs divided by a temperature per node, found by attention to its neighbours.

    Each of eight heads reads a number off a node's outputs, sorted and scale_logits to [0, 1], and
    averages it over the closed neighbourhood, weighted by the likeness of outputs. Confidence above
    the neighbours' and nearness to the training nodes enter by learned factors (Hsu et al. 2022).
    """
    # PyTorch Geometric takes seconds to load: only who asks for attention waits for it.
    from torch_geometric.utils import softmax

    logits = outputs.logits
    generator = torch.Generator().manual_seed(seed)
    n, classes = logits.shape
    closed = with_loops(graph)
    every_end = [torch.from_numpy(ends.astype(np.int64)) for ends in closed.tocoo().coords]
    hops = np.ma.filled(graph.nearest_hops(split.train), n)
    is_train, is_near = (torch.from_numpy(hops == h)[:, None].float() for h in (0, 1))
    low, high = logits.amin(-1, keepdim=True), logits.amax(-1, keepdim=True)
    ordered = ((logits - low) / (high - low).clamp_min(1e-12)).sort(-1).values
    confidence = logits.softmax(-1).amax(-1)
    around = Csr.from_scipy(closed).matmul(confidence[:, None])
    above = confidence[:, None] - around / torch.tensor(graph.looped_degree)[:, None]
    parts = [
        glorot([generator], classes, HEADS)[0],
        torch.ones(2),  # how much training nodes and their neighbours count
        torch.zeros(1),  # how much standing out counts
        torch.ones(1),  # temperature to start from
    ]

    def factors(ends: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
        (here, there), (head, (by_train, by_near), by_confidence, start) = ends, weights
        likeness = (logits[here] * logits[there]).sum(-1, keepdim=True)
        counts = 1 + (by_train - 1) * is_train + (by_near - 1) * is_near
        message = (ordered @ head) * counts
        weight = functional.leaky_relu(likeness / (counts[here] * counts[there]), 0.2)
        weight = softmax(weight, here, num_nodes=n)
        heard = torch.zeros_like(message).index_add(0, here, weight * message[there])
        of_heads = functional.softplus(heard + by_confidence * above)
        return 1 / (of_heads.mean(-1, keepdim=True) + start).clamp_min(1e-3)

    # only nodes whose label is looked at need their temperature before the end
    seen = torch.zeros(n, dtype=torch.bool)
    seen[torch.from_numpy(np.concatenate([split.train, split.validation]))] = True
    some_ends = [ends[seen[every_end[0]]] for ends in every_end]
    loss = functional.cross_entropy
    best = fit_factors(outputs, held, graph, split, parts, lambda w, _: factors(some_ends, w), loss)
    return scale_logits(logits, factors(every_end, best))


CALIBRATOR = Calibrator(
    "gats",
    "GATS",
    "A temperature for each node, which looks at how much its neighbours agree with it and how "
    "near the training nodes are. Answers stay the same; only how sure they are changes.",
    fit,
)
