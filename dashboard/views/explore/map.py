"""The map of the graph: what it is coloured by, which papers it shows, finding one by its words."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import columns, drawings
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.views import charts, picking

FILTERS = {
    "mistakes": "Only mistakes",
    "left out": "Only classes never shown",
    "test": "Only test papers",
}
MAP = "map"


def controls(view: View) -> np.ndarray:
    """What the map is coloured by and which nodes it shows."""
    table = view.table
    offered = columns.of(table)
    one, two = st.columns([3, 1], vertical_alignment="bottom")
    colour = one.selectbox(
        "Colour by",
        list(offered),
        key="colour",
        format_func=lambda key: offered[key].label,
        bind="query-params",
    )
    shown = np.ones(len(table), dtype=bool)
    with two.popover("Filter", icon=":material/filter_alt:", width="stretch"):
        chosen = st.pills(
            "Show",
            list(FILTERS),
            selection_mode="multi",
            key="show",
            format_func=FILTERS.__getitem__,
            bind="query-params",
        )
        if "mistakes" in chosen:
            shown &= table.correct.eq(False).fillna(False).to_numpy(bool)
        if "left out" in chosen:
            shown &= table.ood.to_numpy()
        if "test" in chosen:
            shown &= (table.part == "test").to_numpy()
        if offered[colour].kind == "score" and table[colour].nunique() > 1:
            low, high = float(table[colour].min()), float(table[colour].max())
            between = st.slider(
                f"{escaped(offered[colour].label)} between",
                low,
                high,
                (low, high),
                key=f"range_{colour}",
                format="%.2f",
            )
            if between != (low, high):
                shown &= table[colour].between(*between).to_numpy()
    return shown


def node_map(view: View, shown: np.ndarray) -> None:
    colour = st.session_state.colour
    meaning = columns.of(view.table)[colour].meaning
    charts.node_map(
        view,
        drawings.map_drawing(view.spec, colour, view.theme, shown),
        MAP,
        f"{meaning} {shown.sum():,} of {len(shown):,} papers are shown; "
        "click one to inspect it, scroll to zoom, or draw around several with the lasso.",
    )
    words = st.text_input("Find a paper by id or title", key="search", placeholder="part of an id")
    if words:
        _found(view, words)


def _found(view: View, words: str) -> None:
    texts = view.table.id if "title" not in view.table else view.table.id + " " + view.table.title
    hits = np.flatnonzero(texts.str.contains(words, case=False, regex=False))
    st.caption(
        f"{len(hits):,} papers match" + (", the first 50 are listed" if len(hits) > 50 else "")
    )
    if len(hits):
        picking.node_list(view, hits[:50].tolist(), ["true", "predicted", "confidence"], "found")
