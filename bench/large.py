"""Graphs of 10^5 and 10^6 nodes: loading a folder, drawing, what a browser is sent, training.

Each size in a process of its own, so that its memory is its own; seconds are of the processor, so
that a busy machine counts for less.
"""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

import bup
from bup import runs
from bup.datasets.folder import load
from bup.graph import Graph
from bup.methods import complete
from bup.results import node_table
from bup.spec import Spec
from dashboard.components import map_data
from dashboard.components.excerpts import excerpt
from dashboard.layouts.arranging import arrange

SIZES = (100_000, 1_000_000)
T = TypeVar("T")


def run() -> None:
    for nodes in SIZES:
        subprocess.run([sys.executable, "-m", "bench.large", str(nodes)], check=True)


def measure(nodes: int) -> None:
    graph = bup.load_graph(f"synthetic:nodes={nodes},mean_degree=6,words=200")
    print(f"{graph.num_nodes:,} nodes, {graph.num_edges:,} links")
    with tempfile.TemporaryDirectory() as folder:
        write_folder(graph, Path(folder))
        plain = lap("pandas and SciPy read its files", lambda: read_plainly(Path(folder)))
        loaded = lap("a folder is loaded", lambda: load(folder))
        print(f"  {'':38} {loaded[1] / plain[1]:8.2f} times as long")
    started, first = time.process_time(), []

    def tell(share: float, draft: np.ndarray | None) -> None:
        if draft is not None:
            first.append(time.process_time() - started)

    steps, _ = lap("it is drawn", lambda: arrange(graph.num_nodes, graph.edges, tell))
    print(f"  {'of which until a first picture':38} {first[0]:8.2f} s")
    tenth = nodes // (10 * graph.num_classes)
    spec = Spec(graph.name, "gcn", per_class=tenth, settings=(("epochs", 10),))
    result, _ = lap(
        "ten epochs of a GCN, a tenth labelled", lambda: runs.fit_specs(graph, [complete(spec)])[0]
    )
    table, _ = lap("its table of nodes", lambda: node_table(result, graph))
    places = steps.astype(np.float32) / 32767
    shown = np.ones(nodes, dtype=bool)

    def sent(window: tuple[float, float, float, float] | None) -> int:
        part = excerpt(graph, places, window)
        parcels = (
            map_data.graph_parcel(graph, places, part),
            map_data.layer_parcel(table, "confidence", graph.class_names, shown, part),
        )
        return sum(len(gzip.compress(parcel.content, 6)) for parcel in parcels)

    whole, _ = lap("the whole map is packed", lambda: sent(None))
    near, _ = lap("a part of it", lambda: sent((-0.05, -0.05, 0.05, 0.05)))
    print(f"  bytes to the browser: {whole:,} ({whole / nodes:.1f} per node), a part {near:,}")


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
