"""The paper's rule: a Gaussian over a node and its neighbours, conditioned on the neighbours.

Because cov(i,j)^2 / var(j) = cor(i,j)^2 var(i), the neighbours' variances cancel: under any
correlation, a node's variance is multiplied by one number that no variance decides. Training uses
that number; explanations take the covariance matrix apart as the paper writes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bup.engine.receptive_field import Hop
from bup.errors import BupError
from bup.graph import Graph
from bup.io.lazy import Tensor, torch
from bup.propagation.arithmetic import Operation, ProductTerm
from bup.propagation.base import Formula, Propagation, Rule, Shares
from bup.propagation.correlations import CORRELATIONS
from bup.run.settings import setting

SMALLEST_LAM = 0.5
ROUNDING = 1e-12


@dataclass(frozen=True)
class ConditionalSettings:
    lam: float = setting(
        1.0,
        "How weakly linked messages vary together under the published rule: the larger, the less a "
        "neighbour takes off.",
        low=SMALLEST_LAM,
        high=1000,
    )
    correlation: str = setting(
        "degrees",
        "What makes linked messages vary together under the published rule: how few links the "
        "two nodes have, or that and how alike their words are.",
        choices=CORRELATIONS,
    )
    neighbours: str = setting(
        "apart",
        "Under the published rule, whether neighbours that are linked to each other vary together "
        "too, which its authors offer for dense graphs.",
        choices=("apart", "linked"),
    )


def covariance(var: np.ndarray, cor: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    r"""Definition 1, Eq. (4): the covariance [k+1, k+1] of a node and its k neighbours.

    cov(i,j) = cor(i,j) sqrt(var(i) var(j)), and zero between neighbours.

    ``var`` [k+1] has the node first, ``cor`` [k] is its correlation with each neighbour, ``among``
    [k, k] that of the neighbours with each other where it is not to be ignored.
    """
    std = np.sqrt(var)
    correlation = np.eye(len(var))
    correlation[0, 1:] = correlation[1:, 0] = cor
    if among is not None:
        correlation[1:, 1:] += among
    return std[:, None] * correlation * std


def conditional_variance(cov: np.ndarray) -> tuple[float, np.ndarray]:
    r"""Eq. (5): var(i | N(i)) = var(i) - C B^-1 C^T, and the part [k] that each neighbour takes.

    B is the neighbours' block of the covariance, C its row with the node; neighbour j's part of
    the sum is C_j (B^-1 C^T)_j.
    """
    c, b = cov[0, 1:], cov[1:, 1:]
    parts = c * np.linalg.solve(b, c) if len(c) else c
    return float(cov[0, 0] - parts.sum()), parts


class Conditional(Propagation):
    """Definition 1 applied to a graph, under any symmetric correlation."""

    factor: np.ndarray  # [n] var(i | N(i)) / var(i)

    def __init__(self, graph: Graph, s: Any) -> None:
        if not s.lam >= SMALLEST_LAM:
            raise BupError(
                f"lam must be >= {SMALLEST_LAM} so that every variance stays positive, got {s.lam}"
            )
        super().__init__(graph, s)
        self.lam, self.neighbours_linked = s.lam, s.neighbours == "linked"
        self.correlation = CORRELATIONS[s.correlation]
        self.closed_form = None if self.neighbours_linked else self.correlation.sum_of_squares
        self.factor = 1 - self._reduction()
        self._factor = torch.from_numpy(self.factor).float()

    def step(self, var: Tensor, hop: Hop) -> Tensor:
        return hop.at_targets(var) * hop.gather(self._factor)[:, None]

    def shares(self, node: int, var: np.ndarray) -> Shares:
        near = self.graph.neighbours(node)
        before = var[node].astype(np.float64)
        # The variances cancel, so the shares are the same in every dimension: one is computed.
        level = var[np.append(node, near)].mean(axis=1, dtype=np.float64)
        _, parts = self._conditioned(node, level)
        change = -(parts / level[0])[:, None] * before
        return Shares(near, change, np.zeros_like(before), before, before + change.sum(axis=0))

    def formula(self, node: int, steps: Sequence[Shares]) -> Formula:
        factor = float(self.factor[node])
        if self.closed_form is not None:
            degree = int(self.graph.looped_degree[node])
            inverse = float((1 / self.graph.looped_degree[self.graph.neighbours(node)]).sum())
            latex = (
                r"1-\frac{1}{\lambda\,d_i}\sum_{j\in N(i)}\frac{1}{d_j}"
                rf"=1-\frac{{1}}{{{self.lam:g}\cdot {degree}}}\cdot {inverse:.3f}={factor:.3f}"
            )
        else:
            linked = self.neighbours_linked
            taken = r"r_i^\top R_i^{-1} r_i" if linked else r"\sum_{j\in N(i)} r_{ij}^2"
            latex = rf"1-{taken}=1-{1 - factor:.3f}={factor:.3f}"
            latex += rf",\qquad r_{{ij}}={self.correlation.latex}"
        what = "degrees" if self.correlation.sum_of_squares is not None else "degrees and words"
        return Formula(
            "The published rule multiplies this node's variance, in every layer, by",
            latex,
            f"Only {what} appear in it: **how sure the linked nodes are does not matter**. Their "
            "variances cancel, although one would expect unsure neighbours to make a node unsure. "
            "Under evidence propagation they do count.",
        )

    def arithmetic(self, node: int) -> list[Operation]:
        near, degree = self.graph.neighbours(node).tolist(), self.graph.looped_degree
        taken: list[tuple[float, ...]]
        if self.closed_form is not None:
            columns: tuple[str, ...] = ("−1/λ", "1/d_i", "1/d_j")
            taken = [(-1 / self.lam, 1 / int(degree[node]), 1 / int(degree[j])) for j in near]
        else:
            columns = ("−r_ij²",) if not self.neighbours_linked else ("−r_ij (R⁻¹r)_j",)
            taken = [(-part,) for part in self._conditioned(node, np.ones(len(near) + 1))[1]]
        lines = tuple(
            ProductTerm(self.graph.name_of(j), tuple(map(float, factors)), node=j)
            for j, factors in zip(near, taken, strict=True)
        )
        return [Operation("factor", "F_i", columns, lines, "j", 1.0, "1")]

    def _reduction(self) -> np.ndarray:
        """The share of its variance that every node loses [n]."""
        if self.closed_form is not None:
            return self.closed_form(self.graph, self.lam)
        low, high = self.graph.edges
        squares = self._between(low, high) ** 2
        total = np.bincount(low, squares, self.graph.num_nodes)
        total += np.bincount(high, squares, self.graph.num_nodes)
        if self.neighbours_linked:
            for node in self._in_triangles().tolist():
                ones = np.ones(len(self.graph.neighbours(node)) + 1)
                total[node] = self._conditioned(node, ones)[1].sum()
        if (total >= 1).any():
            worst = int(total.argmax())
            raise BupError(
                f"the correlations leave node {self.graph.node_id(worst)} no variance (its "
                f"neighbours take {total[worst]:.3g} of it, less than 1 is possible): use weaker "
                f"correlations, such as a lam above {self.lam:g}"
            )
        return total

    def _conditioned(self, node: int, var: np.ndarray) -> tuple[float, np.ndarray]:
        near = self.graph.neighbours(node)
        cor = self._between(np.full(len(near), node), near)
        among = self._among(node, near) if self.neighbours_linked and len(near) else None
        return conditional_variance(covariance(var, cor, among))

    def _among(self, node: int, near: np.ndarray) -> np.ndarray:
        """Correlations of a node's neighbours with each other [k, k], zero on the diagonal."""
        linked = self.graph.adjacency[near][:, near].tocoo()
        among = np.zeros((len(near), len(near)))
        a, b = linked.coords
        among[a, b] = self._between(near[a], near[b])
        if np.linalg.eigvalsh(np.eye(len(near)) + among)[0] <= 0:
            raise BupError(
                f"the correlations among the neighbours of node {self.graph.node_id(node)} do not "
                "form a covariance matrix: use weaker correlations, such as a lam above "
                f"{self.lam:g}"
            )
        return among

    def _between(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        one, other = (
            self.correlation.between(self.graph, *ij, self.lam) for ij in ((i, j), (j, i))
        )
        if not np.allclose(one, other, rtol=ROUNDING, atol=0):
            raise BupError(
                f"the correlation {self.correlation.name!r} must be symmetric: cor(i,j) = cor(j,i)"
            )
        return one

    def _in_triangles(self) -> np.ndarray:
        """Nodes some of whose neighbours are linked to each other."""
        links = self.graph.adjacency
        return np.flatnonzero((links @ links).multiply(links).sum(axis=1))


RULE = Rule(
    name="paper",
    title="Published rule",
    meaning="The authors' rule: condition a Gaussian on the neighbours. Their variances cancel; "
    "the degrees decide.",
    latex=r"v_i'=v_i\Big(1-\frac{1}{\lambda\,d_i}\sum_{j\in N(i)}\frac{1}{d_j}\Big)",
    propagation=Conditional,
    settings=ConditionalSettings,
    unseen="Under this rule message uncertainty follows the links of a node, not whether its "
    "class was seen: an AUROC near 50 % means that it cannot tell. The published claim about "
    "unseen classes rests on the class probabilities.",
    lesson="Every neighbour takes off a share that only degrees decide.",
)
