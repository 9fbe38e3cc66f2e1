"""Sparse times dense, quickly, on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Csr:
    """A constant sparse matrix whose product with a dense one is differentiable in the latter.

    The product is a sum of weighted rows, which is what torch's embedding bag computes: several
    times faster than its CSR product. The transpose is kept for the backward pass.
    """

    shape: tuple[int, int]
    columns: Tensor  # [nnz] int32
    starts: Tensor  # [rows + 1] int32
    values: Tensor  # [nnz]
    transposed_columns: Tensor  # [nnz] int32
    transposed_starts: Tensor  # [cols + 1] int32
    transposed_order: Tensor  # [nnz] where each entry of the transpose stands in ``values``

    blocks: tuple[int, ...]  # entries of each diagonal block, one after the other

    @classmethod
    def from_scipy(cls, matrix: sparse.csr_array, dtype: torch.dtype = torch.float32) -> Csr:
        return cls.block_diagonal([matrix], dtype)

    @classmethod
    def block_diagonal(
        cls, matrices: Sequence[sparse.csr_array], dtype: torch.dtype = torch.float32
    ) -> Csr:
        matrix = _block_diagonal(matrices)
        # Numbering the entries and transposing the numbers tells where each entry goes.
        numbered = sparse.csr_array(
            (np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        transposed = sparse.csr_array(numbered.T)
        return cls(
            shape=matrix.shape,
            columns=_int32(matrix.indices),
            starts=_int32(matrix.indptr),
            values=torch.tensor(matrix.data, dtype=dtype),
            transposed_columns=_int32(transposed.indices),
            transposed_starts=_int32(transposed.indptr),
            transposed_order=torch.from_numpy(transposed.data),
            blocks=tuple(m.nnz for m in matrices),
        )

    @cached_property
    def transposed_values(self) -> Tensor:
        return self.values[self.transposed_order]

    def matmul(self, dense: Tensor, values: Tensor | None = None) -> Tensor:
        """This matrix [r, m] times ``dense`` [m, k]; ``values`` replace its entries if given."""
        return _Product.apply(dense, self, self.values if values is None else values)


def _block_diagonal(matrices: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """As SciPy's, without its detour through coordinates."""
    if len(matrices) == 1:
        return matrices[0]
    rows, columns = np.cumsum([m.shape for m in matrices], axis=0).T
    entries = np.cumsum([m.nnz for m in matrices])
    indices = [m.indices + c - m.shape[1] for m, c in zip(matrices, columns, strict=True)]
    starts = [m.indptr[:-1] + e - m.nnz for m, e in zip(matrices, entries, strict=True)]
    data = np.concatenate([m.data for m in matrices])
    parts = data, np.concatenate(indices), np.append(np.concatenate(starts), entries[-1])
    return sparse.csr_array(parts, shape=(rows[-1], columns[-1]))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Csr, values: Tensor) -> Tensor:
        ctx.matrix, ctx.values = matrix, values
        return _weighted_row_sums(dense, matrix.columns, matrix.starts, values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        m = ctx.matrix
        constant = ctx.values is m.values
        values = m.transposed_values if constant else ctx.values[m.transposed_order]
        product = _weighted_row_sums(
            gradient.contiguous(), m.transposed_columns, m.transposed_starts, values
        )
        return product, None, None


def _weighted_row_sums(rows: Tensor, which: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
    if len(which) == 0:
        return rows.new_zeros(len(starts) - 1, rows.shape[1])
    # detached: rows that ask for a gradient would make it take notes for a backward pass of its own
    rows, weights = rows.detach(), weights.detach()
    return torch.nn.functional.embedding_bag(
        which, rows, starts, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def _int32(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(array, dtype=np.int32))  # a copy: a graph's own are frozen
