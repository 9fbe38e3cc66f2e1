"""Finding nodes by their name, their id, a word about them or a word among their features."""

from __future__ import annotations

import re

import pandas as pd
import streamlit as st

from bup.graph import Graph
from bup.graph.words import nodes_with
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.views import tables

BEFORE, AFTER = 8, 40
"""Letters shown before and after what was found in a line about a node, and the rest of a word."""
_WIDTHS = {"name": 76, "found in": 190}


def search_field(view: View) -> None:
    """The field for what is sought, and below it what is found."""
    graph = view.graph
    readable = any(texts is not None for texts in (graph.names, graph.titles, graph.words))
    text = st.text_input(
        view.say("Find a node by its name, its id or a word about it"),
        key="search",
        placeholder="a name, or a word" if readable else "part of an id",
    ).strip()
    if not text:
        return
    found = matches(graph, view.table, text)
    st.caption(f"{graph.noun.count(len(found))} found")
    if found and not readable:
        tables.prediction_table(view, list(found), "found")
    elif found:
        rows = view.table.iloc[list(found)][["predicted"]]
        rows.insert(0, "found in", list(found.values()))
        rows.insert(0, "name", [graph.name_of(node) for node in found])
        tables.node_table(view, list(found), rows, "found", _WIDTHS)


def matches(graph: Graph, table: pd.DataFrame, text: str) -> dict[int, str]:
    """Where the text was found, by node: first names that are it, then names that begin with it,
    then where it is a whole word, and last where it is a part of one."""
    sought, whole = text.lower(), re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.I)
    names = columns.names(table)
    fields = {"name" if graph.names else "id": names, "id": table["id"]}
    if "title" in table:
        fields["title"] = table["title"]
    ranked: list[tuple[int, int, int, str]] = []
    for place, (field, texts) in enumerate(fields.items()):
        for node, value in texts[texts.str.contains(text, case=False, regex=False)].items():
            rank = 2 if whole.search(value) else 4
            if place == 0 and value.lower().startswith(sought):
                rank = int(value.lower() != sought)
            words = _excerpt(value, sought) if len(value) > BEFORE + AFTER else field
            ranked.append((rank, place, int(node), words))
    ranked += [(3, 0, int(node), "words") for node in nodes_with(graph, text)]
    found: dict[int, str] = {}
    for *_, node, words in sorted(ranked):
        found.setdefault(node, words)
    return found


def _excerpt(line: str, sought: str) -> str:
    """The part of a line around what was found in it."""
    at = line.lower().find(sought)
    begin, end = line.rfind(" ", 0, max(0, at - BEFORE)) + 1, at + len(sought) + AFTER
    return f"{'…' * (begin > 0)}{line[begin:end]}{'…' * (end < len(line))}"
