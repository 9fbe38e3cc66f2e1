"""A process that reads uploaded files for a server, with limited memory.

It takes requests from its standard input and answers on its standard output, one after the other,
each with its length before it. They are packed files (``bup.io.files``): nothing is unpickled.
"""

import dataclasses
import logging
import os
import sys
import threading
from importlib import import_module
from typing import IO, Any

import numpy as np

from bup.datasets.uploads.graph_tables import (
    ColumnChoice,
    TablePreview,
    make_graph,
    make_preview,
    read_tables,
)
from bup.errors import BupError
from bup.graph import Graph, storage
from bup.imported import predictions
from bup.io import files, limits
from bup.io.limits import server_limits
from bup.io.memory import limit_memory, memory_peak

log = logging.getLogger(__name__)

LARGE = 600 * 2**20  # bytes: a process that once had so many ends after its answer
IDLE = 600  # seconds without a request after which a process ends
TOO_MUCH = (
    "reading this needs more memory than a visitor's files may take: give a smaller file, or put "
    "features into features.npz (scipy.sparse.save_npz)"
)


def pack_request(task: str, contents: list[bytes], **values: Any) -> bytes:
    arrays = {str(i): np.frombuffer(content, np.uint8) for i, content in enumerate(contents)}
    return files.pack(arrays, {"task": task, **values})


def _read_graph(contents: list[bytes], values: dict[str, Any]) -> files.Contents:
    """The graph of a choice of columns; without a choice, a preview and the graph of the guess."""
    tables = read_tables(zip(values["names"], contents, strict=True), values["separator"])
    if values["choice"] is not None:
        choice = ColumnChoice.from_dict(values["choice"])
        return files.Contents(_as_array(make_graph(tables, choice, "own")), {})
    preview = make_preview(tables, values["decimal"])
    try:
        arrays = _as_array(make_graph(tables, preview.guess, "own"))
    except BupError:  # the visitor gets this error after having seen and chosen the columns
        arrays = {}
    return files.Contents(arrays, {"preview": dataclasses.asdict(preview)})


def _as_array(graph: Graph) -> dict[str, np.ndarray]:
    features = graph.features
    parts = [features] if isinstance(features, np.ndarray) else [features.data, features.indices]
    size, most = graph.edges.nbytes + sum(p.nbytes for p in parts), server_limits().graph_bytes
    if size > most:
        raise BupError(
            f"the graph takes {size / 1e6:,.0f} MB, more than {most / 1e6:,.0f} "
            "(BUP_GRAPH_BYTES): give fewer nodes or features"
        )
    return {"graph": np.frombuffer(storage.pack(graph), np.uint8)}


def preview_from(answer: files.Contents) -> TablePreview:
    preview = answer.values["preview"]
    return TablePreview(**preview | {"guess": ColumnChoice.from_dict(preview["guess"])})


def graph_from(answer: files.Contents) -> Graph | None:
    if "graph" not in answer.arrays:
        return None
    return storage.unpack("own", files.unpack(answer.arrays["graph"].tobytes()))


def _read_predictions(contents: list[bytes], values: dict[str, Any]) -> files.Contents:
    """Predictions for the graph that comes with them, without its features."""
    content, nodes = contents
    graph = storage.unpack("own", files.unpack(nodes))
    return files.unpack(predictions.read(graph, values["name"], content).pack())


def without_features(graph: Graph) -> bytes:
    """What predictions are checked against: the nodes of a graph."""
    features, edges = np.zeros((graph.num_nodes, 1), np.float32), graph.edges[:, :1]
    return storage.pack(dataclasses.replace(graph, features=features, edges=edges, words=None))


_TASKS = {"graph": _read_graph, "predictions": _read_predictions}


def _answer(request: bytes) -> files.Contents:
    try:
        arrays, values = files.unpack(request)
        contents = [arrays[str(i)].tobytes() for i in range(len(arrays))]
        del arrays
        return _TASKS[values["task"]](contents, values)
    except BupError as error:
        message = " ".join(str(error).split())
    except MemoryError:
        message = TOO_MUCH
    except Exception as error:
        log.exception("uploaded files cannot be read")
        message = f"these files cannot be read ({type(error).__name__}): save them again"
    return files.Contents({}, {"error": message})


def receive(source: IO[bytes]) -> bytes:
    """The next message; empty at the end of the stream."""
    length = int.from_bytes(source.read(8), "little")
    content = source.read(length)
    return content if len(content) == length else b""


def send(target: IO[bytes], content: bytes) -> None:
    target.write(len(content).to_bytes(8, "little"))
    target.write(content)
    target.flush()


def serve() -> None:
    """Answer requests until there are no more, or the process was idle for long or grew large."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    limit_memory(limits.READ_MB.bytes)
    # Import what reading needs before a visitor waits for it.
    for name in ("networkx", "sklearn.feature_extraction.text"):
        import_module(name)
    while memory_peak() < LARGE:
        idle = threading.Timer(IDLE, os._exit, [0])
        idle.daemon = True
        idle.start()
        request = receive(sys.stdin.buffer)
        idle.cancel()
        if not request:
            return
        send(answers, files.pack(*_answer(request)))
