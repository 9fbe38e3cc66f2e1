"""Graphs from arrays, data frames, NetworkX and PyTorch Geometric, and back; methods of ``Graph``.

Links have no direction here: repetitions, loops and the second direction are dropped and counted in
the graph's notes. Mistakes (an unknown end of a link, a feature that is no number) are refused with
their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bup.errors import BupError, quote, quote_all
from bup.graph.arrays import NO_PART, PARTS, UNLABELLED, compact, number_classes, simple_edges
from bup.graph.words import tfidf
from bup.io.lazy import pandas as pd
from bup.io.lazy import sparse, torch

if TYPE_CHECKING:
    from bup.graph import Graph

MASKS = ("train_mask", "val_mask", "test_mask")  # PyG's, in the order of ``PARTS``
WEIGHTS = ("weight", "weights", "strength")
"""Usual names of the column or attribute of link weights."""

NO_FEATURES = (
    "The nodes have no features: each is its own only word, so that links alone can tell classes."
)


def from_arrays(
    features: sparse.sparray | np.ndarray | None,
    edges: np.ndarray,
    labels: np.ndarray,
    class_names: Sequence[str] | None = None,
    name: str = "arrays",
    notes: Sequence[str] = (),
    **rest: Any,
) -> Graph:
    """A graph from arrays as they come: edges [2, m] in any order, repeated or with loops.

    Without features (None) each node gets a feature of its own: only links tell classes. The
    notes say what was dropped. Without ``class_names`` classes are called by number;
    ``rest`` are further fields, such as ``ids`` and ``titles``.
    """
    from bup.graph import Graph

    labels, edges = np.asarray(labels), np.asarray(edges)
    if edges.ndim != 2 or edges.shape[0] != 2 or (edges.size and edges.dtype.kind not in "iu"):
        raise BupError(
            f"edges must be whole numbers of shape [2, m], got {edges.dtype} {edges.shape}"
        )
    if class_names is None:
        # A float label is refused by the graph itself, with its value.
        last = int(labels.max(initial=UNLABELLED)) if labels.dtype.kind in "iu" else 0
        class_names = tuple(map(str, range(last + 1)))
    if features is None:
        features = sparse.eye_array(len(labels), dtype=np.float32, format="csr")
        notes = (*notes, NO_FEATURES)
    features = sparse.csr_array(features) if sparse.issparse(features) else np.asarray(features)
    if features.dtype.kind not in "biuf":
        raise BupError(f"features must be numbers, got {features.dtype}: turn text into numbers")
    edges, dropped = _simple(edges.astype(np.int64))
    return Graph(
        name=name,
        features=compact(features),
        edges=edges,
        labels=labels,
        class_names=tuple(class_names),
        notes=(*notes, *dropped),
        **rest,
    )


def _simple(edges: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Edges as ``Graph`` wants them, and notes about what was dropped."""
    simple = simple_edges(edges[0], edges[1])
    count = edges.shape[1]
    loops = int((edges[0] == edges[1]).sum())
    directed = np.unique(edges[:, edges[0] != edges[1]], axis=1).shape[1]
    both_ways = directed == 2 * simple.shape[1]
    repeated = count - loops - (directed if both_ways else simple.shape[1])
    notes = []
    if loops:
        notes.append(f"{loops:,} of {count:,} links join a node to itself; dropped.")
    if repeated:
        notes.append(f"{repeated:,} of {count:,} links repeat another one; each is kept once.")
    return simple, notes


