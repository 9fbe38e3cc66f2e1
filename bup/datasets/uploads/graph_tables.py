"""From uploaded files to a graph: read the tables, guess their columns, build the graph."""

import dataclasses
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from bup.datasets.tables.archive import files_by_name
from bup.datasets.tables.csv import numbers, read_frame
from bup.datasets.tables.networks import FORMS, read_network
from bup.datasets.tables.npz import read_features
from bup.errors import BupError, quote, quote_all
from bup.graph import Graph
from bup.graph.convert import WEIGHTS, from_frames
from bup.io import limits

TABLES = (".csv", ".tsv", ".txt")
MOST_CLASSES = 100
LONGEST_NAME = 500  # characters
ROWS, LETTERS = 5, 200  # of a preview, and of each of its cells
LONG = 15  # average characters of a column that looks like text
HELP = (
    "drop nodes.csv and edges.csv (and features.npz), a zip of them, or one GraphML, GEXF, GML or "
    "node-link JSON file"
)
_ID = ("id", "node_id", "node", "key", "name", "nodeid")
_LABEL = (
    *("class", "label", "category", "subject", "topic", "field", "type", "group", "club"),
    *("community", "modularity_class", "modularity class", "y", "target"),
)
_TITLE = ("title", "name", "label")
_TEXT = ("text", "abstract", "description", "content", "summary", "words")
_SOURCE = ("source", "from", "src", "start", "citing", "u")
_TARGET = ("target", "to", "dst", "end", "cited", "v")


@dataclass(frozen=True, eq=False)
class GraphTables:
    """The uploaded files as tables of text."""

    nodes: pd.DataFrame
    edges: pd.DataFrame
    features: Any = None  # [n, f], from features.npz or vectors in the file
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns are used for what.

    The features of the graph are the columns ``features``, the words of ``text`` or both; without
    either, those of the tables.
    """

    label: str | None
    source: str
    target: str
    id: str | None = None  # None: the row numbers, from 0
    title: str | None = None
    text: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    decimal: str | None = None  # None: the mark that makes numbers of the cells

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Self:
        return cls(**plain | {name: tuple(plain[name]) for name in ("text", "features")})


@dataclass(frozen=True)
class TablePreview:
    """What a page shows of the tables: columns, first rows, and a guess at what they are."""

    nodes: dict[str, list[str]]  # the first cells of each column
    edges: dict[str, list[str]]
    num_nodes: int
    has_features: bool
    numeric: list[str]  # columns of nodes that hold nothing but numbers
    guess: ColumnChoice


def read_tables(uploaded: Iterable[tuple[str, bytes]], separator: str | None = None) -> GraphTables:
    """Read the files; raises BupError where they are no graph."""
    files = files_by_name(uploaded)
    tables, networks, matrices = (
        [name for name in files if name.lower().endswith(endings)]
        for endings in (TABLES, FORMS, (".npz",))
    )
    if others := sorted(set(files) - {*tables, *networks, *matrices}):
        raise BupError(f"{quote_all(others)} is of no use here: {HELP}")
    if (len(tables), len(networks)) not in ((2, 0), (0, 1)) or len(matrices) > 1:
        raise BupError(f"the files are {quote_all(sorted(files)) or 'none'}: {HELP}")
    notes: list[str] = []
    if networks:
        nodes, edges, features = read_network(networks[0], files[networks[0]])
    else:
        nodes, edges = _nodes_and_edges(files, tables, separator, notes)
        features = None
    for what, table, limit in (("nodes", nodes, limits.NODES), ("links", edges, limits.LINKS)):
        if not 0 < len(table) <= limit.value:
            raise BupError(
                f"the graph has {len(table):,} {what}: give at least one and at most {limit}"
            )
    _check_length("a column", [*nodes.columns, *edges.columns])
    if len(edges.columns) < 2:
        raise BupError(
            f"the table of links has only the column {quote(edges.columns[0])}: choose its "
            "separator, and give columns for both ends"
        )
    if matrices:
        row_names = tuple(f"row {i + 1}" for i in range(len(nodes)))
        features = read_features(io.BytesIO(files[matrices[0]]), row_names, limits.upload_limits())
    return GraphTables(nodes, edges, features, tuple(notes))


def _check_length(what: str, names: Iterable[str]) -> None:
    """Names appear in menus, tables and links; a longer text can still be a text or a title."""
    longest = max(names, key=len)
    if len(longest) > LONGEST_NAME:
        raise BupError(
            f"{what} is called {quote(longest)} and so on, {len(longest):,} characters: give names "
            f"of at most {LONGEST_NAME}"
        )


def _nodes_and_edges(
    files: dict[str, bytes], names: list[str], separator: str | None, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables of nodes and of links, recognised by their names, else by their columns."""
    tables = {}
    for name in names:
        tables[name], encoding = read_frame(name, files[name], separator)
        if encoding:
            notes.append(f"{name} is not UTF-8; it was read as {encoding}.")
    links = [name for name in names if "edge" in name.lower() or "link" in name.lower()]
    if len(links) != 1:
        links = [n for n in names if _column(_SOURCE, tables[n]) and _column(_TARGET, tables[n])]
    if len(links) != 1:
        raise BupError(f"which of {quote_all(names)} holds the links? Call it edges.csv")
    (nodes,) = (name for name in names if name != links[0])
    return tables[nodes], tables[links[0]]


