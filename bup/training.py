"""One full-batch loop for every network, training several seeds side by side.

Every parameter has a leading dimension: one slice per seed. Seeds share nothing but the time spent
on calling kernels, so a seed's result does not depend on its company. An epoch computes only the
rows that the loss can see: the nodes within two links of a training (or validation) node.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import linear

from bup.graph import Graph
from bup.sparse import Csr
from bup.splits import Split


class Cancelled(Exception):
    """Raised by a progress callback to stop training between two epochs."""


@dataclass(frozen=True)
class Progress:
    """Where training stands after an epoch; figures are means over the seeds still training."""

    epoch: int  # counts from 1
    epochs: int  # at most
    loss: float
    validation_nll: float
    validation_accuracy: float
    seconds: float  # since the start


OnEpoch = Callable[[Progress], None]
Parameters = dict[str, Tensor]  # each [seeds, ...]


def gcn_kernel(graph: Graph) -> sparse.csr_array:
    """K = D^-1/2 (A + I) D^-1/2, degrees counting the self-loop."""
    root = 1 / np.sqrt(graph.degree.astype(np.float64))
    with_loops = sparse.csr_array(graph.adjacency + sparse.eye_array(graph.num_nodes))
    return sparse.csr_array(with_loops.multiply(root[:, None]).multiply(root[None, :]))


def normalised_links(graph: Graph) -> sparse.csr_array:
    """D^-1/2 A D^-1/2 without self-loops; nodes without links have empty rows."""
    links = np.asarray(graph.adjacency.sum(axis=1)).ravel()
    root = sparse.diags_array(np.where(links > 0, 1 / np.sqrt(np.maximum(links, 1)), 0))
    return sparse.csr_array(root @ graph.adjacency @ root)


def normalised_rows(features: sparse.csr_array | np.ndarray) -> sparse.csr_array:
    """Features with rows that sum to 1 in absolute value; empty rows stay empty."""
    matrix = sparse.csr_array(features, dtype=np.float64)
    total = np.asarray(abs(matrix).sum(axis=1)).ravel()
    return sparse.csr_array(matrix.multiply((1 / np.where(total > 0, total, 1))[:, None]))


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph's matrices, prepared once for any number of fields."""

    words: sparse.csr_array  # [n, f], rows normalised
    kernel: sparse.csr_array  # [n, n], the GCN kernel
    links: sparse.csr_array  # [n, n], ones on links, without self-loops

    @classmethod
    def of(cls, graph: Graph) -> Inputs:
        return cls(normalised_rows(graph.features), gcn_kernel(graph), graph.adjacency)

    def field(self, targets: Sequence[np.ndarray]) -> Field:
        """What the messages of the target nodes depend on; one array of targets per seed."""
        inner = [self._with_neighbours(nodes) for nodes in targets]
        outer = [self._with_neighbours(nodes) for nodes in inner]
        return Field(self, list(targets), inner, outer)

    def everything(self) -> Field:
        """The field of all nodes, for one seed."""
        nodes = np.arange(self.words.shape[0])
        return Field(self, [nodes], [nodes], [nodes])

    def _with_neighbours(self, nodes: np.ndarray) -> np.ndarray:
        return np.unique(self.kernel[nodes].indices).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Field:
    """The rows that the messages of some target nodes depend on, for several seeds at once.

    The first layer is computed for ``inner`` nodes (the targets and their neighbours), which read
    the words of ``outer`` nodes (those and theirs). Seeds are stacked into block-diagonal matrices:
    each has its own rows and its own copy of the weights, so words have seeds * f columns.
    """

    inputs: Inputs
    targets: list[np.ndarray]  # per seed
    inner: list[np.ndarray]
    outer: list[np.ndarray]

    @cached_property
    def outer_words(self) -> Csr:
        return self._words_of(self.outer)

    @cached_property
    def target_words(self) -> Csr:
        return self._words_of(self.targets)

    @cached_property
    def kernel_1(self) -> Csr:  # [inner, outer]
        return _between(self.inputs.kernel, self.inner, self.outer)

    @cached_property
    def kernel_2(self) -> Csr:  # [targets, inner]
        return _between(self.inputs.kernel, self.targets, self.inner)

    @cached_property
    def links_1(self) -> Csr:
        return _between(self.inputs.links, self.inner, self.outer)

    @cached_property
    def links_2(self) -> Csr:
        return _between(self.inputs.links, self.targets, self.inner)

    @cached_property
    def inner_in_outer(self) -> Tensor:
        """Where each inner node stands among the outer ones."""
        return _positions(self.inner, self.outer)

    @cached_property
    def targets_in_inner(self) -> Tensor:
        return _positions(self.targets, self.inner)

    @cached_property
    def target_nodes(self) -> Tensor:
        return torch.from_numpy(np.concatenate(self.targets))

    def _words_of(self, nodes: list[np.ndarray]) -> Csr:
        return Csr.block_diagonal([_rows(self.inputs.words, rows) for rows in nodes])


