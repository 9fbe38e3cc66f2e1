"""A chart as pages and exported files show it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bup.metrics import METRICS
from dashboard.components.chart import ChartFigure, Mark
from dashboard.session.view import View

COLUMNS = ("true", "predicted", "confidence")


@dataclass(frozen=True, eq=False)
class NodeList:
    """Nodes in the order in which to show them, and what they have in common."""

    title: str  # after "12 papers"
    nodes: np.ndarray
    columns: Sequence[str] = COLUMNS


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure whose points carry nodes, or the numbers of ``lists``."""

    key: str
    title: str
    figure: ChartFigure
    caption: str
    lists: Mapping[int, NodeList] | None = None
    marks: Sequence[Mark] = ()
    settings: Hashable = None  # under other settings the same number is another list


def nodes_by(values: np.ndarray, nodes: np.ndarray) -> dict[int, np.ndarray]:
    """The nodes of each value, ``values`` [m] being those of ``nodes`` [m], in their order."""
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True)
    parts = np.split(nodes[order], starts[1:])
    return dict(zip(distinct.tolist(), parts, strict=True)) if len(nodes) else {}


def metric_texts(view: View, values: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Name, value and meaning of each metric, from values by the keys of metrics."""
    return [
        (
            metric.short,
            f"{value:.1%}" if metric.percent else f"{value:.3f}",
            view.say(metric.meaning),
        )
        for metric, value in ((METRICS[key], value) for key, value in values.items())
    ]
