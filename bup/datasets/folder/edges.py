"""The file of links."""

from __future__ import annotations

from array import array

import numpy as np

from bup.datasets.folder import limits
from bup.datasets.folder.files import EDGES, NODES
from bup.datasets.folder.table import read_table
from bup.errors import BupError
from bup.graph import simple_edges
from bup.io.quoting import quote, quote_all


def read_edges(folder: str, ids: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Edges as ``Graph`` wants them, and what was dropped on the way."""
    index = {node_id: i for i, node_id in enumerate(ids)}
    columns, rows = read_table(folder, EDGES, ("source", "target"), limits.MAX_EDGES)
    positions = [(columns.index(name), name) for name in ("source", "target")]
    ends = array("q")
    for line, cells in rows:
        for position, name in positions:
            node_id = cells[position].strip()
            node = index.get(node_id)
            if node is None:
                raise BupError(
                    f"{EDGES}, line {line}, column {name!r}: {quote(node_id)} is not an id in "
                    f"{NODES}: add that node, or delete this line"
                )
            ends.append(node)
    sources, targets = np.frombuffer(ends, np.int64).reshape(-1, 2).T
    edges = simple_edges(sources, targets)
    loops = int((sources == targets).sum())
    repeated = len(sources) - loops - edges.shape[1]
    if edges.shape[1] == 0:
        raise BupError(
            f"{EDGES}: all {loops} rows link a node to itself: give a link between two nodes"
        )
    notes = []
    if loops:
        notes.append(f"{EDGES}: {loops:,} of {len(sources):,} rows link a node to itself; dropped.")
    if repeated:
        notes.append(
            f"{EDGES}: {repeated:,} of {len(sources):,} rows repeat a link, in the same or the "
            "other direction; each link is kept once."
        )
    unused = [name for name in columns if name not in ("source", "target")]
    if unused:
        notes.append(f"{EDGES}: columns that are not used: {quote_all(unused)}.")
    return edges, tuple(notes)