def _between(
    matrix: sparse.csr_array, rows: Sequence[np.ndarray], columns: Sequence[np.ndarray]
) -> Csr:
    """Blocks of a matrix, one per seed; columns must contain every neighbour of the rows."""
    blocks = []
    place = np.empty(matrix.shape[1], dtype=matrix.indices.dtype)
    for r, c in zip(rows, columns, strict=True):
        block = _rows(matrix, r)
        place[c] = np.arange(len(c))
        parts = block.data, place[block.indices], block.indptr
        blocks.append(sparse.csr_array(parts, shape=(len(r), len(c))))
    return Csr.block_diagonal(blocks)


def _rows(matrix: sparse.csr_array, rows: np.ndarray) -> sparse.csr_array:
    return matrix if len(rows) == matrix.shape[0] and rows[0] == 0 else matrix[rows]


def _positions(inner: Sequence[np.ndarray], outer: Sequence[np.ndarray]) -> Tensor:
    starts = np.cumsum([0, *map(len, outer)])
    pairs = enumerate(zip(inner, outer, strict=True))
    return torch.from_numpy(
        np.concatenate([np.searchsorted(o, i) + starts[s] for s, (i, o) in pairs])
    )


@dataclass(frozen=True, eq=False)
class Task:
    """What several seeds train and validate on, stacked."""

    train: Field
    train_labels: Tensor  # [seeds * train] output columns
    validation: Field
    validation_labels: Tensor
    seeds: int
    classes: int

    @classmethod
    def of(cls, graph: Graph, inputs: Inputs, splits: Sequence[Split]) -> Task:
        def labels(parts: list[np.ndarray]) -> Tensor:
            pairs = zip(splits, parts, strict=True)
            return torch.from_numpy(np.concatenate([s.targets(graph.labels[n]) for s, n in pairs]))

        train = [split.train for split in splits]
        validation = [split.validation for split in splits]
        return cls(
            train=inputs.field(train),
            train_labels=labels(train),
            validation=inputs.field(validation),
            validation_labels=labels(validation),
            seeds=len(splits),
            classes=len(splits[0].classes),
        )

    def seed_means(self, values: Tensor) -> Tensor:
        """Mean [seeds] of a figure per node; every seed has the same number of nodes."""
        return values.view(self.seeds, -1).float().mean(dim=1)


class Network(Protocol):
    """What the loop needs to know of a model that trains several seeds at once."""

    parameters: Parameters
    decayed: tuple[str, ...]  # the parameters that weight decay pulls to zero

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        """Loss [seeds], dropout included; differentiable in the parameters."""

    def validation(self) -> tuple[Tensor, Tensor]:
        """Mean negative log-likelihood [seeds] and accuracy [seeds] on the validation nodes."""


@dataclass(frozen=True)
class Schedule:
    """How long to train and which epoch to keep."""

    epochs: int
    patience: int
    learning_rate: float
    weight_decay: float
    keep: str = "best"  # "best" validation NLL, or "last" with the original GCN's stopping rule


@dataclass(frozen=True)
class Trained:
    """One seed's outcome."""

    parameters: Parameters  # with a leading dimension of 1
    history: dict[str, list[float]]  # loss, validation_nll, validation_accuracy per epoch
    best_epoch: int  # the one that was kept, counting from 1


