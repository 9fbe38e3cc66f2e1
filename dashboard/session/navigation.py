"""Links from page to page, by address.

The table of pages imports every page, so a page cannot import the table: the router sets the pages
at the start of each run of the script.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.ui.streamlit_internals import Page

Query = Mapping[str, str] | Sequence[tuple[str, str]]
"""The parameters of a link."""


def set_pages(pages: Mapping[str, Page]) -> None:
    """Keep the pages by their addresses: a fragment runs without the router."""
    st.session_state.linked_pages = dict(pages)


def page_link(
    address: str, label: str, icon: str | None = None, query: Query | None = None
) -> None:
    st.page_link(st.session_state.linked_pages[address], label=label, icon=icon, query_params=query)


def addresses() -> list[str]:
    """The addresses of all pages; the first is also at the root."""
    return list(st.session_state.linked_pages)


def title(address: str) -> str:
    return st.session_state.linked_pages[address].title


def switch_page(address: str, query: Query) -> None:
    st.switch_page(st.session_state.linked_pages[address], query_params=query)