def from_frames(
    nodes: pd.DataFrame,
    edges: pd.DataFrame,
    *,
    id: str | None = "id",
    label: str = "label",
    title: str | None = None,
    text: str | Sequence[str] | None = None,
    features: Sequence[str] | sparse.sparray | np.ndarray | None = None,
    source: str = "source",
    target: str = "target",
    name: str = "frames",
    unweighted: bool = False,
) -> Graph:
    """A graph from a table of nodes and a table of links.

    ``id`` is the column of ids (None: the row numbers), ``label`` that of the class, empty where it
    is unknown. Features are the columns ``features`` or a matrix with a row per node; or the words
    of the column(s) ``text``, weighted by TF-IDF; or words and columns, which are then scaled to
    between 0 and 1 as words are. Without any, each node gets a feature of its own.
    Every link counts alike: a column of weights gives a warning unless ``unweighted`` is true.
    """
    for frame in (nodes, edges):
        if not isinstance(frame, pd.DataFrame):
            raise BupError(f"nodes and links are two data frames, got a {type(frame).__name__}")
    texts = [text] if isinstance(text, str) else list(text or [])
    are_names = isinstance(features, list | tuple | pd.Index)
    columns = [str(c) for c in features] if are_names else []  # type: ignore[union-attr]
    of_nodes = [("id", id), ("label", label), ("title", title)]
    of_nodes += [("text", t) for t in texts] + [("features", c) for c in columns]
    of_links = [("source", source), ("target", target)]
    for what, frame, named in (("nodes", nodes, of_nodes), ("links", edges, of_links)):
        for argument, column in named:
            if column is not None and column not in frame.columns:
                raise BupError(
                    f"the table of {what} has no column {quote(str(column))}: it has "
                    f"{quote_all(map(str, frame.columns))}; choose one with {argument}="
                )
    if len(nodes) == 0 or len(edges) == 0:
        raise BupError(f"a graph needs nodes and links, got {len(nodes)} and {len(edges)}")
    if texts and features is not None and not are_names:
        raise BupError("beside a column of text, features are names of columns, not a matrix")
    ids = tuple(map(str, range(len(nodes)))) if id is None else _ids(nodes[id], id)
    labels, class_names = _classes(nodes[label], label)
    index_of = pd.Series(np.arange(len(ids)), index=pd.Index(ids, dtype=object))
    if not index_of.index.is_unique:
        again = str(index_of.index[index_of.index.duplicated()][0])
        raise BupError(f"id {quote(again)} occurs twice: give each node once and its own id")
    weights = [c for c in edges.columns if str(c).lower() in WEIGHTS and c not in (source, target)]
    notes = [] if unweighted else _weight_notes({c: edges[c].to_numpy() for c in weights})
    words = None
    if texts:
        matrix, words = tfidf(_as_text(nodes[texts]).agg(" ".join, axis=1).tolist())
        notes.append(f"Features are {len(words):,} words of {quote_all(texts)}, by TF-IDF.")
        if columns:
            scaled = _between_0_and_1(_numbers(nodes, columns, ids))
            matrix = sparse.csr_array(sparse.hstack([matrix, scaled]))
            words = (*words, *columns)
            notes.append(f"So are the numbers {quote_all(columns)}, scaled to between 0 and 1.")
    elif columns:
        matrix = _numbers(nodes, columns, ids)
    else:
        matrix = None if are_names else features
    return from_arrays(
        matrix,
        np.stack([_ends(edges[end], end, index_of) for end in (source, target)]),
        labels,
        class_names,
        name=name,
        notes=notes,
        ids=ids,
        titles=None if title is None else tuple(_as_text(nodes[title])),
        words=words,
    )


def _as_text(cells: Any) -> Any:
    """A column or a table as text, empty where a cell is missing."""
    return cells.astype(object).where(cells.notna(), "").astype(str)


