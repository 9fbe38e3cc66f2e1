"""The words of the picked node, for graphs whose features are words."""

from __future__ import annotations

import streamlit as st

from bup.graph.words import shared_words, speaks_of
from dashboard.session.view import View
from dashboard.ui.markdown import escaped

MOST_NEIGHBOURS = 6


def node_words(view: View) -> None:
    """The most informative words of the picked node, and those that its neighbours share."""
    graph, node = view.graph, view.node
    if graph.words is None:
        return
    words = speaks_of(graph, node)
    if words:
        st.markdown(f"Most informative words: {', '.join(f'**{escaped(w)}**' for w in words)}")
    else:
        st.markdown("Its text has none of the words that this graph counts.")
    near = graph.neighbours(node).tolist()
    if not near:
        return
    with st.expander("Words shared with its neighbours"):
        lines = []
        for other in near[:MOST_NEIGHBOURS]:
            shared = ", ".join(map(escaped, shared_words(graph, node, other)))
            lines.append(f"- {escaped(view.name_of(other))}: {shared or '*none*'}")
        if len(near) > MOST_NEIGHBOURS:
            lines.append(f"- and {len(near) - MOST_NEIGHBOURS:,} more neighbours")
        st.markdown("\n".join(lines))
