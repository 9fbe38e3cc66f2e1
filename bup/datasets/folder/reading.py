"""The files together as a graph."""

from __future__ import annotations

import os

from bup.datasets.folder.edges import read_edges
from bup.datasets.folder.features import read_features
from bup.datasets.folder.files import check_folder
from bup.datasets.folder.nodes import classes, read_nodes
from bup.errors import BupError
from bup.graph import Graph
from bup.graph.features import compact
from bup.io.quoting import quote


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph in the folder ``path``, named ``folder:<path>``."""
    folder = os.fspath(path)
    try:
        check_folder(folder)
        nodes = read_nodes(folder)
        labels, class_names = classes(nodes.labels)
        features = read_features(folder, nodes.ids) if nodes.features is None else nodes.features
        edges, notes = read_edges(folder, nodes.ids)
        return Graph(
            name=f"folder:{folder}",
            features=compact(features),
            edges=edges,
            labels=labels,
            class_names=class_names,
            ids=nodes.ids,
            titles=nodes.titles,
            notes=notes,
        )
    except OSError as error:
        where = quote(str(error.filename or folder), 200)
        reason = error.strerror or type(error).__name__
        raise BupError(f"cannot read {where} ({reason}): check that you may read it") from error
    except MemoryError as error:
        raise BupError(
            f"not enough memory for the graph in {quote(folder, 200)}: give a smaller graph"
        ) from error
