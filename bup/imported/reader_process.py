"""A process that reads what strangers dropped, within limits of memory, for a server that goes on.

It takes requests from its standard input and answers on its standard output, one after the other,
each with its length before it. They are packed files, see ``bup.io.files``: nothing is unpickled.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any

import numpy as np

from bup.datasets import uploads
from bup.datasets.uploads import limits
from bup.datasets.uploads.graph_tables import (
    ColumnChoice,
    TablePreview,
    make_graph,
    make_preview,
    read_tables,
)
from bup.errors import BupError
from bup.graph import Graph
from bup.io import files
from bup.io.files import Contents
from bup.io.memory import limit_memory, memory_peak
from bup.io.server_limits import server_limits

log = logging.getLogger(__name__)

LARGE = 600 * 2**20  # bytes that the process once had: another one starts afresh
IDLE = 600  # seconds after which a process that nobody needs ends
TOO_MUCH = (
    "reading this needs more memory than a visitor's files may take: give a smaller file, or put "
    "features into features.npz (scipy.sparse.save_npz)"
)


def request(task: str, contents: list[bytes], **values: Any) -> bytes:
    """What to send: files without their names, and plain values."""
    arrays = {str(i): np.frombuffer(content, np.uint8) for i, content in enumerate(contents)}
    return files.pack(arrays, {"task": task, **values})


def _graph(contents: list[bytes], values: dict[str, Any]) -> Contents:
    """A preview of dropped files and the graph that they probably are, or the graph of a choice."""
    draft = read_tables(zip(values["names"], contents, strict=True), values["separator"])
    if values["choice"] is not None:
        return Contents(
            _as_array(make_graph(draft, ColumnChoice.from_dict(values["choice"]), "own")), {}
        )
    preview = make_preview(draft, values["decimal"])
    try:
        arrays = _as_array(make_graph(draft, preview.guess, "own"))
    except BupError:  # said once somebody has seen what the columns are, and chosen
        arrays = {}
    return Contents(arrays, {"preview": dataclasses.asdict(preview)})


def _as_array(graph: Graph) -> dict[str, np.ndarray]:
    features = graph.features
    parts = [features] if isinstance(features, np.ndarray) else [features.data, features.indices]
    size, most = graph.edges.nbytes + sum(p.nbytes for p in parts), server_limits().graph_bytes
    if size > most:
        raise BupError(
            f"the graph takes {size / 1e6:,.0f} MB, more than {most / 1e6:,.0f} "
            "(BUP_GRAPH_BYTES): give fewer nodes or features"
        )
    return {"graph": np.frombuffer(uploads.pack(graph), np.uint8)}


def preview_from(answer: Contents) -> TablePreview:
    return TablePreview.from_dict(answer.values["preview"])


def graph_from(answer: Contents) -> Graph | None:
    if "graph" not in answer.arrays:
        return None
    return uploads.unpack("own", files.unpack(answer.arrays["graph"].tobytes()))


def _predictions(contents: list[bytes], values: dict[str, Any]) -> Contents:
    """Predictions for the graph that comes with them, without its features."""
    from bup.imported import predictions

    content, nodes = contents
    graph = uploads.unpack("own", files.unpack(nodes))
    return files.unpack(predictions.read(graph, values["name"], content).pack())


def without_features(graph: Graph) -> bytes:
    """What predictions are checked against: the nodes of a graph."""
    features, edges = np.zeros((graph.num_nodes, 1), np.float32), graph.edges[:, :1]
    return uploads.pack(dataclasses.replace(graph, features=features, edges=edges, words=None))


_TASKS: dict[str, Callable[[list[bytes], dict[str, Any]], Contents]] = {
    "graph": _graph,
    "predictions": _predictions,
}


def _answer(content: bytes) -> Contents:
    try:
        arrays, values = files.unpack(content)
        contents = [arrays[str(i)].tobytes() for i in range(len(arrays))]
        del arrays
        return _TASKS[values["task"]](contents, values)
    except BupError as error:
        return Contents({}, {"error": " ".join(str(error).split())})
    except MemoryError:
        return Contents({}, {"error": TOO_MUCH})
    except Exception as error:
        log.exception("files that were dropped cannot be read")
        what = f"these files cannot be read ({type(error).__name__}): save them again"
        return Contents({}, {"error": what})


def receive(source: IO[bytes]) -> bytes:
    """The next message; empty where there will be none."""
    length = source.read(8)
    content = source.read(int.from_bytes(length, "little"))
    return content if len(content) == int.from_bytes(length, "little") else b""


def send(target: IO[bytes], content: bytes) -> None:
    target.write(len(content).to_bytes(8, "little"))
    target.write(content)
    target.flush()


def serve() -> None:
    """The life of the process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    limit_memory(limits.READ_MB.value * limits.MEGABYTE)
    _warm_up()
    while memory_peak() < LARGE:
        patience = threading.Timer(IDLE, os._exit, [0])
        patience.daemon = True
        patience.start()
        content = receive(sys.stdin.buffer)
        patience.cancel()
        if not content:
            return
        send(answers, files.pack(*_answer(content)))


def _warm_up() -> None:
    """Import what reading needs before somebody waits for it."""
    for name in ("networkx", "sklearn.feature_extraction.text", "bup.predictions"):
        import_module(name)
