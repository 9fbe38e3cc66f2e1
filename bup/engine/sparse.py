"""Fast products of a sparse and a dense matrix on a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bup.io.lazy import Tensor, sparse, torch


@dataclass(frozen=True, eq=False)
class Csr:
    """A constant sparse matrix whose product with a dense one is differentiable in the latter.

    The product is a sum of weighted rows, which is what torch's embedding bag computes: several
    times faster than its CSR product. The transpose is made for the first backward pass and kept.
    """

    shape: tuple[int, int]
    columns: Tensor  # [nnz] int32
    starts: Tensor  # [rows + 1] int32
    values: Tensor  # [nnz]
    blocks: tuple[int, ...]  # entries of each diagonal block, one after the other

    @classmethod
    def from_scipy(cls, matrix: sparse.csr_array, dtype: torch.dtype | None = None) -> Csr:
        return cls.block_diagonal([matrix], dtype)

    @classmethod
    def block_diagonal(
        cls, matrices: Sequence[sparse.csr_array], dtype: torch.dtype | None = None
    ) -> Csr:
        matrix = _block_diagonal(matrices)
        return cls(
            shape=matrix.shape,
            columns=_int32(matrix.indices),
            starts=_int32(matrix.indptr),
            values=torch.tensor(matrix.data, dtype=dtype or torch.float32),
            blocks=tuple(m.nnz for m in matrices),
        )

    @cached_property
    def transpose(self) -> Transpose:
        # Transposing the entries' numbers gives the order of the entries in the transpose.
        numbers = np.arange(len(self.values), dtype=np.int32)
        parts = numbers, self.columns.numpy(), self.starts.numpy()
        by_column = sparse.csr_array(parts, shape=self.shape).tocsc()
        order = torch.from_numpy(by_column.data)
        return Transpose(
            columns=torch.from_numpy(by_column.indices),
            starts=torch.from_numpy(by_column.indptr),
            values=self.values.index_select(0, order),
            order=order,
        )

    def matmul(self, dense: Tensor, values: Tensor | None = None) -> Tensor:
        """This matrix [r, m] times ``dense`` [m, k]; ``values`` replace its entries if given."""
        from bup.engine.gradients import Product

        return Product.apply(dense, self, self.values if values is None else values)

    def mask_entries(self, mask: np.ndarray, factor: float) -> Csr:
        """A matrix of only those entries that ``mask`` [nnz] marks, times a factor."""
        which = np.flatnonzero(mask)
        starts = np.zeros(self.shape[0] + 1, dtype=np.int32)
        counts = np.bincount(self._row_of_entry.take(which), minlength=self.shape[0])
        np.cumsum(counts, out=starts[1:])
        entries = torch.from_numpy(which)
        return Csr(
            shape=self.shape,
            columns=self.columns.index_select(0, entries),
            starts=torch.from_numpy(starts),
            values=self.values.index_select(0, entries).mul_(factor),
            blocks=(len(which),),
        )

    @cached_property
    def _row_of_entry(self) -> np.ndarray:
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.starts.numpy()))


class Transpose(NamedTuple):
    """The same entries column by column."""

    columns: Tensor  # [nnz] int32, the row that each entry stood in
    starts: Tensor  # [cols + 1] int32
    values: Tensor  # [nnz]
    order: Tensor  # [nnz] int32, where each entry stood


def _block_diagonal(matrices: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """As ``scipy.sparse.block_diag``, but without conversion to coordinates."""
    if len(matrices) == 1:
        return matrices[0]
    rows, columns = np.cumsum([m.shape for m in matrices], axis=0).T
    entries = np.cumsum([m.nnz for m in matrices])
    indices = [m.indices + c - m.shape[1] for m, c in zip(matrices, columns, strict=True)]
    starts = [m.indptr[:-1] + e - m.nnz for m, e in zip(matrices, entries, strict=True)]
    data = np.concatenate([m.data for m in matrices])
    parts = data, np.concatenate(indices), np.append(np.concatenate(starts), entries[-1])
    return sparse.csr_array(parts, shape=(rows[-1], columns[-1]))


def _int32(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(array, dtype=np.int32))  # a copy: a graph's own are frozen
