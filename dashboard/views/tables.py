"""Tables with rows that can be clicked, and rows of figures."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.chart import metric_texts
from dashboard.session.view import View
from dashboard.ui.metric_row import metric_row
from dashboard.views.picking import pick_node

MOST_ROWS = 1000
"""Rows on one page of a list; a longer list has several pages."""
LARGEST_HEIGHT = 320
PREDICTION_WIDTHS = {"id": 66, "predicted": 76, "true": 66, "confidence": 66}
"""Columns of a list beside the map and their least widths in pixels."""


def clickable_table(
    frame: pd.DataFrame, key: str, alt: str, on_row: Callable[[int], None], **options: Any
) -> None:
    """A table that calls ``on_row`` with the number of the row when a cell of it is clicked."""

    def on_select() -> None:
        selection = st.session_state[key]["selection"]
        rows = [*selection["rows"], *(row for row, _ in selection["cells"])]
        if rows:
            on_row(rows[0])

    defaults: dict[str, Any] = {
        "hide_index": True,
        "width": "stretch",
        "selection_mode": "single-cell",
    }
    st.dataframe(frame, key=key, on_select=on_select, alt=alt, **defaults | options)


def node_table(
    view: View,
    nodes: Sequence[int],
    rows: pd.DataFrame | Sequence[str],
    key: str,
    widths: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """A row per node, in pages; clicking a row picks its node.

    ``rows`` has the rows of all nodes, or names columns of the run's node table.
    """
    part = _page_rows(view, len(nodes), key)
    nodes, labels = list(nodes[part]), dict[str, str]()
    if isinstance(rows, pd.DataFrame):
        frame = rows.iloc[part]
    else:
        frame = view.table.iloc[nodes][list(dict.fromkeys(["id", *rows]))]
        frame = frame.assign(id=[view.graph.name_of(node) for node in nodes])
        labels["id"] = "name" if view.graph.names else "id"
    number = st.column_config.NumberColumn
    decimals = frame.select_dtypes("float")
    clickable_table(
        frame,
        key,
        view.say("Nodes: click a row to pick one"),
        lambda row: pick_node(view, nodes[row]),
        selection_mode=["single-row", "single-cell"],
        height=table_height(len(nodes)),
        column_config={
            name: number(format="%.3f", width=widths.get(name))
            if name in decimals
            else st.column_config.Column(labels.get(name), width=widths.get(name))
            for name in frame
        },
    )


def prediction_table(view: View, nodes: Sequence[int], key: str) -> None:
    """Nodes with the model's answer and its confidence, narrow enough for the panel of Explore."""
    node_table(view, nodes, list(PREDICTION_WIDTHS), key, PREDICTION_WIDTHS)


def table_height(rows: int) -> int:
    return min(38 * (rows + 1), LARGEST_HEIGHT)


def _page_rows(view: View, count: int, key: str) -> slice:
    """The rows to show: all, or one page that the visitor chooses."""
    pages = -(-count // MOST_ROWS)
    if pages <= 1:
        return slice(0, count)
    caption, name = st.empty(), f"{key}_page"
    if st.session_state.get(name, 1) > pages:  # the list was longer before
        st.session_state[name] = 1
    number = st.number_input(f"Page of {pages:,}", 1, pages, key=name, width=160)
    first = MOST_ROWS * (int(number) - 1)
    last = min(count, first + MOST_ROWS)
    counted = view.graph.noun.count(count)
    caption.caption(f"{first + 1:,} to {last:,} of {counted}, in this order.")
    return slice(first, last)


def show_metrics(view: View, values: Mapping[str, float]) -> None:
    """Metrics side by side, from their values by key."""
    texts = metric_texts(view, values)
    metric_row({name: value for name, value, _ in texts}, {name: why for name, _, why in texts})