def format_cell(value: Any) -> str:
    """An id or label as text: a whole number that pandas made a float has no ``.0``."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _ids(column: pd.Series, name: str) -> tuple[str, ...]:
    _check_whole_numbers(column, name, "ids")
    ids = tuple(map(format_cell, column))
    empty = np.flatnonzero(column.isna().to_numpy() | np.array([not i for i in ids]))
    if len(empty):
        raise BupError(
            f"column {quote(name)}, row {empty[0] + 1}: the id is empty: give each node one"
        )
    return ids


def _classes(column: pd.Series, name: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """Class numbers and sorted names; names that are all numbers are sorted as numbers."""
    _check_whole_numbers(column, name, "labels")
    missing = column.isna()
    labels = ["" if m else format_cell(v) for v, m in zip(column, missing, strict=True)]
    numbered = all(label.isascii() and label.isdecimal() for label in labels if label)
    where = f"column {quote(name)} has"
    return number_classes(labels, where, key=_size_of_number if numbered else None)


def _size_of_number(digits: str) -> tuple[int, str]:
    """Sorts as ``int`` does, which refuses thousands of digits."""
    digits = digits.lstrip("0")
    return len(digits), digits


def _check_whole_numbers(column: pd.Series, name: str, what: str) -> None:
    if column.dtype.kind == "f":
        values = column.dropna().to_numpy()
        odd = values[~np.isfinite(values) | (values != np.floor(values))]
        if len(odd):
            raise BupError(
                f"column {quote(name)} has {odd[0]}, and {what} must be text or whole numbers: "
                "choose another column"
            )


def _numbers(nodes: pd.DataFrame, columns: list[str], ids: tuple[str, ...]) -> np.ndarray:
    table = np.empty((len(nodes), len(columns)), dtype=np.float32)
    for k, name in enumerate(columns):
        numbers = pd.to_numeric(nodes[name], errors="coerce").to_numpy(np.float64, na_value=np.nan)
        bad = np.flatnonzero(~(np.abs(numbers) <= 1e30))
        if len(bad):
            cell = quote(str(nodes[name].iloc[bad[0]]))
            raise BupError(
                f"column {quote(name)}, node {quote(ids[bad[0]])}: {cell} is not a finite number: "
                "mend it, write 0 for none, or leave the column out"
            )
        table[:, k] = numbers
    return table


def _between_0_and_1(table: np.ndarray) -> sparse.csr_array:
    """Each column scaled from its lowest to its highest number; a constant column becomes 0."""
    low, wide = table.min(axis=0), np.ptp(table, axis=0)
    return sparse.csr_array((table - low) / np.where(wide > 0, wide, 1))


def _ends(column: pd.Series, name: str, index_of: pd.Series) -> np.ndarray:
    _check_whole_numbers(column, name, "ends of links")
    ends = index_of.reindex(pd.Index([format_cell(v) for v in column], dtype=object))
    lost = np.flatnonzero(ends.isna().to_numpy())
    if len(lost):
        end = quote(format_cell(column.iloc[lost[0]]))
        raise BupError(
            f"column {quote(name)}, row {lost[0] + 1}: {end} is no node's id, and so are "
            f"{len(lost) - 1:,} further ends: add the nodes or drop the links"
        )
    return ends.to_numpy(np.int64)


def _weight_notes(weights: Mapping[str, np.ndarray]) -> list[str]:
    """Notes that different weights of links are not used, each also given as a warning."""
    notes = [
        f"The {quote(name)} of links is not used: every link counts alike."
        for name, values in weights.items()
        if len(values) and not (values == values[0]).all()
    ]
    for note in notes:
        warnings.warn(f"{note} unweighted=True says that you know.", stacklevel=3)
    return notes


def from_networkx(graph: Any, **columns: Any) -> Graph:
    """A graph from NetworkX: attributes of nodes are what columns are to ``from_frames``.

    Every link counts alike; ``unweighted=True`` says that you know, if links have weights.
    """
    if not hasattr(graph, "adj"):
        raise BupError(f"this is no NetworkX graph, got a {type(graph).__name__}")
    return from_frames(*to_frames(graph), **{"name": "networkx", **columns})


def to_frames(graph: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A NetworkX graph as tables: ``id`` and the attributes of nodes; ``source``, ``target``."""
    rows = [{**attributes, "id": str(node)} for node, attributes in graph.nodes(data=True)]
    links = [(str(a), str(b)) for a, b in graph.edges()]
    edges = pd.DataFrame(links, columns=["source", "target"], dtype=object)
    attributes = [of_link for *_, of_link in graph.edges(data=True)]
    for name in WEIGHTS:
        if any(name in of_link for of_link in attributes):
            edges[name] = [of_link.get(name, 1) for of_link in attributes]
    return pd.DataFrame(rows), edges


