"""Graphs that visitors upload: stored for some days under a name that is hard to guess.

``own:TOKEN-papers`` is the graph with that token; the words after it are for people. ``store`` says
for how long and how much is stored, ``graph_tables`` how files become a graph.
"""

import hashlib
import re

from bup.datasets.graph_source import GraphSource
from bup.datasets.uploads.store import TOKEN, Uploader, UploadStore, delete_runs, new_token
from bup.graph import Graph, storage
from bup.io import files

PREFIX = "own:"
STORE = UploadStore(
    "graphs",
    "this graph is not here: it was deleted, its time is over, or the link is incomplete. "
    "Bring it again on the page Your own",
)


def token_of(name: str) -> str:
    return name.removeprefix(PREFIX).partition("-")[0]


def tokens_in(name: str) -> list[str]:
    """The tokens of a graph and of the graphs that it is made from."""
    return re.findall(f"{PREFIX}({TOKEN.pattern})", name)


def exists(token: str) -> bool:
    """Whether a graph can still be opened; this call does not extend its lifetime."""
    return STORE.path(token).exists()


def save(graph: Graph, title: str = "", uploader: Uploader | None = None) -> str:
    """Store a graph; returns its name, which is the key to it."""
    token = new_token()
    STORE.save(token, storage.pack(graph), uploader)
    return _name(token, title or graph.name)


def save_once(graph: Graph) -> str:
    """Store a graph from a notebook: the same content has the same name and is stored once."""
    token = files.key_of(hashlib.sha256(f"kept by its content {graph.digest}".encode()))
    if not STORE.touch(token):
        STORE.save(token, storage.pack(graph))
    return _name(token, graph.name.rpartition("/")[2])


def _name(token: str, title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:24].strip("-")
    return f"{PREFIX}{token}-{words}" if words else f"{PREFIX}{token}"


def title_of(name: str) -> str:
    """The title of a graph, as far as its name tells."""
    words = name.removeprefix(PREFIX).partition("-")[2]
    return words.replace("-", " ") or "a graph of your own"


def load(name: str) -> Graph:
    return STORE.load(token_of(name), lambda contents: storage.unpack(name, contents))


def delete(name: str) -> None:
    """Delete a graph and every run on it."""
    STORE.delete(token_of(name))
    delete_runs(token_of(name))


SOURCE = GraphSource(
    name=f"{PREFIX}TOKEN",
    title="A graph that was uploaded to the app, under a name that is hard to guess",
    load=load,
    matches=lambda name: name.startswith(PREFIX),
    title_of=title_of,
    data="stored for some days",
    list_names=lambda: [],
    stamp=lambda name: STORE.touch(token_of(name)),
    open_to_visitors=True,
)
