"""Functions with gradients of their own. Defining them needs torch: import them where they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

if TYPE_CHECKING:
    from bup.engine.sparse import Csr


class Product(torch.autograd.Function):
    """A sparse matrix, or the same with other entries, times a dense one."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Csr, values: Tensor) -> Tensor:
        ctx.matrix, ctx.values = matrix, values
        return _weighted_row_sums(dense, matrix.columns, matrix.starts, values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        t = ctx.matrix.transpose
        constant = ctx.values is ctx.matrix.values
        values = t.values if constant else ctx.values.index_select(0, t.order)
        return _weighted_row_sums(gradient.contiguous(), t.columns, t.starts, values), None, None


def _weighted_row_sums(rows: Tensor, which: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
    if len(which) == 0:
        return rows.new_zeros(len(starts) - 1, rows.shape[1])
    # detached, or autograd would record a backward pass of its own
    rows, weights = rows.detach(), weights.detach()
    return torch.nn.functional.embedding_bag(
        which, rows, starts, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


class LogRatios(torch.autograd.Function):
    """What the objective needs of d = phi - lambda: a few entries, and log ratios.

    A log ratio is the sum over pairs of log q(b) - log p(b), one for each draw of uniforms [pairs].
    Both densities are logistic in b = logit(a), a shift d apart and of one scale, so most of them
    cancels: a pair's ratio is 2 log(1 + (e^d - 1) u) - d.
    """

    @staticmethod
    def forward(
        ctx: Any, shift: Tensor, place: Tensor, uniforms: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        growth = shift.expm1()
        ctx.growth, ctx.place, ctx.uniforms = growth, place, uniforms
        scratch = torch.empty_like(growth)
        sums = [torch.mul(growth, u, out=scratch).log1p_().sum() for u in uniforms]
        return shift[place], 2 * torch.stack(sums) - shift.sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_entry: Tensor, by_ratio: Tensor) -> tuple[Tensor, None, None]:
        growth: Tensor = ctx.growth
        by_shift, scratch = torch.zeros_like(growth), torch.empty_like(growth)
        for weight, u in zip(by_ratio.tolist(), ctx.uniforms, strict=True):
            divisor = torch.mul(growth, u, out=scratch).add_(1)
            by_shift.addcdiv_(u, divisor, value=2 * weight)
        by_shift.mul_(growth.add_(1)).sub_(by_ratio.sum()).index_add_(0, ctx.place, by_entry)
        return by_shift, None, None
