"""Show errors that the visitor can act on."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

import bup
from dashboard.ui.markdown import escaped


def show_error(error: Exception | str) -> None:
    st.error(escaped(error), icon=":material/error:")


@contextmanager
def show_errors() -> Iterator[None]:
    """Show a ``BupError`` of the block on the page instead of raising it."""
    try:
        yield
    except bup.BupError as error:
        show_error(error)
