"""Runs as a folder of pages for any web host, which only hands out its files."""

from __future__ import annotations

import datetime
import html
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from bup.errors import BupError
from bup.graph import Graph
from dashboard import layouts
from dashboard.cache.run_cache import LoadedRun
from dashboard.export.document import document
from dashboard.export.files import write_data
from dashboard.export.missing_links import missing_links
from dashboard.export.page import check_runs, refusal, site_page
from dashboard.export.tiles import write_tiles

CHANGED, CHANGED_OF_LARGE = 500, 10
"""For how many nodes a page says what they were without a link: there, each takes seconds."""
_HERE = Path(__file__).parent
_OURS = 'content="BUP Explorer site"'


def check_folder(folder: Path) -> None:
    """Refuse a folder with files that are not those of an earlier site."""
    if not folder.absolute().parent.is_dir():
        raise BupError(f"there is no folder {folder.absolute().parent}: make it first")
    if folder.exists() and not folder.is_dir():
        raise BupError(f"{folder} is a file: choose another place with --site")
    index = folder / "index.html"
    ours = index.is_file() and _OURS in index.read_text(encoding="utf-8", errors="replace")
    if folder.exists() and any(folder.iterdir()) and not ours:
        raise BupError(f"{folder} has files of something else: choose a new folder with --site")


def write_site(
    folder: Path, graphs: Sequence[Sequence[LoadedRun]], changed: int | None = None
) -> int:
    """Write the runs of every graph, and an index; returns its bytes.

    Without which links the answer changes is computed for the ``changed`` least sure nodes of each
    run, by default for as many as take some minutes. An earlier site in the folder is replaced once
    the new one is whole.
    """
    made = datetime.date.today()
    with tempfile.TemporaryDirectory(dir=folder.absolute().parent) as name:
        new = Path(name) / "site"
        new.mkdir(mode=0o755)
        plotly = write_data(new, "plotly", get_plotlyjs()).name
        sections = []
        for runs in graphs:
            place = new / _slug(runs[0].graph, {path.name for path in new.iterdir()})
            about = _write_graph(place, runs, made, f"../{plotly}", changed)
            sections.append(_section(place.name, about))
        text = Template((_HERE / "site.html").read_text(encoding="utf-8")).substitute(
            title="Where models are unsure",
            graphs="\n".join(sections),
            made=f"{made:%d %B %Y}".lstrip("0"),
        )
        (new / "index.html").write_text(text, encoding="utf-8")
        size = sum(path.stat().st_size for path in new.rglob("*") if path.is_file())
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    return size


def _write_graph(
    place: Path, runs: Sequence[LoadedRun], made: datetime.date, plotly: str, changed: int | None
) -> dict[str, Any]:
    """The page of a graph, and its data."""
    check_runs(runs, site=True)
    graph = runs[0].graph
    small = not refusal(graph, len(runs))
    about = document(runs, made, "site" if small else "tiles")
    if changed is None:
        changed = CHANGED if small else CHANGED_OF_LARGE
    for run, shown in zip(runs, about["runs"], strict=True):
        shown["missing"] = missing_links(run, changed)
    place.mkdir()
    if not small:
        write_tiles(place, about, graph, layouts.positions(graph))
    data = write_data(place, "document", json.dumps(about, allow_nan=False))
    text = site_page(about, data.name, plotly)
    (place / "index.html").write_text(text, encoding="utf-8")
    return about


def _section(place: str, about: Mapping[str, Any]) -> str:
    runs = "".join(
        f'<li><a href="{place}/index.html#run={k}">{html.escape(run["label"])}</a>: '
        f"{html.escape(run['facts'])}</li>"
        for k, run in enumerate(about["runs"], 1)
    )
    name, size = html.escape(about["graph"]), html.escape(about["size"])
    head = f'<h2><a href="{place}/index.html">{name}</a></h2>'
    return f"<section>{head}<p>{size}</p><ul>{runs}</ul></section>"


def _slug(graph: Graph, taken: set[str]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", graph.name.lower()).strip("-")[:40] or "graph"
    return next(n for k in range(1, 1000) if (n := f"{name}-{k}" if k > 1 else name) not in taken)
