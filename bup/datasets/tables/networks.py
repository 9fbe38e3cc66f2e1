"""Graphs as other tools save them: GraphML, GEXF, GML, node-link JSON."""

import io
import json
from typing import Any
from xml.sax.handler import ContentHandler

import numpy as np
import pandas as pd

from bup.datasets.tables.csv import check_cells, decode
from bup.errors import BupError, quote
from bup.graph.convert import format_cell, to_frames

FORMS = (".graphml", ".gexf", ".gml", ".json")


def read_network(name: str, content: bytes) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Tables of nodes and links, and features where nodes have vectors of numbers, else None."""
    form = name.lower().rpartition(".")[2]
    try:
        if form == "json":
            nodes, edges = _node_link(name, json.loads(decode(name, content)[0]))
        else:
            import networkx as nx

            if form == "gml":
                graph = nx.parse_gml(decode(name, content)[0].splitlines(), label="id")
            else:
                _refuse_definitions(name, content)
                read = nx.read_graphml if form == "graphml" else nx.read_gexf
                graph = read(io.BytesIO(content))
            _check_rows(name, [about for _, about in graph.nodes(data=True)])
            nodes, edges = to_frames(graph)
    except (BupError, MemoryError):
        raise
    except Exception as error:  # the readers answer damage with a dozen kinds of exceptions
        reason = " ".join(str(error).split())[:120]
        raise BupError(
            f"{quote(name)} cannot be read as {form.upper()} ({type(error).__name__}: {reason}): "
            "save it again, or give nodes.csv and edges.csv"
        ) from error
    nodes, features = _without_vectors(name, nodes)
    return _as_text(nodes), _as_text(edges), features


def _refuse_definitions(name: str, content: bytes) -> None:
    """Refuse a document type: its entities can unpack to gigabytes or read other files."""
    from defusedxml import DefusedXmlException, sax

    try:
        sax.parseString(content, ContentHandler(), forbid_dtd=True)
    except DefusedXmlException:
        raise BupError(
            f"{quote(name)} defines a document type or entities, which no graph needs: delete the "
            "lines that begin with <!DOCTYPE"
        ) from None


def _node_link(name: str, data: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    links = "links" if isinstance(data, dict) and "links" in data else "edges"
    sound = isinstance(data, dict) and all(
        isinstance(data.get(part), list) and all(isinstance(row, dict) for row in data[part])
        for part in ("nodes", links)
    )
    if not sound:
        raise BupError(
            f"{quote(name)} is no node-link JSON: it must be an object with lists of objects "
            "'nodes' and 'links', as networkx.node_link_data makes it"
        )
    for part in ("nodes", links):
        _check_rows(name, data[part])
    return pd.DataFrame(data["nodes"]), pd.DataFrame(data[links])


def _check_rows(name: str, rows: list[dict]) -> None:
    """Count the cells of the table that rows will be: each may name columns that no other has."""
    check_cells(name, len(rows), len(set().union(*rows)))


def _without_vectors(name: str, nodes: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray | None]:
    """Take the first column that holds a list of numbers for every node out as features.

    What is a table in itself goes: Gephi notes there where it drew a node, and in which colour.
    """
    mixed = nodes[[c for c in nodes.columns if nodes[c].dtype == object]]
    inner = [c for c in mixed.columns if any(isinstance(cell, dict) for cell in mixed[c])]
    nodes = nodes.drop(columns=inner)
    for column in nodes.columns:
        cells = nodes[column]
        if len(cells) and all(isinstance(cell, list) and cell for cell in cells):
            check_cells(name, len(cells), max(map(len, cells)))
            try:
                with np.errstate(over="ignore"):
                    matrix = np.array(cells.tolist(), dtype=np.float32)
            except (ValueError, TypeError, OverflowError):  # of different lengths, or no numbers
                continue
            if matrix.ndim == 2:
                return nodes.drop(columns=column), matrix
    return nodes, None


def _as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Column by column: of thousands of them, each is mostly empty."""
    columns = {}
    for name, column in table.items():
        text = np.full(len(column), "", dtype=object)
        there = np.flatnonzero(column.notna().to_numpy())
        text[there] = [format_cell(value) for value in column.iloc[there]]
        columns[str(name)] = text
    return pd.DataFrame(columns, index=table.index, dtype=object)
