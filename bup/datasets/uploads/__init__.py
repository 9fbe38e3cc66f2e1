"""Graphs that people bring: kept for some days under a name that nobody can guess.

``own:TOKEN-papers`` is the graph with that token; the words after it are for the eye. See ``space``
for how long and how much, ``draft`` for how files become a graph.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import numpy as np

from bup.datasets.graph_source import GraphSource
from bup.datasets.uploads.store import TOKEN, Uploader, UploadStore, delete_runs, new_token
from bup.errors import BupError
from bup.graph import Graph
from bup.graph.noun import Noun
from bup.io import files
from bup.io.lazy import sparse

PREFIX = "own:"
NOT_FOUND = (
    "this graph is not here: it was deleted, its time is over, or the link is incomplete. "
    "Bring it again on the page Your own"
)
STORE = UploadStore("graphs", NOT_FOUND)
_VERSION = 1


def token_of(name: str) -> str:
    return name.removeprefix(PREFIX).partition("-")[0]


def tokens_in(name: str) -> list[str]:
    """Of the graph, and of those that it is made from."""
    return re.findall(f"{PREFIX}({TOKEN.pattern})", name)


def exists(token: str) -> bool:
    """Whether a graph can still be opened; asking does not put its end off."""
    return STORE.path(token).exists()


def save(graph: Graph, title: str = "", uploader: Uploader | None = None) -> str:
    """Put a graph into the space; returns its name, which is the key to it."""
    token = new_token()
    STORE.save(token, pack(graph), uploader)
    return _name(token, title or graph.name)


def save_once(graph: Graph) -> str:
    """The same for a notebook: a graph of one content is kept once, under a name that stays."""
    content = hashlib.sha256(f"kept by its content {graph.digest}".encode())
    token = base64.b32encode(content.digest()).decode().lower()[:20]
    if not STORE.touch(token):
        STORE.save(token, pack(graph))
    return _name(token, graph.name.rpartition("/")[2])


def _name(token: str, title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:24].strip("-")
    return f"{PREFIX}{token}-{words}" if words else f"{PREFIX}{token}"


def title_of(name: str) -> str:
    """What people called it, as far as its name says so."""
    words = name.removeprefix(PREFIX).partition("-")[2]
    return words.replace("-", " ") or "a graph of your own"


def load(name: str) -> Graph:
    return STORE.load(token_of(name), lambda packed: unpack(name, packed))


def delete(name: str) -> None:
    """Take a graph out of the space, and every run on it."""
    STORE.delete(token_of(name))
    delete_runs(token_of(name))


def pack(graph: Graph) -> bytes:
    features = graph.features
    arrays = {"edges": graph.edges, "labels": graph.labels}
    if isinstance(features, np.ndarray):
        arrays["features"] = features
    else:
        arrays |= {
            "data": features.data,
            "indices": features.indices,
            "indptr": features.indptr,
        }
    if graph.parts is not None:
        arrays["parts"] = graph.parts
    texts = ("name", "class_names", "ids", "titles", "notes", "words")
    values = {name: getattr(graph, name) for name in texts}
    values["noun"] = (graph.noun.one, graph.noun.many)
    return files.pack(arrays, values | {"version": _VERSION, "columns": graph.num_features})


def unpack(name: str, packed: files.Contents) -> Graph:
    arrays, values = packed
    try:
        if values["version"] != _VERSION:
            raise BupError(NOT_FOUND)
        if "features" in arrays:
            features = arrays["features"]
        else:
            csr = (arrays["data"], arrays["indices"], arrays["indptr"])
            features = sparse.csr_array(csr, shape=(len(arrays["labels"]), values["columns"]))
            features.check_format()  # else a column beyond the last would be read as memory is
        texts: dict[str, Any] = {
            field: None if values[field] is None else tuple(values[field])
            for field in ("class_names", "ids", "titles", "notes", "words")
        }
        if not all(isinstance(text, str) for of in texts.values() for text in of or ()):
            raise BupError(NOT_FOUND)
        noun = Noun(*values.get("noun", ()))
        return Graph(
            name,
            features,
            arrays["edges"],
            arrays["labels"],
            **texts,
            noun=noun,
            parts=arrays.get("parts"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise BupError(NOT_FOUND) from None


SOURCE = GraphSource(
    name=f"{PREFIX}TOKEN",
    title="A graph that was brought to the app, under a name that nobody can guess",
    load=load,
    matches=lambda name: name.startswith(PREFIX),
    title_of=title_of,
    data="kept for some days",
    list_names=lambda: [],
    stamp=lambda name: STORE.touch(token_of(name)),
    open_to_visitors=True,
)
