"""The nodes behind a clicked bar, bin or cell: listed, and highlighted on a map."""

from collections.abc import Callable, Hashable, Mapping

import numpy as np
import streamlit as st

from dashboard.cache import maps
from dashboard.charts.chart import Chart, NodeList
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import charts, exports, tables
from dashboard.views.picking import pick_node


class Highlights:
    """The lists of nodes that can be clicked on a page, and the one that was clicked.

    The session remembers a list by its name: the key of its chart, the settings of the chart, the
    number of the bar. A list is gone as soon as the page has no list of that name.
    """

    def __init__(self, view: View, page: str) -> None:
        self.view, self.page = view, page
        self._key = f"highlight_{page}"
        self._lists: dict[Hashable, NodeList] = {}

    def chart(self, chart: Chart, header: bool = True) -> None:
        """A chart whose points carry the numbers of its lists; a click highlights the list."""
        if header:
            st.header(chart.title)
        on_pick = self.add(chart.key, chart.lists or {}, chart.settings)
        charts.clickable(chart.figure, chart.key, chart.caption, on_pick, chart.marks)

    def add(
        self, key: str, lists: Mapping[int, NodeList], settings: Hashable = None
    ) -> Callable[[int], None]:
        """Offer lists; returns the callback that highlights one of them by its number."""
        self._lists |= {(key, settings, number): nodes for number, nodes in lists.items()}

        def on_pick(number: int) -> None:
            if (key, settings, number) in self._lists:
                self.choose((key, settings, number))

        return on_pick

    def choose(self, name: Hashable) -> None:
        """Highlight a list and pick its first node; for callbacks."""
        st.session_state[self._key] = name
        if len(nodes := self._lists[name].nodes):
            pick_node(self.view, int(nodes[0]))

    def show(self) -> None:
        """The highlighted list as a table and on a map."""
        chosen = self._lists.get(st.session_state.get(self._key))
        if chosen is None:
            return
        view, nodes, key = self.view, chosen.nodes, self._key
        st.header(f"{view.graph.noun.count(len(nodes))} {escaped(chosen.title)}", anchor=False)
        left, right = st.columns(2)
        with left:
            tables.node_table(view, nodes.tolist(), chosen.columns, f"{key}_list")
            with st.container(horizontal=True):
                rows, name = view.table.iloc[nodes], f"{view.run.key}-{self.page}"
                exports.csv_button("These as CSV", rows, name, key=f"{key}_csv")
                st.button(
                    "Close",
                    icon=":material/close:",
                    key=f"{key}_close",
                    on_click=lambda: st.session_state.pop(key, None),
                )
        with right:
            highlighted = np.zeros(view.graph.num_nodes, dtype=bool)
            highlighted[nodes] = True
            charts.node_map(
                view,
                maps.cached_map(view.loaded_run, "correct", view.theme, highlighted),
                f"{key}_map",
                view.say("The same nodes, highlighted on the map. Click a node to pick it."),
            )
