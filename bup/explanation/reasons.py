"""Why a model gives its answer: what every node and every word within reach contributes to it.

BUP's mean and a GCN's output are K relu(K X W_1) W_2: piecewise linear in the words X, without
biases. The gradient times the input, summed over all words of all nodes within two links, is
therefore exactly the output. The gap of two classes is the output of the one minus that of the
other, and the contributions to it say which nodes and words speak for the answer. Of networks with
other parts, the same rule leaves a remainder.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bup.engine.receptive_field import Inputs
from bup.errors import BupError
from bup.explanation.inspection import Inspector
from bup.graph import Graph
from bup.io import plugins
from bup.io.lazy import pandas, sparse, torch
from bup.methods import METHODS, find
from bup.methods.base import Differentiable, TwoLayers
from bup.results.result import Result
from bup.run.splits import class_of

if TYPE_CHECKING:
    import pandas as pd


Places = list[int] | np.ndarray


class Contributions:
    """What nodes contribute to the gap between two classes, summed over one node or a group.

    A positive contribution speaks for the answer, a negative one for the rival. The contributions
    and the remainder sum to the gap.
    """

    graph: Graph
    result: Result
    gap: float
    nodes: np.ndarray  # [k]
    contributions: np.ndarray  # [k]

    @cached_property
    def told(self) -> np.ndarray:
        """Mask [k] of the nodes whose class the model was told in training."""
        return np.isin(self.nodes, self.result.split.train)

    @property
    def support(self) -> float:
        """All that speaks for the answer: the sum of the positive contributions."""
        return float(self.contributions[self.contributions > 0].sum())

    def share(self, of: np.ndarray) -> float:
        """The share of all support that comes from some of the nodes, given as a mask [k]."""
        positive = self.contributions[of & (self.contributions > 0)]
        return float(positive.sum()) / (self.support or 1)

    @property
    def remainder(self) -> float:
        """What of the gap is no sum over words: 0 but for rounding where nothing is."""
        return self.gap - float(self.contributions.sum())

    @property
    def remainder_name(self) -> str:
        """What the remainder comes from; empty where nothing remains."""
        return remainder_of(self.result)

    def figure(self) -> Any:
        """The contributions as a Plotly figure, for notebooks."""
        return plugins.load(plugins.PUBLIC, "figures").reasons(self)

    @property
    def told_share(self) -> float:
        """The share of all support that comes from nodes whose class the model was told."""
        return float(self.contributions[self.told].clip(min=0).sum() / (self.support or 1))

    def _node_columns(self) -> dict[str, Any]:
        graph, names = self.graph, np.array([*self.graph.class_names, ""])
        columns: dict[str, Any] = {"id": [graph.node_id(n) for n in self.nodes]}
        if graph.titles is not None:
            columns["title"] = [graph.titles[n] for n in self.nodes]
        return columns | {"class": names[graph.labels[self.nodes]], "told": self.told}


@dataclass(frozen=True, eq=False)
class Reasons(Contributions):
    """What the nodes within reach contribute to the answer for one node.

    Nodes are sorted by the size of their contribution, links by what they carry: all that comes
    over a link, so a contribution from two links away is carried by both of them.
    """

    graph: Graph
    result: Result
    node: int
    answer: int  # a column of the model's classes
    rival: int
    gap: float
    nodes: np.ndarray
    contributions: np.ndarray
    through: np.ndarray  # [k] the neighbour through which most of it came; -1: unknown
    words: sparse.csr_array  # [k, f] what each feature of these nodes contributes
    links: np.ndarray  # [links, 2]
    link_contributions: np.ndarray  # [links]

    @property
    def answer_name(self) -> str:
        return class_name(self.result, self.graph, self.answer)

    @property
    def rival_name(self) -> str:
        return class_name(self.result, self.graph, self.rival)

    @cached_property
    def links_away(self) -> np.ndarray:
        """How many links [k] each node is away: 0, 1, or 2 for everything further."""
        away = np.full(len(self.nodes), 2)
        away[np.isin(self.nodes, self.graph.neighbours(self.node))] = 1
        away[self.nodes == self.node] = 0
        return away

    def contribution(self, node: int) -> float:
        """The contribution of a node; 0 if it is out of reach."""
        return float(self.contributions[self.nodes == node].sum())

    def strongest_words(self, node: int, most: int = 5) -> list[tuple[str, float]]:
        """The words of a node that contribute most either way, with their contributions."""
        row = self.words[np.flatnonzero(self.nodes == node)].sum(axis=0)
        order = np.argsort(-np.abs(row), kind="stable")[:most]
        return [(word_name(self.graph, w), float(row[w])) for w in order if row[w]]

    def table(self) -> pd.DataFrame:
        """One row per node: ``id``, ``title``, ``class``, ``told``, ``links_away``, ``through``,
        ``contribution`` and, where the graph has words, the strongest ``words``.
        """
        id_of = self.graph.node_id
        columns = self._node_columns() | {
            "links_away": self.links_away,
            "through": [id_of(n) if n >= 0 else "" for n in self.through],
            "contribution": self.contributions,
        }
        if self.graph.words is not None:
            strongest = (self.strongest_words(node) for node in self.nodes)
            columns["words"] = [", ".join(word for word, _ in words) for words in strongest]
        return pandas.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class GroupReasons(Contributions):
    """What led the nodes of a group to their answers; the strongest supporters come first."""

    graph: Graph
    result: Result
    members: np.ndarray
    gap: float  # of all members together
    nodes: np.ndarray
    contributions: np.ndarray
    words: np.ndarray  # [f] what each feature contributes, over all nodes
    own: np.ndarray | None  # [k] what each node contributes to its own answer
    supported: np.ndarray | None  # [k] how many members' answers each node speaks for
    # Both are None for networks whose members cannot be told apart without minutes of work.

    @cached_property
    def is_member(self) -> np.ndarray:
        """Mask [k] of the nodes that belong to the group."""
        return np.isin(self.nodes, self.members)

    def strongest_words(self, most: int = 5) -> list[tuple[str, float]]:
        """The words that contribute most, with their shares of what all words contribute."""
        order = np.argsort(-self.words, kind="stable")[:most]
        shares = self.words / (self.words[self.words > 0].sum() or 1)
        return [(word_name(self.graph, w), float(shares[w])) for w in order if shares[w] > 0]

    def misleading(self, most: int = 5) -> np.ndarray:
        """The nodes that contribute most to the answers for others than themselves."""
        values = self.contributions - (0 if self.own is None else self.own)
        order = np.argsort(-values, kind="stable")[:most]
        return self.nodes[order[values[order] > 0]]

    def table(self) -> pd.DataFrame:
        """One row per node: ``id``, ``title``, ``class``, ``told``, ``member`` of the group, how
        many members it ``supports`` if known, ``contribution``, its ``share`` of all support.
        """
        columns = self._node_columns() | {"member": self.is_member}
        if self.supported is not None:
            columns["supports"] = self.supported
        columns |= {
            "contribution": self.contributions,
            "share": self.contributions / (self.support or 1),
        }
        return pandas.DataFrame(columns)


class _Gradient(NamedTuple):
    """How the gap at one node changes with the words that its network reads."""

    sources: np.ndarray  # [k] the nodes whose words are read
    slopes: np.ndarray  # [k, h] by X W_1, or by X where the network reads X itself
    inner: np.ndarray = np.empty(0, dtype=np.int64)
    paths: sparse.csr_array | None = None  # [inner, k] contribution of sources through neighbours


class Reasoner:
    """Gives the reasons of one run's answers; what all of them share is computed once.

    Raises ``BupError`` for runs of methods that cannot, and for runs stored without their weights.
    """

    def __init__(self, graph: Graph, result: Result, inspector: Inspector | None = None) -> None:
        self.graph, self.result = result.check_graph(graph), result
        self.inspector = inspector or Inspector(graph, result)
        self.layers: TwoLayers | None = None
        if why := why_no_reasons(result):
            raise BupError(why)
        if (layers := self.inspector.explains.layers) is not None:
            self.layers = layers(result)
            _check_shapes(self.layers, graph, result)

    @property
    def is_fast(self) -> bool:
        """Whether reasons take milliseconds: they are read off the weights, without gradients."""
        return self.layers is not None

    def explain(self, node: int | str, against: int | str | None = None) -> Reasons:
        """Why the model prefers its answer for a node to another class.

        ``against`` is a class by number or name; by default the true class where the answer is
        wrong and the model knows that class, else the runner-up.
        """
        node = self.graph.index(node)
        answer, rival = self._answer_and_rival(node, against)
        gradient = self._gradient(node, answer, rival)
        sources = gradient.sources
        words = self._of_words(gradient)
        values = self._of_nodes(gradient)
        order = np.argsort(-np.abs(values), kind="stable")
        links, carried = self._links(node, gradient, values)
        return Reasons(
            graph=self.graph,
            result=self.result,
            node=node,
            answer=answer,
            rival=rival,
            gap=self._gap([node], [answer], [rival], values),
            nodes=sources[order],
            contributions=values[order],
            through=self._through(node, gradient)[order],
            words=words[order],
            links=links,
            link_contributions=carried,
        )

    def explain_group(self, nodes: Iterable[int]) -> GroupReasons:
        """What led the nodes of a group to their answers, each against its usual rival."""
        members = np.unique(np.fromiter(nodes, np.int64))
        if not len(members):
            raise BupError("a group has at least one node, got none")
        answers, rivals = np.array([self._answer_and_rival(n) for n in members.tolist()]).T
        own = supported = None
        if self.layers is None:
            slopes = self._slopes(members, answers, rivals)
        else:
            slopes = np.zeros(self.projected.shape)
            own, supported = np.zeros(len(slopes)), np.zeros(len(slopes), dtype=np.int64)
            for node, answer, rival in zip(members, answers, rivals, strict=True):
                gradient = self._gradient_of_layers(self.layers, node, answer, rival)
                values = self._of_nodes(gradient)
                slopes[gradient.sources] += gradient.slopes
                supported[gradient.sources] += values > 0
                own[node] = values[gradient.sources == node].sum()
        total = (self.projected * slopes).sum(axis=1)
        order = np.argsort(-total, kind="stable")
        order = order[total[order] != 0]
        if self.first is None:
            words = np.asarray(self.features.multiply(slopes).sum(axis=0)).ravel()
        else:
            words = ((self.features.T @ slopes) * self.first).sum(axis=1)
        return GroupReasons(
            graph=self.graph,
            result=self.result,
            members=members,
            gap=self._gap(members, answers, rivals, total),
            nodes=order,
            contributions=total[order],
            words=words,
            own=None if own is None else own[order],
            supported=None if supported is None else supported[order],
        )

    @cached_property
    def inputs(self) -> Inputs:
        inputs = self.inspector.inputs
        return inputs if self.layers is None or self.layers.reads_links else inputs.unlinked()

    def network_on(self, graph: Graph, inputs: Inputs) -> Differentiable:
        """The network of the run on a graph, for methods that are not two layers."""
        if self.result.model is not None:
            from bup.training.torch_model import network

            return network(self.result.model, graph)
        make = self.inspector.explains.network
        assert make is not None
        return make(self.result, graph, inputs)

    @cached_property
    def first(self) -> np.ndarray | None:
        """W_1 [f, members * hidden]; None for a network that reads the features themselves."""
        if self.layers is not None:
            return np.concatenate(list(self.layers.first.astype(np.float64)), axis=1)
        first = self._network.first
        return None if first is None else first.astype(np.float64)

    @cached_property
    def features(self) -> sparse.csr_array:
        """X, as the network reads it."""
        given = None if self.layers is not None else self._network.features
        return self.inputs.words if given is None else given

    @cached_property
    def projected(self) -> np.ndarray:
        """X W_1 of all nodes, or X."""
        return self.features.toarray() if self.first is None else self.features @ self.first

    @cached_property
    def _network(self) -> Differentiable:
        return self.network_on(self.graph, self.inputs)

    def _gradient(self, node: int, answer: int, rival: int) -> _Gradient:
        if self.layers is not None:
            return self._gradient_of_layers(self.layers, node, answer, rival)
        slopes = self._slopes([node], [answer], [rival])
        sources = np.union1d(np.flatnonzero(slopes.any(axis=1)), [node])
        return _Gradient(sources, slopes[sources])

    def _slopes(self, nodes: Places, answers: Places, rivals: Places) -> np.ndarray:
        """How the sum of some gaps changes with X W_1, or X, of all nodes, by autograd."""
        given = torch.from_numpy(self.projected.astype(np.float32)).requires_grad_(True)
        outputs = self._network.outputs(given)
        gaps = outputs[nodes, answers] - outputs[nodes, rivals]
        (slopes,) = torch.autograd.grad(gaps.sum(), given)
        return slopes.double().numpy()

    def _gradient_of_layers(
        self, layers: TwoLayers, node: int, answer: int, rival: int
    ) -> _Gradient:
        """Computed from the node's receptive field only."""
        target = layers.second[:, :, answer].astype(np.float64) - layers.second[:, :, rival]
        row = self.inputs.kernel[[node]]
        sources, kernel = self.inputs.rows(row.indices)
        projected = self._project(sources)
        active = kernel @ projected > 0  # [inner, h]
        slopes = row.data[:, None] * active * (target.ravel() / len(layers.first))
        entries = kernel.tocoo()
        rows, columns = entries.coords
        carried = entries.data * (projected[columns] * slopes[rows]).sum(axis=1)
        paths = sparse.csr_array((carried, (rows, columns)), shape=kernel.shape)
        return _Gradient(sources, kernel.T @ slopes, row.indices, paths)

    def _project(self, nodes: np.ndarray) -> np.ndarray:
        """X W_1 of some nodes; of all only once it has been asked for."""
        if "projected" in self.__dict__ or self.layers is None:
            return self.projected[nodes]
        return self.features[nodes] @ self.first

    def _of_nodes(self, gradient: _Gradient) -> np.ndarray:
        """The contribution [k] of every source."""
        return (self._project(gradient.sources) * gradient.slopes).sum(axis=1)

    def _of_words(self, gradient: _Gradient) -> sparse.csr_array:
        """The contribution [k, f] of every word of every source."""
        entries = self.features[gradient.sources].tocoo()
        rows, columns = entries.coords
        if self.first is None:
            slopes = gradient.slopes[rows, columns]
        else:
            slopes = (gradient.slopes[rows] * self.first[columns]).sum(axis=1)
        return sparse.csr_array((entries.data * slopes, (rows, columns)), shape=entries.shape)

    def _gap(self, nodes: Places, answers: Places, rivals: Places, values: np.ndarray) -> float:
        """The sum of the gaps of outputs, or of the logarithms of averaged probabilities."""
        if not remainder_of(self.result):
            return float(values.sum())
        rows = self.result.probs if self.result.mean is None else self.result.mean
        rows, each = rows[nodes].astype(np.float64), np.arange(len(nodes))
        if self.result.mean is None:
            rows = np.log(rows.clip(1e-30))
        return float((rows[each, answers] - rows[each, rivals]).sum())

    def _through(self, node: int, gradient: _Gradient) -> np.ndarray:
        """The neighbour [k] through which each source contributes most."""
        near = self.graph.neighbours(node)
        through = np.where(np.isin(gradient.sources, [node, *near]), gradient.sources, -1)
        if gradient.paths is None:
            return through
        entries = gradient.paths.tocoo()
        rows, columns = entries.coords
        order = np.argsort(np.abs(entries.data), kind="stable")
        strongest = np.zeros(len(through), dtype=np.int64)
        strongest[columns[order]] = gradient.inner[rows[order]]  # the last one is the largest
        return np.where(through < 0, strongest, through)

    def _links(
        self, node: int, gradient: _Gradient, values: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The links [links, 2] that contributions came over, and what each carries [links]."""
        if gradient.paths is None:
            near = self.graph.neighbours(node)
            pairs = np.stack([np.minimum(near, node), np.maximum(near, node)], axis=1)
            carried = np.array([values[gradient.sources == n].sum() for n in near])
        else:
            entries = gradient.paths.tocoo()
            rows, columns = entries.coords
            middle, source = gradient.inner[rows], gradient.sources[columns]
            last = np.sort(np.stack([np.full(len(middle), node), middle], axis=1), axis=1)
            first = np.sort(np.stack([middle, source], axis=1), axis=1)
            twice = (last == first).all(axis=1)  # from the node over a link and back
            pairs = np.concatenate([last, first[~twice]])
            each = np.concatenate([entries.data, entries.data[~twice]])
            real = pairs[:, 0] != pairs[:, 1]
            pairs, place = np.unique(pairs[real], axis=0, return_inverse=True)
            carried = np.bincount(place.ravel(), each[real], minlength=len(pairs))
        order = np.argsort(-np.abs(carried), kind="stable")
        return pairs[order], carried[order]

    def _answer_and_rival(self, node: int, against: int | str | None = None) -> tuple[int, int]:
        """The columns of the answer and of the class that it is compared with."""
        probs, classes = self.result.probs[node], self.result.split.classes
        order = np.argsort(-probs, kind="stable")
        answer, true = int(order[0]), int(self.graph.labels[node])
        if against is None:
            known = true in classes and classes.index(true) != answer
            return answer, classes.index(true) if known else int(order[1])
        number, names = class_of(self.graph, against), self.graph.class_names
        if number not in classes:
            raise BupError(
                f"the model was never shown {names[number]}: compare with one of "
                f"{', '.join(names[c] for c in classes)}"
            )
        if classes.index(number) == answer:
            raise BupError(f"the answer is {names[number]} itself: compare it with another class")
        return answer, classes.index(number)


def remainder_of(result: Result) -> str:
    """What of a run's outputs is no sum over words, as text; empty where nothing is."""
    if result.model is not None:
        return "biases and what is not linear"
    return find(result.spec.method).explains.remainder


def why_no_reasons(result: Result) -> str:
    """Why the answers of a run cannot be taken apart, as a sentence; empty where they can."""
    method = find(result.spec.method)
    if result.model is not None:
        return ""
    if method.is_imported:
        return (
            "These predictions came without their model, so nothing tells which nodes and words "
            "they rest on. Train your model with bup.fit(graph, model=...) to see its reasons."
        )
    if not method.explains.reasons:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.reasons)
        return f"The answers of {method.short} are no sum over words. Choose one of {able}."
    if not result.weights:
        return (
            "An earlier version stored this run without the weights of its network. Train it again "
            "to see its reasons."
        )
    return ""


def class_name(result: Result, graph: Graph, column: int) -> str:
    return graph.class_names[result.split.classes[column]]


def word_name(graph: Graph, word: int) -> str:
    return graph.words[word] if graph.words is not None else f"word {word}"


def _check_shapes(layers: TwoLayers, graph: Graph, result: Result) -> None:
    f, c = graph.num_features, len(result.split.classes)
    first, second = layers.first.shape, layers.second.shape
    if len(first) != 3 or first[1] != f or second != (first[0], first[2], c):
        raise BupError(
            f"the stored weights have the shapes {first} and {second}, which do not fit a graph of "
            f"{f:,} features and a run of {c} classes: train it again"
        )
