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

from bup.datasets.source import Source
from bup.datasets.uploads.store import TOKEN, Owner, Space, forget_runs, new_token
from bup.errors import BupError
from bup.graph import Graph
from bup.graph.noun import Noun
from bup.io import files
from bup.io.lazy import sparse

PREFIX = "own:"
GONE = (
    "this graph is not here: it was deleted, its time is over, or the link is incomplete. "
    "Bring it again on the page Your own"
)
SPACE = Space("graphs", GONE)
_VERSION = 1


def token_of(name: str) -> str:
    return name.removeprefix(PREFIX).partition("-")[0]


def tokens_in(name: str) -> list[str]:
    """Of the graph, and of those that it is made from."""
    return re.findall(f"{PREFIX}({TOKEN.pattern})", name)


def is_here(token: str) -> bool:
    """Whether a graph can still be opened; asking does not put its end off."""
    return SPACE.path(token).exists()


def keep(graph: Graph, title: str = "", owner: Owner | None = None) -> str:
    """Put a graph into the space; returns its name, which is the key to it."""
    token = new_token()
    SPACE.keep(token, packed(graph), owner)
    return _name(token, title or graph.name)


def keep_once(graph: Graph) -> str:
    """The same for a notebook: a graph of one content is kept once, under a name that stays."""
    content = hashlib.sha256(f"kept by its content {graph.digest}".encode())
    token = base64.b32encode(content.digest()).decode().lower()[:20]
    if not SPACE.opened(token):
        SPACE.keep(token, packed(graph))
    return _name(token, graph.name.rpartition("/")[2])


def _name(token: str, title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:24].strip("-")
    return f"{PREFIX}{token}-{words}" if words else f"{PREFIX}{token}"


def title_of(name: str) -> str:
    """What people called it, as far as its name says so."""
    words = name.removeprefix(PREFIX).partition("-")[2]
    return words.replace("-", " ") or "a graph of your own"


def load(name: str) -> Graph:
    return SPACE.load(token_of(name), lambda packed: unpacked(name, packed))


def delete(name: str) -> None:
    """Take a graph out of the space, and every run on it."""
    SPACE.delete(token_of(name))
    forget_runs(token_of(name))


def packed(graph: Graph) -> bytes:
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


def unpacked(name: str, packed: files.Contents) -> Graph:
    arrays, values = packed
    try:
        if values["version"] != _VERSION:
            raise BupError(GONE)
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
            raise BupError(GONE)
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
        raise BupError(GONE) from None


SOURCE = Source(
    name=f"{PREFIX}TOKEN",
    title="A graph that was brought to the app, under a name that nobody can guess",
    load=load,
    takes=lambda name: name.startswith(PREFIX),
    called=title_of,
    data="kept for some days",
    offered=lambda: [],
    stamp=lambda name: SPACE.opened(token_of(name)),
    typed=True,
)
