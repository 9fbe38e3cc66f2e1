"""A chart as pages and exported files show it."""

import tomllib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from bup.metrics import METRICS
from dashboard.components.chart import ChartFigure, Mark
from dashboard.session.view import View

_TEXTS = tomllib.loads((Path(__file__).parent / "charts.toml").read_text(encoding="utf-8"))
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
    caption: str
    figure: ChartFigure
    lists: Mapping[int, NodeList] | None
    marks: Sequence[Mark]
    settings: Hashable


def make_chart(
    view: View,
    key: str,
    figure: go.Figure | ChartFigure,
    lists: Mapping[int, NodeList] | None = None,
    marks: Sequence[Mark] = (),
    settings: Hashable = None,
    **values: object,
) -> Chart:
    """A chart with its title and its caption from charts.toml, filled with ``values``.

    ``settings`` are those that change what the numbers of ``lists`` stand for.
    """
    title, caption = (
        " ".join(view.say(_TEXTS[key][part]).split()).format(**values)
        for part in ("title", "caption")
    )
    drawing = figure if isinstance(figure, ChartFigure) else ChartFigure.of(figure)
    return Chart(key, title, caption, drawing, lists, marks, settings)


def nodes_by(values: np.ndarray, nodes: np.ndarray) -> dict[int, np.ndarray]:
    """The nodes of each value, ``values`` [m] being those of ``nodes`` [m], in their order."""
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True)
    parts = np.split(nodes[order], starts[1:])
    return dict(zip(distinct.tolist(), parts, strict=True)) if len(nodes) else {}


def metric_texts(view: View, values: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Name, value and meaning of each metric, from values by the keys of metrics."""
    texts = []
    for key, value in values.items():
        metric = METRICS[key]
        number = f"{value:.1%}" if metric.percent else f"{value:.3f}"
        texts.append((metric.short, number, view.say(metric.meaning)))
    return texts
