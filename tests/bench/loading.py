"""Loading a graph from a warm cache, against NumPy reading the same arrays from an npz file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import bup
from tests.bench.timing import interleaved, report


def run() -> None:
    for name in ("cora", "citeseer", "pubmed"):
        graph = bup.load_graph(name)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "arrays.npz"
            np.savez(
                path,
                indptr=graph.features.indptr,
                indices=graph.features.indices,
                data=graph.features.data,
                edges=graph.edges,
                labels=graph.labels,
            )

            def read_npz(path: Path = path) -> None:
                with np.load(path, allow_pickle=False) as arrays:
                    for key in arrays.files:
                        arrays[key]

            seconds = interleaved(
                {"numpy npz": read_npz, "bup.load_graph": lambda name=name: bup.load_graph(name)},
                repeats=15,
            )
        report(name, seconds, peer="numpy npz")
