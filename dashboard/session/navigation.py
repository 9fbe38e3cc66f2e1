"""Links between pages, by address.

The table of pages imports every page, so that a page cannot import the table: the router says at
the start of each run where links may lead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.ui.streamlit_internals import Page

Query = Mapping[str, str] | Sequence[tuple[str, str]]
"""The parameters that open a page at the right place."""


def set_pages(pages: Mapping[str, Page]) -> None:
    """Pages by their addresses; kept for the session, because a fragment runs without a router."""
    st.session_state.linked_pages = dict(pages)


def page_link(
    address: str, label: str, icon: str | None = None, query: Query | None = None
) -> None:
    st.page_link(st.session_state.linked_pages[address], label=label, icon=icon, query_params=query)


def addresses() -> list[str]:
    """Where links may lead; the first is the page at the root."""
    return list(st.session_state.linked_pages)


def title(address: str) -> str:
    return st.session_state.linked_pages[address].title
