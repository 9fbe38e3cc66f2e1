"""The computation of one class probability of a node, multiplication by multiplication.

A trained BUP computes all nodes at once; this module computes one node, one hidden unit and one
class as on paper. Every operation uses the result of the one before; the last ones give the mean,
the variance and the probability that the run has stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, softmax

from bup.calibrators import spread
from bup.errors import BupError
from bup.explanation.inspection import Inspector
from bup.methods import settings_of
from bup.methods.bup import SMALLEST_VARIANCE
from bup.propagation.arithmetic import Operation, ProductTerm

SUPPORTED = ("none", "variance", "spread")  # calibrations that act on messages
REACH, SLICE, FINEST = 8.0, 0.5, 0.02  # of the integral's slices, in standard deviations


@dataclass(frozen=True)
class Derivation:
    """The operations that give one class probability of a node, in order."""

    node: int
    neighbour: int  # whose words are written out; the node itself if it has no links
    unit: int  # of the hidden layer
    column: int  # of the model's classes
    operations: tuple[Operation, ...]

    def __getitem__(self, name: str) -> Operation:
        return next(operation for operation in self.operations if operation.name == name)


def derive(
    inspector: Inspector,
    node: int,
    neighbour: int | None = None,
    unit: int | None = None,
    column: int | None = None,
) -> Derivation:
    """Derive a class probability of a node from the words of one of its neighbours.

    By default it is the predicted class, the hidden unit with the largest contribution to it and
    the neighbour with the largest contribution to that unit.
    """
    if inspector.result.spec.method != "bup":
        raise BupError(
            f"only a run of bup can be followed, got one of {inspector.result.spec.method}"
        )
    s = settings_of(inspector.result.spec)
    if s.calibrate not in SUPPORTED or s.prediction not in ("erf", "exact"):
        raise BupError(
            f"a run can be followed with calibrate among {', '.join(SUPPORTED)} and prediction erf "
            f"or exact, got {s.calibrate} and {s.prediction}"
        )
    return _DerivationSteps(inspector, s, node).through(neighbour, unit, column)


class _DerivationSteps:
    """Computes the operations of one node from the weights of a run."""

    def __init__(self, inspector: Inspector, s: Any, node: int) -> None:
        self.inspector, self.s, self.node = inspector, s, node
        self.graph, self.result = inspector.graph, inspector.result
        self.weights = {k: w.astype(np.float64) for k, w in inspector.result.weights.items()}
        self.sources, self.kernel = self._row(node)
        self.projected = self._words(self.sources) @ self.weights["mean_1"]  # [sources, hidden]
        self.aggregated = np.stack([self._aggregate(j) for j in self.sources])  # [sources, hidden]
        self.hidden = np.maximum(self.aggregated, 0)
        self.averaged = self.kernel @ self.hidden  # [hidden]
        self.mean = self.averaged @ self.weights["mean_2"]  # [c]
        assert inspector.result.var is not None
        self.var = inspector.result.var[node].astype(np.float64)  # [c]

    def through(self, neighbour: int | None, unit: int | None, column: int | None) -> Derivation:
        if column is None:
            column = int(self.result.probs[self.node].argmax())
        contribution = np.abs(self.averaged * self.weights["mean_2"][:, column])
        unit = int(contribution.argmax()) if unit is None else unit
        if neighbour is None or neighbour not in self.sources:
            others = np.where(
                self.sources == self.node, -1.0, np.abs(self.kernel * self.projected[:, unit])
            )
            neighbour = int(self.sources[others.argmax()])
        operations = [
            *self._mean(neighbour, unit, column),
            *self._variance(unit, column),
            *self._probability(column),
        ]
        return Derivation(self.node, neighbour, unit, column, tuple(operations))

    def _row(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """A node and its neighbours, with their weights in the GCN kernel."""
        row = self.inspector.inputs.kernel[[node]]
        return row.indices, row.data

    def _words(self, nodes: np.ndarray) -> Any:
        return self.inspector.inputs.words[nodes]

    def _aggregate(self, node: int) -> np.ndarray:
        sources, kernel = self._row(node)
        return kernel @ (self._words(sources) @ self.weights["mean_1"])

    def _name(self, node: int) -> str:
        return f"{self.graph.name_of(node)}{' (itself)' if node == self.node else ''}"

    def _of_words(self, node: int, weights: np.ndarray) -> tuple[ProductTerm, ...]:
        row, spelt = self._words(np.array([node])), self.graph.words
        return tuple(
            ProductTerm(f"“{spelt[w]}”" if spelt else f"word {w}", (x, float(weights[w])))
            for w, x in zip(row.indices.tolist(), row.data.tolist(), strict=True)
        )

    def _of_neighbours(self, values: np.ndarray) -> tuple[ProductTerm, ...]:
        rows = zip(self.sources.tolist(), self.kernel.tolist(), values.tolist(), strict=True)
        return tuple(ProductTerm(self._name(j), (k, value), node=j) for j, k, value in rows)

    def _of_units(self, values: np.ndarray, weights: np.ndarray) -> tuple[ProductTerm, ...]:
        rows = enumerate(zip(values.tolist(), weights.tolist(), strict=True))
        return tuple(ProductTerm(f"unit {u}", factors, unit=u) for u, factors in rows)

    def _mean(self, neighbour: int, unit: int, column: int) -> list[Operation]:
        here = int(np.flatnonzero(self.sources == self.node)[0])
        value = float(self.aggregated[here, unit])
        words = self._of_words(neighbour, self.weights["mean_1"][:, unit])
        inputs = self._of_neighbours(self.projected[:, unit])
        hidden = self._of_neighbours(self.hidden[:, unit])
        units = self._of_units(self.averaged, self.weights["mean_2"][:, column])
        total = (ProductTerm("the sum", (value,)),)
        return [
            Operation("say", "s_ju", ("x_jw", "W_wu"), words, "w"),
            Operation("gather", "a_iu", ("K_ij", "s_ju"), inputs, "j"),
            Operation("activate", "h_iu", ("a_iu",), total, then="max(0, ·)"),
            Operation("again", "g_iu", ("K_ij", "h_ju"), hidden, "j"),
            Operation("mean", "m_ic", ("g_iu", "W'_uc"), units, "u"),
        ]

    def _variance(self, unit: int, column: int) -> list[Operation]:
        propagation, s = self.inspector.propagation, self.s
        assert propagation is not None
        bias = self.weights["var_bias"]
        own = (self._words(np.array([self.node])) @ self.weights["var_1"])[0] + bias
        now = np.logaddexp(0, own)
        words = self._of_words(self.node, self.weights["var_1"][:, unit])
        operations = [
            Operation(
                "own", "v_iu", ("x_iw", "V_wu"), words, "w", float(bias[unit]), "b_u",
                then="softplus",
            ),
            *propagation.arithmetic(self.node),
        ]  # fmt: skip
        var_symbol = "v"
        for layer in (1, 2):
            if layer in s.rule.layers:
                step, now = self._step(layer, now, unit, var_symbol)
                operations.append(step)
                var_symbol += "'"
            if layer == 1 and s.layers == "paper":
                weights = self.weights["var_hidden"]
                terms = self._of_units(now, weights[:, unit])
                columns = (f"{var_symbol}_iq", "V'_qu")
                operations.append(Operation("map", "r_iu", columns, terms, "q", then="softplus"))
                now, var_symbol = np.logaddexp(0, now @ weights), "r"
        last = self.weights["var_2"]
        if s.layers == "simple":
            last = softmax(last, axis=0)
        raw = now @ last
        terms = self._of_units(now, last[:, column])
        symbol = "y_ic"
        then = "softplus" if s.layers == "paper" else ""
        operations.append(
            Operation("weigh", symbol, (f"{var_symbol}_iu", "A_uc"), terms, "u", then=then)
        )
        factor = float(self.result.constants.get("variance_factor", 1.0))
        weighed = float(np.logaddexp(0, raw[column]) if then else raw[column])
        term = ProductTerm("fitted on validation nodes", (weighed + SMALLEST_VARIANCE, factor))
        operations.append(Operation("scale", "σ²_ic", (symbol, "f"), (term,)))
        return operations

    def _step(
        self, layer: int, now: np.ndarray, unit: int, var_symbol: str
    ) -> tuple[Operation, np.ndarray]:
        """One step of the rule: a factor, or the change by every neighbour."""
        propagation, name = self.inspector.propagation, f"step {layer}"
        assert propagation is not None
        if propagation.factor is not None:
            factor = float(propagation.factor[self.node])
            term = ProductTerm("variance times factor", (float(now[unit]), factor))
            columns = (f"{var_symbol}_iu", "F_i")
            return Operation(name, f"{var_symbol}'_iu", columns, (term,)), now * factor
        step = self.inspector.inspect(self.node).steps[layer - 1]
        terms = [
            ProductTerm(self._name(j), (float(change[unit]),), node=j)
            for j, change in zip(step.neighbours.tolist(), step.change, strict=True)
        ]
        terms.append(ProductTerm(self._name(self.node), (float(step.own[unit]),), node=self.node))
        before = float(step.before[unit])
        return (
            Operation(
                name, f"{var_symbol}'_iu", ("Δ_ij",), tuple(terms), "j", before, f"{var_symbol}_iu"
            ),
            step.after,
        )

    def _probability(self, column: int) -> list[Operation]:
        width = self.result.constants.get("variance_width", 0.0)
        operations = [self._integral(column)]
        names = [self.graph.class_names[c] for c in self.result.split.classes]
        symbol = "p_ic"
        if self.s.prediction == "erf":
            wins = self._wins(self.var)
            terms = tuple(
                ProductTerm(name, (float(w), 1 / float(wins.sum())), column=k)
                for k, (name, w) in enumerate(zip(names, wins, strict=True))
            )
            duels = Operation(
                "duels", "L_c", ("m_c−m_k", "1/√(σ²_c+σ²_k)"), self._duels(column, names), "k",
                each="Φ", multiply=True,
            )  # fmt: skip
            share = Operation("share", symbol, ("L_k", "1/ΣL"), terms, picked=column)
            operations = [duels, *operations, share]
        if self.s.calibrate == "spread":
            wide, weights = spread.factors(width)
            probs = [self._class_probabilities(factor * self.var)[column] for factor in wide]
            rows = zip(wide, weights, probs, strict=True)
            mixed = tuple(
                ProductTerm(f"variance × {factor:.3g}", (weight, float(p)))
                for factor, weight, p in rows
            )
            operations.append(Operation("mix", "P_ic", ("w_q", "p_ic(q)"), mixed, "q"))
        return operations

    def _duels(self, column: int, names: Sequence[str]) -> tuple[ProductTerm, ...]:
        gaps = self.mean[column] - self.mean
        widths = np.sqrt(self.var[column] + self.var)
        return tuple(
            ProductTerm(f"against {name}", (float(gaps[k]), 1 / float(widths[k])), column=k)
            for k, name in enumerate(names)
            if k != column
        )

    def _wins(self, var: np.ndarray) -> np.ndarray:
        """For every class [c], the product of its probabilities to beat each other class."""
        z = (self.mean[:, None] - self.mean) / np.sqrt(var[:, None] + var)
        probs = ndtr(z)
        np.fill_diagonal(probs, 1)
        return probs.prod(axis=1)

    def _class_probabilities(self, var: np.ndarray) -> np.ndarray:
        """The probability of every class [c], by the run's prediction rule."""
        if self.s.prediction == "erf":
            wins = self._wins(var)
            return wins / wins.sum()
        slices = (self._slices(column, var) for column in range(len(var)))
        probs = np.array([(density * largest).sum() for _, density, largest in slices])
        return probs / probs.sum()

    def _slices(self, column: int, var: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of a class's message, the probability of each slice, and that of winning there.

        Slices are half as wide as the narrowest message: what vanishes at both ends is then summed
        to many digits.
        """
        std = np.sqrt(var)
        slice_ = max(FINEST, SLICE * min(1.0, float(std.min() / std[column])))
        count = 2 * round(REACH / slice_) + 1
        places = slice_ * (np.arange(count) - count // 2)
        x = self.mean[column] + std[column] * places
        below = ndtr((x - self.mean[:, None]) / std[:, None])
        below[column] = 1
        density = np.exp(-(places**2) / 2) / np.sqrt(2 * np.pi) * slice_
        return x, density, below.prod(axis=0)

    def _integral(self, column: int) -> Operation:
        x, density, largest = self._slices(column, self.var)
        rows = zip(x.tolist(), density.tolist(), largest.tolist(), strict=True)
        terms = tuple(ProductTerm(f"message at {at:.2f}", (d, p)) for at, d, p in rows)
        return Operation("integral", "E_ic", ("φ(t)Δt", "ΠΦ_k"), terms, "t")