def _column(wanted: tuple[str, ...], table: pd.DataFrame, taken: tuple = ()) -> str | None:
    """The first column with one of these names, in the order of the names."""
    by_name = {column.lower(): column for column in table.columns if column not in taken}
    return next((by_name[name] for name in wanted if name in by_name), None)


def guess_columns(tables: GraphTables) -> ColumnChoice:
    """What the columns probably are, by their names and their cells."""
    nodes, edges = tables.nodes, tables.edges
    source = _column(_SOURCE, edges) or edges.columns[0]
    target = _column(_TARGET, edges, (source,)) or next(c for c in edges.columns if c != source)
    kinds = {name: column[column != ""].nunique() for name, column in nodes.items()}
    unique = [column for column, kind in kinds.items() if kind == len(nodes)]
    id = next((c for c in unique if c.lower() in _ID), next(iter(unique), None))
    # A class has several nodes: in files of other tools "label" is often a name.
    most = min(MOST_CLASSES, len(nodes) - 1)
    classes = [c for c, kind in kinds.items() if c != id and 2 <= kind <= most]
    numeric = numeric_columns(tables)
    wordy = set(nodes.columns) - set(numeric)
    in_order = [*(c for c in classes if c in wordy), *classes]
    label = _column(_LABEL, nodes[classes]) or next(iter(in_order), None)
    # Of what is neither number nor name, the longest is a text and the next one a title.
    texts = [c for c in nodes.columns if c in wordy and c not in (id, label)]
    texts.sort(key=lambda c: -float(nodes[c].str.len().mean()))
    text = _column(_TEXT, nodes, (id, label)) or next(
        (c for c in texts if nodes[c].str.len().mean() >= LONG and c.lower() not in _TITLE), None
    )
    title = _column(_TITLE, nodes, (id, label, text)) or next((c for c in texts if c != text), None)
    features: tuple[str, ...] = ()
    if tables.features is None and text is None:
        names = [c for c in nodes.columns if c.lower() in (*_ID, *_TITLE)]
        features = tuple(c for c in numeric if c not in (id, label, title, *names))
    return ColumnChoice(
        label=label,
        source=source,
        target=target,
        id=id,
        title=title,
        text=() if text is None or tables.features is not None else (text,),
        features=features,
    )


def make_preview(tables: GraphTables, decimal: str | None = None) -> TablePreview:
    nodes, edges = (
        {column: [cell[:LETTERS] for cell in table[column].head(ROWS)] for column in table.columns}
        for table in (tables.nodes, tables.edges)
    )
    return TablePreview(
        nodes,
        edges,
        num_nodes=len(tables.nodes),
        has_features=tables.features is not None,
        numeric=numeric_columns(tables, decimal),
        guess=dataclasses.replace(guess_columns(tables), decimal=decimal),
    )


def numeric_columns(tables: GraphTables, decimal: str | None = None) -> list[str]:
    """The columns of nodes that hold nothing but numbers."""
    return [c for c, column in tables.nodes.items() if numbers(column, decimal) is not None]


def make_graph(tables: GraphTables, choice: ColumnChoice, name: str) -> Graph:
    """The graph of the chosen columns; its notes say which links were dropped."""
    if choice.label is None:
        raise BupError("no column of the nodes looks like a class: choose one")
    count = tables.nodes[choice.label].nunique()
    if count > MOST_CLASSES:
        raise BupError(
            f"column {quote(choice.label)} has {count:,} different values, more than "
            f"{MOST_CLASSES} classes: choose another column as class"
        )
    values = {c: numbers(tables.nodes[c], choice.decimal) for c in choice.features}
    if bad := [c for c, column in values.items() if column is None]:
        raise BupError(f"{quote_all(bad)} is not all numbers: choose other columns as features")
    ids = tables.nodes[choice.id] if choice.id else pd.Series(range(len(tables.nodes))).astype(str)
    _check_length("a class", tables.nodes[choice.label])
    _check_length("an id", ids)
    edges = tables.edges
    joined = edges[choice.source].isin(ids) & edges[choice.target].isin(ids)
    notes = list(tables.notes)
    if lost := int((~joined).sum()):
        first = edges.loc[~joined, [choice.source, choice.target]].iloc[0]
        notes.append(
            f"{lost:,} of {len(edges):,} links name a node that is not there (the first: "
            f"{quote(first.iloc[0])} to {quote(first.iloc[1])}); dropped."
        )
    if lost == len(edges):
        raise BupError(
            f"no link joins two known nodes, the first is {quote(first.iloc[0])} to "
            f"{quote(first.iloc[1])}: choose the column of ids that the links use"
        )
    weight = _column(WEIGHTS, edges, (choice.source, choice.target))
    if weight is not None and edges[weight].nunique() > 1:
        notes.append(f"The {quote(weight)} of links is not used: every link counts alike.")
    features: Any = list(choice.features) or None
    if not choice.text and not choice.features:
        features = tables.features
    graph = from_frames(
        tables.nodes.assign(**values),
        edges[joined],
        id=choice.id,
        label=choice.label,
        title=choice.title,
        text=choice.text or None,
        features=features,
        source=choice.source,
        target=choice.target,
        name=name,
        unweighted=True,  # the note above says it
    )
    if unlabelled := int((~graph.labelled).sum()):
        notes.append(f"{unlabelled:,} nodes have no class: they stay, but are never judged.")
    if isinstance(graph.features, np.ndarray) and np.abs(graph.features).max() > 1e6:
        raise BupError("a feature is beyond 1,000,000: scale the features, for example to 0 to 1")
    return dataclasses.replace(graph, notes=(*notes, *graph.notes))