def from_pyg(
    data: Any, class_names: Sequence[str] | None = None, unweighted: bool = False, **rest: Any
) -> Graph:
    """A graph from PyTorch Geometric's ``Data`` with ``x``, ``edge_index`` and ``y``.

    Its ``train_mask``, ``val_mask`` and ``test_mask`` are the graph's split, see ``bup.fit``.
    Every link counts alike; ``unweighted=True`` says that you know, if links have weights.
    """
    for field in ("x", "edge_index", "y"):
        if getattr(data, field, None) is None:
            raise BupError(
                f"the PyG data has no {field}: a graph needs x, edge_index and y (one class a node)"
            )
    x, y = data.x.detach().cpu(), data.y.detach().cpu()
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise BupError(f"y must have one class a node, got shape {tuple(y.shape)}")
    labels = y.numpy()
    if labels.dtype.kind == "f" and np.isnan(labels).any():  # how PyG marks unknown labels
        whole = np.where(np.isnan(labels), UNLABELLED, labels)
        labels = whole.astype(np.int64) if (whole == np.floor(whole)).all() else labels
    dense = x.layout is torch.strided
    matrix = x.numpy() if dense else sparse.csr_array(x.to_dense().numpy())
    attributes = {name: getattr(data, name, None) for name in ("edge_weight", "edge_attr")}
    weights = {k: v.detach().cpu().numpy() for k, v in attributes.items() if v is not None}
    notes = [] if unweighted else _weight_notes(weights)
    parts, mask_notes = _masks(data, len(labels))
    notes = [*rest.pop("notes", ()), *notes, *mask_notes]
    edges = data.edge_index.detach().cpu().numpy()
    fields = {"name": "pyg", "parts": parts, **rest}
    return from_arrays(matrix, edges, labels, class_names, notes=notes, **fields)


def _masks(data: Any, nodes: int) -> tuple[np.ndarray | None, list[str]]:
    """The split in the masks of PyG's data, and notes about it."""
    masks: list[Any] = [getattr(data, name, None) for name in MASKS]
    missing = [name for name, mask in zip(MASKS, masks, strict=True) if mask is None]
    if len(missing) == len(MASKS):
        return None, []
    if missing:
        return None, [f"The masks are no split: there is no {' and no '.join(missing)}."]
    notes, parts = [], np.full(nodes, NO_PART, dtype=np.int8)
    for part, mask in enumerate(masks):
        chosen = mask.detach().cpu().numpy().astype(bool)
        if chosen.ndim == 2:
            columns, chosen = chosen.shape[1], chosen[:, 0]
            notes = [
                f"The masks hold {columns} splits: the first is the graph's, give another as "
                "split=(train, validation, test)."
            ]
        if chosen.shape != (nodes,):
            raise BupError(f"{MASKS[part]} has shape {chosen.shape}, there are {nodes} nodes")
        if (parts[chosen] != NO_PART).any():
            raise BupError(f"{MASKS[part]} and another mask overlap: put each node into one only")
        parts[chosen] = part
    sizes = ", ".join(f"{(parts == k).sum():,} {name}" for k, name in enumerate(PARTS))
    return parts, [f"A split came with the masks: {sizes} nodes.", *notes]


def to_pyg(graph: Graph) -> Any:
    """The same as PyTorch Geometric's ``Data``: dense ``x``, links in both directions."""
    from torch_geometric.data import Data

    features = graph.features
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    both = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    data = Data(x=torch.tensor(dense), edge_index=torch.tensor(both), y=torch.tensor(graph.labels))
    if graph.parts is not None:
        for part, name in enumerate(MASKS):
            data[name] = torch.tensor(graph.parts == part)
    return data
