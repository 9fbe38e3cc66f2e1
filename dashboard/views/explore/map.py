"""The map of the graph: its colours, its filter, finding a node, and clicks on it."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping

import numpy as np
import streamlit as st

from bup.graph import Graph
from dashboard.cache import graphs, maps
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.focus_here import focus_here
from dashboard.components.map import graph_map, lasso_corners, map_data
from dashboard.components.map.excerpts import snap_window
from dashboard.components.map.map_data import Limits, Point
from dashboard.session import url
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.views import picking
from dashboard.views.explore import before_after, what_if, why
from dashboard.views.explore.find import search_field

FILTERS = {
    "mistakes": ("Only mistakes", lambda table: table.correct.eq(False).fillna(False)),
    "left out": ("Only classes never shown", lambda table: table.ood),
    "test": ("Only test nodes", lambda table: table.part == "test"),
}
"""Title, and which rows of the node table the map then shows."""
MAP = "map"
MOST_NEIGHBOURS = 300
"""How many neighbours of the picked node a thinned map always shows."""


def map_controls(view: View) -> np.ndarray:
    """The widgets above the map; returns which nodes [n] the filter shows."""
    table = view.table
    offered = columns.menu_columns(table)
    colour = link_choice(
        st.selectbox,
        "Colour by",
        {name: column.label for name, column in offered.items()},
        "colour",
        on_change=lambda: st.session_state.update(range=None),  # the range was of another score
        label_visibility="collapsed",
        width=170,
    )
    visible = np.ones(len(table), dtype=bool)
    with st.popover("Filter", icon=":material/filter_alt:"):
        titles = {name: view.say(title) for name, (title, _) in FILTERS.items()}
        for name in link_choice(st.pills, "Show", titles, "show", selection_mode="multi"):
            visible &= FILTERS[name][1](table).to_numpy(bool)
        if offered[colour].kind == "score":
            st.caption("To show only a range of values, drag on the histogram below the map.")
        st.toggle(
            "Fit the colours to this run",
            key="fit_colours",
            help="Otherwise the colour scale of a score stays as it is when settings change, so "
            "that a brighter map means more doubt.",
        )
    with st.popover("Find", icon=":material/search:"):
        search_field(view)
        focus_here("find")
    return visible


def node_map(view: View, visible: np.ndarray, arrived: set[str]) -> None:
    """The map, or the maps before and after a change; ``arrived`` names what the link said."""
    colour, state = st.session_state.colour, st.session_state
    scales, key = state.setdefault("scales", {}), (view.run.digest, colour)
    if "scale" in arrived:
        scales.pop(key, None)
        if state.scale is not None and None not in state.scale:
            scales[key] = tuple(state.scale)
    own = maps.own_limits(view.loaded_run, colour)
    limits = scale(scales, key, own, bool(state.get("fit_colours")))
    state.scale = list(limits) if limits is not None and limits != own else None
    if "lasso" in arrived:
        group = _nodes_inside(view, visible, state.lasso) if state.lasso else []
        if group != state.get("group", []):
            state.group = group
            st.rerun()  # the panel beside the map is drawn before the map
    if not graphs.layout(view.graph).finished:
        wait_for_map(view.graph)
    before = before_after.comparison_run(view)
    if before is None or colour not in columns.menu_columns(before.table):
        _map(view, view.loaded_run, MAP, visible, limits, together=False)
        return
    left, right = st.columns(2, gap="small")
    with left:
        st.caption("**Before**", text_alignment="center")
        _map(view, before, "map_before", np.ones(len(visible), bool), limits, together=True)
    with right:
        st.caption("**Now**", text_alignment="center")
        _map(view, view.loaded_run, MAP, visible, limits, together=True)


def _map(
    view: View,
    loaded_run: LoadedRun,
    key: str,
    visible: np.ndarray,
    limits: Limits | None,
    together: bool,
) -> None:
    colour, state = st.session_state.colour, st.session_state

    def choose(node: int) -> None:
        if what_if.map_changes_links() and view.picked:
            what_if.change_link(view, node)
        else:
            picking.pick_node(view, node)

    def on_group() -> None:
        if corners := lasso_corners(key):
            state.update(lasso=corners, group=_nodes_inside(view, visible, corners))

    def on_range() -> None:
        dragged = state[key].get("range")
        if dragged and dragged["of"] == colour:
            state.range = dragged["range"]

    def on_window() -> None:
        if window := state[key].get("window"):
            left, bottom, right, top = map(float, window)
            windows[view.graph.digest] = snap_window((left, bottom, right, top))

    windows = state.setdefault("windows", {})
    window = windows.get(view.graph.digest)
    thinned = maps.part_of(view.graph, window).thinned and view.picked
    cut, joined = what_if.changed_links(view)
    graph_map(
        maps.graph_parcel(view.graph, window),
        maps.layer_parcel(loaded_run, colour, visible, window),
        maps.look(loaded_run, colour, view.theme, limits),
        view.node if view.picked else -1,
        key,
        picking.on_click(key, choose),
        on_group,
        on_range,
        on_window,
        view.graph.digest,
        focus(view) if thinned else None,
        state.get("range"),
        state.get("lasso") if state.get("group") else None,
        address=key == MAP,
        hold=view.picked and not together,  # two maps are there to compare all of their colours
        together=together,
        cut=cut,
        joined=joined,
        linking=what_if.map_changes_links(),
        reasons=None if together else why.lit_reasons(view),
        plain=url.get("plain") == "true",  # to see the map of browsers without WebGL2
    )


@st.fragment(run_every=1.0)
def wait_for_map(graph: Graph) -> None:
    """How far a graph's drawing is; when it is finished, the page runs again to show it."""
    layout = graphs.layout(graph)
    if layout.finished:
        st.rerun()
    st.progress(layout.share, "A first sketch of the map: it is being drawn")


def focus(view: View) -> list[list[float]]:
    """Positions of the picked node and of its first neighbours."""
    nodes = [view.node, *view.graph.neighbours(view.node)[:MOST_NEIGHBOURS]]
    return view.positions[nodes].astype(float).round(5).tolist()


def _nodes_inside(view: View, visible: np.ndarray, corners: list[Point]) -> list[int]:
    """The nodes inside a lasso that the filter and the range show."""
    inside = map_data.inside(view.positions, corners) & visible & in_range(view)
    return np.flatnonzero(inside).tolist()


def in_range(view: View) -> np.ndarray:
    """Which nodes [n] have a score in the range that was dragged on the histogram."""
    low, high = st.session_state.get("range") or (None, None)
    column = columns.menu_columns(view.table)[st.session_state.colour]
    if column.kind != "score" or (low is None and high is None):
        return np.ones(len(view.table), dtype=bool)
    shades = column.shade(view.table[st.session_state.colour].to_numpy(float))
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    return (shades >= least) & (shades <= most)


def scale(
    scales: MutableMapping[Hashable, Limits], key: Hashable, own: Limits | None, refit: bool
) -> Limits | None:
    """The limits of a colour scale: those of the graph and score so far, else the run's ``own``.

    Refitting replaces the limits, so that the scale stays where it was last fitted.
    """
    if own is None:
        return None
    if refit or key not in scales:
        scales[key] = own
    return scales[key]
