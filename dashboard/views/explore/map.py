"""The map of the graph: what it is coloured by, which nodes it shows, finding one by its words."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping

import numpy as np
import streamlit as st

from dashboard.cache import graphs, maps
from dashboard.cache.run_cache import LoadedRun
from dashboard.components import chart
from dashboard.components.focus_here import focus_here
from dashboard.components.map import graph_map, lasso_corners, map_data
from dashboard.components.map.excerpts import snap_window
from dashboard.components.map.map_data import Limits, Point
from dashboard.session.training import wait_for_map
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.views import picking
from dashboard.views.explore import before_after, what_if

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
    offered = columns.menu_columns(table)
    colour = st.selectbox(
        "Colour by",
        list(offered),
        key="colour",
        format_func=lambda key: offered[key].label,
        bind="query-params",
        on_change=lambda: st.session_state.update(range=None),  # it was of another score
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
        focus_here("find")
    return shown


def node_map(view: View, shown: np.ndarray, arrived: set[str]) -> None:
    """The map; beside it, if that is wanted, the same of the run before."""
    colour, memory = st.session_state.colour, st.session_state
    scales = memory.setdefault("scales", {})
    if "scale" in arrived:
        scales.pop((view.run.digest, colour), None)
        if memory.scale is not None and None not in memory.scale:
            scales[view.run.digest, colour] = tuple(memory.scale)
    own = maps.own_limits(view.loaded_run, colour)
    limits = scale(scales, (view.run.digest, colour), own, bool(memory.get("fit_colours")))
    memory.scale = list(limits) if limits is not None and limits != own else None
    if "lasso" in arrived:
        group = _enclosed(view, shown, memory.lasso) if memory.lasso else []
        if group != memory.get("group", []):
            memory.group = group
            st.rerun()  # what stands beside the map was drawn before
    if not graphs.layout(view.graph).finished:
        wait_for_map(view.graph)
    before = before_after.comparison_run(view)
    if before is None or colour not in columns.menu_columns(before.table):
        _map(view, view.loaded_run, MAP, shown, limits, together=False)
        return
    everything = np.ones(len(shown), dtype=bool)
    for column, loaded_run, key in zip(
        st.columns(2, gap="small"), (before, view.loaded_run), ("map_before", MAP), strict=True
    ):
        with column:
            st.caption(
                f"**{'Now' if loaded_run is view.loaded_run else 'Before'}**",
                text_alignment="center",
            )
            _map(view, loaded_run, key, shown if key == MAP else everything, limits, together=True)


def _map(
    view: View,
    loaded_run: LoadedRun,
    key: str,
    shown: np.ndarray,
    limits: Limits | None,
    together: bool,
) -> None:
    colour, memory = st.session_state.colour, st.session_state

    def on_pick() -> None:
        node = chart.clicked_node(key)
        if node is not None and what_if.linking() and view.picked:
            what_if.change_link(view, node)
        elif node is not None:
            picking.pick_node(view, node)

    def on_group() -> None:
        if corners := lasso_corners(key):
            memory.update(lasso=corners, group=_enclosed(view, shown, corners))

    def on_range() -> None:
        dragged = memory[key].get("range")
        if dragged and dragged["of"] == colour:
            memory.range = dragged["range"]

    def on_window() -> None:
        if seen := memory[key].get("window"):
            left, bottom, right, top = map(float, seen)
            windows[view.graph.digest] = snap_window((left, bottom, right, top))

    windows = memory.setdefault("windows", {})
    window = windows.get(view.graph.digest)
    thinned = maps.part_of(view.graph, window).thinned and view.picked
    cut, joined = what_if.changed_links(view)
    graph_map(
        maps.graph_parcel(view.graph, window),
        maps.layer_parcel(loaded_run, colour, shown, window),
        maps.look(loaded_run, colour, view.theme, limits),
        view.node if view.picked else -1,
        key,
        on_pick,
        on_group,
        on_range,
        on_window,
        view.graph.digest,
        focus(view) if thinned else None,
        memory.get("range"),
        memory.get("lasso") if memory.get("group") else None,
        address=key == MAP,
        hold=view.picked and not together,  # two maps are there to compare all of their colours
        together=together,
        cut=cut,
        joined=joined,
        linking=what_if.linking(),
        plain=st.query_params.get("plain") == "true",  # to see what others see
    )


def focus(view: View) -> list[list[float]]:
    """Where the picked node is, and then those that it is linked to, the first of very many."""
    near = view.graph.neighbours(view.node)[:NEAR]
    return view.positions[[view.node, *near]].astype(float).round(5).tolist()


def _enclosed(view: View, shown: np.ndarray, corners: list[Point]) -> list[int]:
    """Those inside what was drawn that are seen: neither filtered nor out of the range."""
    there = map_data.inside(view.positions, corners) & shown & in_range(view)
    return np.flatnonzero(there).tolist()


def in_range(view: View) -> np.ndarray:
    """Which nodes [n] have a score within what was dragged on the histogram."""
    low, high = st.session_state.get("range") or (None, None)
    column = columns.menu_columns(view.table)[st.session_state.colour]
    if column.kind != "score" or (low is None and high is None):
        return np.ones(len(view.table), dtype=bool)
    shades = column.shade(view.table[st.session_state.colour].to_numpy(float))
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    return (shades >= least) & (shades <= most)


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
    ids, wanted = view.table.id.iloc[hits].str.lower(), words.strip().lower()
    nearest = np.lexsort([~ids.str.startswith(wanted), ids != wanted])  # itself, then its like
    hits = hits[nearest]
    st.caption(f"{view.graph.noun.count(len(hits))} found")
    if len(hits):
        picking.answers(view, hits.tolist(), "found")
