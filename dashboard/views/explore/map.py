"""The map of the graph: what it is coloured by, which nodes it shows, finding one by its words."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping

import numpy as np
import streamlit as st

from dashboard import columns, drawings, graphs
from dashboard.components import chart, map_data
from dashboard.components.excerpts import snapped
from dashboard.components.graph_map import graph_map
from dashboard.components.map_data import Limits
from dashboard.state import View
from dashboard.views import picking
from dashboard.views.waiting import wait_for_map

FILTERS = {
    "mistakes": "Only mistakes",
    "left out": "Only classes never shown",
    "test": "Only test nodes",
}
MAP = "map"
NEAR = 300  # neighbours of the picked node that a thinned map is told of


def controls(view: View) -> np.ndarray:
    """What the map is coloured by and which nodes it shows."""
    table = view.table
    offered = columns.of(table)
    colour = st.selectbox(
        "Colour by",
        list(offered),
        key="colour",
        format_func=lambda key: offered[key].label,
        bind="query-params",
        label_visibility="collapsed",
        width=170,
    )
    shown = np.ones(len(table), dtype=bool)
    with st.popover("Filter", icon=":material/filter_alt:"):
        chosen = st.pills(
            "Show",
            list(FILTERS),
            selection_mode="multi",
            key="show",
            format_func=lambda key: view.say(FILTERS[key]),
            bind="query-params",
        )
        if "mistakes" in chosen:
            shown &= table.correct.eq(False).fillna(False).to_numpy(bool)
        if "left out" in chosen:
            shown &= table.ood.to_numpy()
        if "test" in chosen:
            shown &= (table.part == "test").to_numpy()
        if offered[colour].kind == "score":
            st.caption("Drag on the histogram below the map to show a range only.")
        st.toggle(
            "Fit the colours to this run",
            key="fit_colours",
            help="Otherwise the colour scale of a score stays as it is when settings change, so "
            "that a brighter map means more doubt.",
        )
    with st.popover("Find", icon=":material/search:"):
        words = st.text_input(
            view.say("Find a node by id or title"), key="search", placeholder="part of an id"
        )
        if words:
            _found(view, words)
    return shown


def node_map(view: View, shown: np.ndarray) -> None:
    colour = st.session_state.colour
    names, spans = view.graph.class_names, st.session_state.setdefault("ranges", {})
    limits = scale(
        st.session_state.setdefault("scales", {}),
        (view.run.digest, colour),
        map_data.own_limits(view.table, colour),
        bool(st.session_state.get("fit_colours")),
    )

    def on_pick() -> None:
        node = chart.picked(MAP)
        if node is not None:
            picking.pick_node(view, node)

    def on_group() -> None:
        if nodes := chart.group(MAP):
            st.session_state.group = nodes

    def on_range() -> None:
        dragged = st.session_state[MAP].get("range")
        if dragged:
            spans[dragged["of"]] = dragged["range"]

    def on_window() -> None:
        if seen := st.session_state[MAP].get("window"):
            left, bottom, right, top = map(float, seen)
            windows[view.graph.digest] = snapped((left, bottom, right, top))

    if not graphs.layout(view.graph).finished:
        wait_for_map(view.graph)
    windows = st.session_state.setdefault("windows", {})
    window = windows.get(view.graph.digest)
    graph_map(
        drawings.graph_parcel(view.graph, window),
        drawings.layer_parcel(view.known, colour, shown, window),
        map_data.look(view.table, colour, names, view.theme, limits),
        view.node,
        MAP,
        on_pick,
        on_group,
        on_range,
        on_window,
        view.graph.digest,
        focus(view) if drawings.part_of(view.graph, window).thinned else None,
        spans.get(colour),
        grouped=bool(st.session_state.get("group")),
        plain=st.query_params.get("plain") == "true",  # to see what others see
    )


def focus(view: View) -> list[list[float]]:
    """Where the picked node is, and then those that it is linked to, the first of very many."""
    near = view.graph.neighbours(view.node)[:NEAR]
    return view.positions[[view.node, *near]].astype(float).round(5).tolist()


def scale(
    kept: MutableMapping[Hashable, Limits], key: Hashable, own: Limits | None, refit: bool
) -> Limits | None:
    """The limits of a colour scale: those kept for this graph and score, else the run's ``own``.

    Refitting replaces what is kept, so that the scale stays where it was last fitted.
    """
    if own is None:
        return None
    if refit or key not in kept:
        kept[key] = own
    return kept[key]


def _found(view: View, words: str) -> None:
    texts = view.table.id if "title" not in view.table else view.table.id + " " + view.table.title
    hits = np.flatnonzero(texts.str.contains(words, case=False, regex=False))
    st.caption(f"{view.graph.noun.counted(len(hits))} found")
    if len(hits):
        picking.node_list(view, hits.tolist(), ["true", "predicted", "confidence"], "found")