def train(
    network: Network,
    schedule: Schedule,
    generators: Sequence[torch.Generator],
    on_epoch: OnEpoch | None = None,
) -> list[Trained]:
    """Train every seed until it stops improving; see ``Schedule.keep``."""
    _keep_freed_memory()
    start = time.perf_counter()
    seeds = len(generators)
    parameters = network.parameters
    for tensor in parameters.values():
        tensor.requires_grad_(True)
    decayed = [parameters[name] for name in network.decayed]
    others = [tensor for name, tensor in parameters.items() if name not in network.decayed]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": schedule.weight_decay},
        {"params": others},
    ]
    optimiser = torch.optim.Adam(groups, lr=schedule.learning_rate, fused=True)
    kept = {name: tensor.detach().clone() for name, tensor in parameters.items()}
    histories: list[list[tuple[float, float, float]]] = [[] for _ in range(seeds)]
    best = [(np.inf, 0)] * seeds
    training = set(range(seeds))

    for epoch in range(1, schedule.epochs + 1):
        optimiser.zero_grad()
        losses = network.training_loss(generators)
        losses.sum().backward()
        optimiser.step()
        with torch.no_grad():
            columns = losses, *network.validation()
        figures = list(zip(*(column.tolist() for column in columns), strict=True))
        for s in sorted(training):
            histories[s].append(figures[s])
            if schedule.keep == "last" or figures[s][1] < best[s][0]:
                best[s] = (figures[s][1], epoch)
            if _should_stop(schedule, [f[1] for f in histories[s]], best[s][1]):
                training.discard(s)
        _copy_seeds(parameters, kept, [s for s in range(seeds) if best[s][1] == epoch])
        if on_epoch is not None:
            loss, nll, accuracy = np.mean([h[-1] for h in histories], axis=0).tolist()
            seconds = time.perf_counter() - start
            on_epoch(Progress(epoch, schedule.epochs, loss, nll, accuracy, seconds))
        if not training:
            break
    names = ("loss", "validation_nll", "validation_accuracy")
    return [
        Trained(
            parameters={name: kept[name][s : s + 1] for name in kept},
            history={
                n: list(column) for n, column in zip(names, zip(*h, strict=True), strict=True)
            },
            best_epoch=best[s][1],
        )
        for s, h in enumerate(histories)
    ]


def _copy_seeds(source: Parameters, target: Parameters, which: list[int]) -> None:
    for name, tensor in source.items():
        if len(which) == len(tensor):
            target[name].copy_(tensor.detach())
        else:
            for s in which:
                target[name][s] = tensor.detach()[s]


@cache
def _keep_freed_memory() -> None:
    """Tell the C library to reuse memory instead of giving it back to the system.

    Every epoch asks for the same large pieces; getting fresh pages for them costs a fifth of the
    time. Only glibc knows these options; elsewhere nothing happens.
    """
    trim_threshold, mmap_max = -1, -4  # names of malloc.h
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt is not None:
        mallopt(trim_threshold, 2**31 - 1)
        mallopt(mmap_max, 0)


def _should_stop(schedule: Schedule, validation_nll: list[float], best_epoch: int) -> bool:
    epoch = len(validation_nll)
    if schedule.keep == "last":
        window = validation_nll[-(schedule.patience + 1) : -1]
        return epoch > schedule.patience and validation_nll[-1] > float(np.mean(window))
    return epoch - best_epoch >= schedule.patience


def glorot(generators: Sequence[torch.Generator], rows: int, columns: int) -> Tensor:
    """Uniform initial weights [seeds, rows, columns], each seed from its own generator."""
    limit = (6 / (rows + columns)) ** 0.5
    draws = [torch.rand(rows, columns, generator=g) for g in generators]
    return (2 * torch.stack(draws) - 1) * limit


class Dropout(NamedTuple):
    """Which entries stay, and the factor that makes up for those that do not."""

    kept: np.ndarray  # [entries] bool
    factor: float

    @classmethod
    def draw(
        cls, rate: float, counts: Sequence[int], generators: Sequence[torch.Generator]
    ) -> Dropout:
        """For ``counts[s]`` entries of each seed s, one seed after the other.

        Random bytes against a threshold, several times cheaper than Bernoulli variables; the rate
        is therefore rounded to 1/256.
        """
        threshold = round(256 * (1 - rate))
        parts = []
        for count, generator in zip(counts, generators, strict=True):
            eights = torch.empty((count + 7) // 8, dtype=torch.int64)
            eights.random_(-(2**63), None, generator=generator)
            parts.append(eights.numpy().view(np.uint8)[:count])
        return cls(np.concatenate(parts) < threshold, 256 / threshold)


def dropout_factors(
    rate: float, counts: Sequence[int], generators: Sequence[torch.Generator]
) -> Tensor:
    """Factors of 0 or 1/keep for ``counts[s]`` entries of each seed s, one seed after the other."""
    kept, factor = Dropout.draw(rate, counts, generators)
    return torch.from_numpy(np.multiply(kept, np.float32(factor)))


def per_seed_product(rows: Tensor, counts: Sequence[int], weights: Tensor) -> Tensor:
    """Rows of seed s times ``weights[s]``, stacked again.

    One plain product per seed, so that a seed's rounding does not depend on its company. Weights
    are turned around first: products with a narrow matrix are several times faster that way.
    """
    parts = zip(rows.split(list(counts)), weights.transpose(1, 2).contiguous(), strict=True)
    return torch.cat([linear(part, turned) for part, turned in parts])


def per_seed_rows(values: Tensor, counts: Sequence[int]) -> Tensor:
    """Row s of ``values`` repeated for each of seed s's ``counts[s]`` rows."""
    if len(counts) == 1:
        return values
    return torch.cat([row.expand(count, -1) for row, count in zip(values, counts, strict=True)])
