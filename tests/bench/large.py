"""Graphs of 10^5 and 10^6 nodes: a folder, drawing, training, what a browser is sent, every page.

Each size in a process of its own, so that its memory is its own; seconds are of the processor, so
that a busy machine counts for less. Those of the pages are of a visitor who waits.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

import bup
from bup.graph import Graph
from bup.methods import complete
from bup.results.result import Result, evaluate, node_table
from bup.run.spec import Spec
from bup.training import fitting
from dashboard.components.map import map_data
from dashboard.components.map.excerpts import excerpt
from dashboard.layouts.arrangement import arrange
from dashboard.pages import PAGES
from dashboard.session import run_link
from tests.bench.load import memory, server
from tests.bench.visitor import Visitor
from tests.support import ROOT

EPOCHS = 5
SIZES = (100_000, 1_000_000)
T = TypeVar("T")


def run() -> None:
    for nodes in SIZES:
        subprocess.run([sys.executable, "-m", "tests.bench.large", str(nodes)], check=True)


def measure(nodes: int) -> None:
    drawn = bup.load_graph(f"synthetic:nodes={nodes},mean_degree=6,words=200")
    print(f"{drawn.num_nodes:,} nodes, {drawn.num_edges:,} links")
    with tempfile.TemporaryDirectory() as place:
        os.environ["BUP_CACHE"] = place
        folder = Path(place) / "large"
        folder.mkdir()
        write_folder(drawn, folder)
        plain = lap("pandas and SciPy read its files", lambda: read_plainly(folder))
        graph, seconds = lap("a folder is loaded", lambda: bup.load_graph(f"folder:{folder}"))
        print(f"  {'':38} {seconds / plain[1]:8.2f} times as long")
        places = draw(graph)
        # A tenth labelled. The rule costs what it costs; how long it learns is up to the visitor.
        first = run_link.default_spec(graph)
        tenth = nodes // (10 * graph.num_classes)
        few = dict(first.settings) | {"epochs": EPOCHS}
        doubt = replace(first, per_class=tenth, settings=tuple(few.items()))
        gcn = complete(replace(doubt, method="gcn", settings=()))
        for spec in (gcn, doubt):
            result, _ = lap(f"{EPOCHS} epochs of {spec.method}", partial(fitted, graph, spec))
        table, _ = lap("its table of nodes", lambda: node_table(result, graph))
        lap("its evaluation", lambda: evaluate(result, graph))
        shipped(graph, table, places)
        pages(folder, run_link.query(doubt, graph))


def draw(graph: Graph) -> np.ndarray:
    started, first = time.process_time(), []

    def tell(share: float, draft: np.ndarray | None) -> None:
        if draft is not None:
            first.append(time.process_time() - started)

    steps, _ = lap("it is drawn", lambda: arrange(graph.num_nodes, graph.edges, tell))
    print(f"  {'of which until a first picture':38} {first[0]:8.2f} s")
    return steps.astype(np.float32) / 32767


def fitted(graph: Graph, spec: Spec) -> Result:
    result = fitting.fit_specs(graph, [spec])[0]
    fitting.save(result, graph)
    return result


def shipped(graph: Graph, table: pd.DataFrame, places: np.ndarray) -> None:
    shown = np.ones(graph.num_nodes, dtype=bool)

    def sent(window: tuple[float, float, float, float] | None) -> int:
        part = excerpt(graph, places, window)
        parcels = (
            map_data.graph_parcel(graph, places, part),
            map_data.layer_parcel(table, "confidence", graph.class_names, shown, part),
        )
        return sum(len(gzip.compress(parcel.content, 6)) for parcel in parcels)

    whole, _ = lap("the whole map is packed", lambda: sent(None))
    near, _ = lap("a part of it", lambda: sent((-0.05, -0.05, 0.05, 0.05)))
    per_node = whole / graph.num_nodes
    print(f"  bytes to the browser: {whole:,} ({per_node:.1f} per node), a part {near:,}")


def pages(folder: Path, query: str) -> None:
    """Every page of the run, opened by somebody who was never here, and then once more."""

    async def visit(url: str, page: str) -> Visitor:
        async with Visitor(url) as visitor:
            await visitor.open(page, query)
            return visitor

    with server(ROOT, ["--folder", str(folder)]) as (url, pid):
        for page in (page.address for page in PAGES if page.needs_run):
            seconds = []
            for _ in range(2):
                start = time.perf_counter()
                visitor = asyncio.run(visit(url, page))
                seconds.append(time.perf_counter() - start)
            print(
                f"  {page:38} {seconds[0]:8.2f} s, then {seconds[1]:.2f} s, "
                f"{visitor.said / 1000:.0f} kB, server {memory(pid) / 1000:.2f} GB",
                flush=True,
            )


def lap(what: str, do: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and how many seconds it took; says so, with the most memory used so far."""
    start = time.process_time()
    found = do()
    seconds = time.process_time() - start
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {what:38} {seconds:8.2f} s, {most:.2f} GiB", flush=True)
    return found, seconds


def write_folder(graph: Graph, folder: Path) -> None:
    names = np.array(graph.class_names)[graph.labels]
    ids = np.char.add("n", np.arange(graph.num_nodes).astype(str))
    pd.DataFrame({"id": ids, "label": names}).to_csv(folder / "nodes.csv", index=False)
    source, target = ids[graph.edges]
    pd.DataFrame({"source": source, "target": target}).to_csv(folder / "edges.csv", index=False)
    sparse.save_npz(folder / "features.npz", sparse.csr_matrix(graph.features))


def read_plainly(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, sparse.csr_matrix]:
    nodes, edges = (pd.read_csv(folder / f"{name}.csv", dtype=str) for name in ("nodes", "edges"))
    return nodes, edges, sparse.load_npz(folder / "features.npz")


if __name__ == "__main__":
    measure(int(sys.argv[1]))
