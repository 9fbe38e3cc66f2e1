"""The file itself: everything inside, compressed, behind a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import datetime
import html
import json
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from bup.errors import BupError
from bup.graph import Graph
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.map import STYLE as MAP_STYLE
from dashboard.components.map.excerpts import MOST_LINKS
from dashboard.components.map.map_data import MOST_NAMES
from dashboard.components.shared.modules import bundle
from dashboard.export.document import document
from dashboard.figures import card, class_tables

MOST_NODES, MOST_RUNS = MOST_NAMES, 6
LIMITS = f"{MOST_NODES:,} nodes and {MOST_LINKS:,} links"
"""The largest graph whose map fits into a page with all that is said of its nodes."""

_HERE = Path(__file__).parent
# Plotly compiles what draws its points; images are what one saves of a chart.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def refusal(graph: Graph, runs: int) -> str:
    """Why there can be no page of so many runs on this graph; nothing if there can."""
    if graph.num_nodes > MOST_NODES or graph.num_edges > MOST_LINKS:
        return (
            f"a page holds a graph of at most {LIMITS}, and {graph.name} has "
            f"{graph.num_nodes:,} and {graph.num_edges:,}: choose a smaller graph"
        )
    if runs > MOST_RUNS:
        return f"a page holds at most {MOST_RUNS} runs, got {runs}: choose fewer"
    return ""


def page(runs: Sequence[LoadedRun], made: datetime.date | None = None) -> str:
    """The page of some runs on one graph, the first of them shown first."""
    graph = runs[0].graph
    if len({one.run for one in runs}) < len(runs):
        raise BupError("a run is asked for twice: give each of them once")
    if why := refusal(graph, len(runs)):
        raise BupError(why)
    about = document(runs, made or datetime.date.today())
    return Template(_source("page.html")).substitute(
        policy=html.escape(_POLICY),
        title=html.escape(about["title"]),
        style="\n".join([_source("page.css"), class_tables.STYLE, card.STYLE, MAP_STYLE]),
        document=_squeezed(json.dumps(about, allow_nan=False)),
        plotly=_plotly(),
        script=bundle(_HERE / "page.js"),
    )


@cache
def _plotly() -> str:
    """The package's own copy: none of it is ours to keep."""
    return _squeezed(get_plotlyjs())


def _squeezed(text: str) -> str:
    """As base64, in which no text from the data can end a script."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _source(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
