"""Graphs as files."""

from typing import Any

import numpy as np

from bup.errors import BupError
from bup.graph import Graph
from bup.graph.noun import Noun
from bup.io import files
from bup.io.lazy import sparse

_VERSION = 1
_TEXTS = ("class_names", "ids", "titles", "notes", "words")  # fields of a graph


def pack(graph: Graph) -> bytes:
    arrays = {"edges": graph.edges, "labels": graph.labels}
    if isinstance(graph.features, np.ndarray):
        arrays["features"] = graph.features
    else:
        arrays |= {name: getattr(graph.features, name) for name in ("data", "indices", "indptr")}
    if graph.parts is not None:
        arrays["parts"] = graph.parts
    values = {name: getattr(graph, name) for name in ("name", *_TEXTS)}
    noun = (graph.noun.one, graph.noun.many)
    values |= {"noun": noun, "version": _VERSION, "columns": graph.num_features}
    return files.pack(arrays, values)


def unpack(name: str, contents: files.Contents) -> Graph:
    """The graph in a file, which may be a stranger's; raises DamagedFile for any that is wrong."""
    arrays, values = contents
    try:
        if values["version"] != _VERSION:
            raise files.DamagedFile(f"it has version {values['version']!r}, not {_VERSION}")
        if "features" in arrays:
            features = arrays["features"]
        else:
            csr = (arrays["data"], arrays["indices"], arrays["indptr"])
            features = sparse.csr_array(csr, shape=(len(arrays["labels"]), values["columns"]))
            features.check_format()  # else a column beyond the last would read foreign memory
        texts: dict[str, Any] = {
            field: None if values[field] is None else tuple(values[field]) for field in _TEXTS
        }
        if not all(isinstance(text, str) for column in texts.values() for text in column or ()):
            raise files.DamagedFile("a name in it is no text")
        return Graph(
            name,
            features,
            arrays["edges"],
            arrays["labels"],
            **texts,
            noun=Noun(*values.get("noun", ())),
            parts=arrays.get("parts"),
        )
    except (BupError, LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise files.DamagedFile(f"it holds no graph ({error!r})") from error
