"""A person's own graph, read from a folder of two or three files.

``nodes.csv``
    Columns ``id``, ``label`` (empty where the class is unknown), perhaps ``title``; every further
    column is a numeric feature.
``edges.csv``
    Columns ``source`` and ``target``, both ids of ``nodes.csv``; further columns are not used.
``features.npz``
    Instead of feature columns: a csr matrix from ``scipy.sparse.save_npz``, or one table called
    ``features`` from ``numpy.savez``; a row per row of ``nodes.csv``, in the same order.

The csv files are UTF-8 (a byte order mark and CRLF are fine), separated by commas, and may quote
cells. Ids, labels and titles are text: ``007``, ``NA`` and ``null`` stay what they are. Only white
space around a cell is removed, because nobody sees that ``"A "`` is a second class. Links have no
direction: repetitions and self-loops are dropped and counted in the graph's notes.

The files may come from anybody. Whatever they hold, the outcome is a graph or a ``BupError``.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path

from bup.datasets.folder.reading import load
from bup.datasets.graph_source import GraphSource

__all__ = ["SOURCE", "load"]

PREFIX = "folder:"


def _named_folders() -> list[str]:
    """The folders that whoever started the server named: no visitor may ask for another one."""
    folders = os.environ.get("BUP_FOLDERS", "").split(os.pathsep)
    return [PREFIX + folder for folder in folders if folder]


def _stamp(name: str) -> Hashable:
    """When each file was last written, and its size."""
    try:
        with os.scandir(name.removeprefix(PREFIX)) as entries:
            found = [(entry.name, entry.stat()) for entry in entries]
        return tuple(sorted((name, s.st_mtime_ns, s.st_size, s.st_ino) for name, s in found))
    except (OSError, ValueError):  # loading it says what is wrong
        return None


SOURCE = GraphSource(
    name=f"{PREFIX}PATH",
    title="Your own graph: edges.csv and nodes.csv in a folder",
    load=lambda name: load(name.removeprefix(PREFIX)),
    matches=lambda name: name.startswith(PREFIX) and name != PREFIX,
    label=lambda name: Path(name.removeprefix(PREFIX)).name,
    data="yours",
    list_names=_named_folders,
    stamp=_stamp,
)
