"""GATS (Hsu et al. 2022): a temperature for every node, by attention to its neighbours."""

from collections.abc import Sequence

import numpy as np

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator
from bup.calibrators.nodewise import fit_factors, scale_logits
from bup.engine.layers import glorot
from bup.engine.sparse import Csr
from bup.graph.operators import with_loops
from bup.io.lazy import Tensor, functional, torch

HEADS = 8


def fit(data: CalibrationData) -> Calibrated:
    """Outputs divided by a temperature per node, found by attention to its neighbours.

    Each of eight heads reads a number off a node's outputs, sorted and scaled to [0, 1], and
    averages it over the closed neighbourhood, weighted by the likeness of outputs. Confidence above
    the neighbours' and nearness to the training nodes enter by learned factors (Hsu et al. 2022).
    """
    # PyTorch Geometric takes seconds to load: it is imported for this calibrator only.
    from torch_geometric.utils import softmax

    logits, graph, split = data.outputs.logits, data.graph, data.split
    generator = torch.Generator().manual_seed(data.seed)
    n, classes = logits.shape
    closed = with_loops(graph)
    all_ends = [torch.from_numpy(ends.astype(np.int64)) for ends in closed.tocoo().coords]
    hops = np.ma.filled(graph.nearest_hops(split.train), n)
    is_train, is_near = (torch.from_numpy(hops == h)[:, None].float() for h in (0, 1))
    low, high = logits.amin(-1, keepdim=True), logits.amax(-1, keepdim=True)
    ordered = ((logits - low) / (high - low).clamp_min(1e-12)).sort(-1).values
    confidence = logits.softmax(-1).amax(-1)
    around = Csr.from_scipy(closed).matmul(confidence[:, None])
    above = confidence[:, None] - around / torch.tensor(graph.looped_degree)[:, None]
    parts = [
        glorot([generator], classes, HEADS)[0],
        torch.ones(2),  # weights of training nodes and of their neighbours
        torch.zeros(1),  # weight of a confidence above the neighbours'
        torch.ones(1),  # initial temperature
    ]

    def factors(ends: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
        (here, there), (head, (by_train, by_near), by_confidence, start) = ends, weights
        likeness = (logits[here] * logits[there]).sum(-1, keepdim=True)
        counts = 1 + (by_train - 1) * is_train + (by_near - 1) * is_near
        message = (ordered @ head) * counts
        weight = functional.leaky_relu(likeness / (counts[here] * counts[there]), 0.2)
        weight = softmax(weight, here, num_nodes=n)
        aggregated = torch.zeros_like(message).index_add(0, here, weight * message[there])
        of_heads = functional.softplus(aggregated + by_confidence * above)
        return 1 / (of_heads.mean(-1, keepdim=True) + start).clamp_min(1e-3)

    # during fitting, only labelled nodes need their temperature
    is_labelled = torch.zeros(n, dtype=torch.bool)
    is_labelled[torch.from_numpy(np.concatenate([split.train, split.validation]))] = True
    labelled_ends = [ends[is_labelled[all_ends[0]]] for ends in all_ends]
    loss = functional.cross_entropy
    best = fit_factors(data, parts, lambda w, _: factors(labelled_ends, w), loss)
    return scale_logits(logits, factors(all_ends, best))


CALIBRATOR = Calibrator(
    "gats",
    "GATS",
    "A temperature for each node, which looks at how much its neighbours agree with it and how "
    "near the training nodes are. Answers stay the same; only how sure they are changes.",
    fit,
)
