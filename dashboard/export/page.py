"""The exported file: all data inside, compressed; its policy forbids all requests."""

import base64
import datetime
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from bup.errors import BupError
from bup.graph import Graph
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.map import STYLE as MAP_STYLE
from dashboard.components.map.excerpts import MOST_LINKS
from dashboard.components.map.map_data import MOST_NAMES
from dashboard.components.shared.modules import bundle
from dashboard.export.document import Kind, document
from dashboard.export.files import compressed
from dashboard.figures import card, class_tables

MOST_RUNS = 6
PAGE_LIMITS, SITE_LIMITS = (MOST_NAMES, MOST_LINKS), (200_000, 2_000_000)
"""The most nodes and links of a graph that fits into a file, and into a site."""

_HERE = Path(__file__).parent
# Plotly compiles functions that draw its points, and saves charts as images.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def fits(graph: Graph, limits: tuple[int, int]) -> bool:
    return graph.num_nodes <= limits[0] and graph.num_edges <= limits[1]


def refusal(graph: Graph, runs: int, site: bool = False) -> str:
    """Why no page, or page of a site, can hold so many runs on this graph; empty if it can."""
    if not fits(graph, limits := SITE_LIMITS if site else PAGE_LIMITS):
        instead = "" if site or not fits(graph, SITE_LIMITS) else ", or use 'bup export --site'"
        return (
            f"a page holds a graph of at most {limits[0]:,} nodes and {limits[1]:,} links, and "
            f"{graph.name} has {graph.num_nodes:,} and {graph.num_edges:,}: "
            f"choose a smaller graph{instead}"
        )
    if runs > MOST_RUNS:
        return f"a page holds at most {MOST_RUNS} runs, got {runs}: choose fewer"
    return ""


def check_runs(runs: Sequence[LoadedRun], site: bool = False) -> None:
    if len({one.run for one in runs}) < len(runs):
        raise BupError("a run is asked for twice: give each of them once")
    if why := refusal(runs[0].graph, len(runs), site):
        raise BupError(why)


def page(runs: Sequence[LoadedRun], made: datetime.date | None = None, kind: Kind = "file") -> str:
    """The page of some runs on one graph; it opens on the first run."""
    check_runs(runs)
    about = document(runs, made or datetime.date.today(), kind)
    plotly = "" if kind == "cell" else _plotly()
    texts = {"document": _base64(json.dumps(about, allow_nan=False)), "plotly": plotly}
    return _filled(about, "".join(_data(name, text) for name, text in texts.items()), _POLICY)


def site_page(about: Mapping[str, Any], document: str, plotly: str) -> str:
    """The page of a document that is in a file, as plotly.js is: paths from the page."""
    data = _data("document", file=document) + _data("plotly", file=plotly)
    return _filled(about, data, f"{_POLICY}; connect-src 'self'")


def _data(name: str, text: str = "", file: str = "") -> str:
    where = f' data-file="{file}"' if file else ""
    return f'<script type="text/plain" id="{name}"{where}>{text}</script>\n'


def _filled(about: Mapping[str, Any], data: str, policy: str) -> str:
    return Template(_source("page.html")).substitute(
        policy=html.escape(policy),
        title=html.escape(about["title"]),
        style="\n".join([_source("page.css"), class_tables.STYLE, card.STYLE, MAP_STYLE]),
        data=data,
        script=bundle(_HERE / "page.js"),
    )


@cache
def _plotly() -> str:
    """The library of the installed plotly package."""
    return _base64(get_plotlyjs())


def _base64(text: str) -> str:
    """Compressed, as base64: so no text of the data can end the script element."""
    return base64.b64encode(compressed(text)).decode()


def _source(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
