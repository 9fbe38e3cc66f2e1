"""Messages row by row: the label against the other classes, and a few rows at a time."""

from collections.abc import Callable

import torch
from torch import Tensor

IN_FLIGHT = 2**17  # numbers held at once: bounds the memory, and about what a cache holds


def split_by_label(
    mean: Tensor, var: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean and variance [n, 1] of each row's label, then those [n, c - 1] of the other classes."""
    label, others = columns_by_label(labels, mean.shape[-1])
    of_label = mean.gather(-1, label), var.gather(-1, label)
    return *of_label, mean.gather(-1, others), var.gather(-1, others)


def columns_by_label(labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Each row's label [n, 1] and its other classes [n, c - 1]."""
    label = labels[:, None]
    others = torch.arange(classes - 1, device=labels.device)
    return label, others + (others >= label)


def rows_at_once(cost: int) -> int:
    """How many rows to take at a time when each holds ``cost`` numbers."""
    return max(1, IN_FLIGHT // cost)


def in_chunks(
    function: Callable[[Tensor, Tensor], Tensor], mean: Tensor, var: Tensor, cost: int
) -> Tensor:
    """``function`` over the rows of [..., c], a few at a time; ``cost``: numbers held per entry."""
    classes = mean.shape[-1]
    rows = rows_at_once(classes * cost)
    pairs = zip(
        mean.reshape(-1, classes).split(rows), var.reshape(-1, classes).split(rows), strict=True
    )
    parts = torch.cat([function(m, v).to(mean.dtype) for m, v in pairs])
    return parts.reshape(*mean.shape[:-1], parts.shape[-1])
