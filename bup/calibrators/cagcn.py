"""CaGCN (Wang et al. 2021): a small graph network computes a factor for every node."""

from __future__ import annotations

from collections.abc import Sequence

from bup.calibrators.base import Calibrated, CalibrationData, Calibrator
from bup.calibrators.nodewise import fit_factors, scale_logits
from bup.engine.layers import dropout_factors, glorot
from bup.engine.sparse import Csr
from bup.graph.operators import gcn_kernel
from bup.io.lazy import Tensor, functional, torch

HIDDEN = 16
DROPOUT = 0.5
MARGIN = 0.5
MOST_STRETCH = 80.0  # its exponential is finite in single precision


def fit(data: CalibrationData) -> Calibrated:
    """Multiply outputs by a positive factor per node, which a small GCN computes from them.

    t = log(1.1 + exp(K relu(K Z W_1 + b_1) W_2 + b_2)) of outputs Z (Wang et al. 2021). Beside the
    cross-entropy, right answers are pushed up and wrong ones down, away from the runner-up.
    """
    logits = data.outputs.logits
    kernel = Csr.from_scipy(gcn_kernel(data.graph))
    generator = torch.Generator().manual_seed(data.seed)
    layers = [
        glorot([generator], logits.shape[1], HIDDEN)[0],
        torch.zeros(HIDDEN),
        glorot([generator], HIDDEN, 1)[0],
        torch.zeros(1),
    ]

    def factors(weights: Sequence[Tensor], generator: torch.Generator | None) -> Tensor:
        w_1, b_1, w_2, b_2 = weights
        hidden = (kernel.matmul(logits @ w_1) + b_1).relu()
        if generator is not None:
            mask = dropout_factors(DROPOUT, [hidden.numel()], [generator])
            hidden = hidden * mask.view_as(hidden)
        stretch = (kernel.matmul(hidden @ w_2) + b_2).clamp(max=MOST_STRETCH)
        return (1.1 + stretch.exp()).log()

    def loss(scaled: Tensor, labels: Tensor) -> Tensor:
        first, second = scaled.softmax(-1).topk(2).values.unbind(-1)
        right = scaled.argmax(-1) == labels
        gap = torch.where(right, 1 - first + second, first - second)
        return functional.cross_entropy(scaled, labels) + MARGIN * gap.mean()

    best = fit_factors(data, layers, factors, loss, generator)
    return scale_logits(logits, factors(best, None))


CALIBRATOR = Calibrator(
    "cagcn",
    "CaGCN",
    "A small graph network reads the outputs around a node and stretches or shrinks the node's own "
    "by one factor. Answers stay the same; neighbours become alike in how sure they are.",
    fit,
)
