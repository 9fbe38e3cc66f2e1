"""The garbage collector, kept away from what stays."""

from __future__ import annotations

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def freeze_gc(page: str) -> None:
    """Keep what a page has loaded out of the garbage collections that follow every script run.

    Streamlit makes one each time; over all objects of the libraries it takes a quarter of a second
    and more, in which nobody is served. Once for every page, because each loads more of them.
    """
    gc.collect()
    gc.freeze()
