"""The picked node as a card, the same on every page."""

from html import escape

import streamlit as st

from bup.experiments import epistemic_score
from bup.explanation import sentences
from bup.explanation.reasons import why_no_reasons
from dashboard.figures.card import card_html
from dashboard.session.navigation import page_link
from dashboard.session.run_link import parameters
from dashboard.session.view import View
from dashboard.ui import columns


def node_card(view: View, address: str = "", run: str = "") -> None:
    """What the run says of the picked node, with links to pages about it.

    The card stays in sight while the page scrolls, so that a click on a chart below is seen to
    pick a node. Without a picked node there is no card. ``address`` is the page's own, which gets
    no link; ``run`` names a run that is not the sidebar's, to which the links then lead.
    """
    if not view.picked:
        return
    score = epistemic_score(view.spec.method)
    with st.container(border=True, key="node_card", horizontal=True, vertical_alignment="center"):
        st.html(
            card_html(
                view.describe(view.node),
                view.table.iloc[view.node],
                score,
                columns.score_columns(view.table)[score].label,
                view.loaded_run.surer(score, view.node),
                view.graph.noun,
                view.theme,
                run,
                _reason(view),
            )
        )
        query = None
        if run:
            node = ("node", view.graph.node_id(view.node))
            query = [*parameters(view.spec, view.graph), node]
        page_link("explore", "Open in Explore", ":material/hub:", query)
        if address != "compare":
            page_link("compare", "Compare methods", ":material/compare:", query)


def _reason(view: View) -> str:
    """Why the run says so, as HTML; empty where nothing tells, or not at once."""
    run = view.loaded_run
    if why_no_reasons(view.result) or not run.reasoner.is_fast:
        return ""
    return sentences.because(run.reasons(view.node), lambda name: f"<b>{escape(name)}</b>")
