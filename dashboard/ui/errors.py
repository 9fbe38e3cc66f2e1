"""Errors that the visitor can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

import bup
from dashboard.ui.markdown import escaped


def problem(error: Exception | str) -> None:
    st.error(escaped(error), icon=":material/error:")


@contextmanager
def explained() -> Iterator[None]:
    """An error of ours ends what is inside, and is said in its place."""
    try:
        yield
    except bup.BupError as error:
        problem(error)
