"""What is made of dropped files once, not on every click."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import streamlit as st

T = TypeVar("T")
READING = "Reading your files ..."


def per_session(place: str, key: Hashable, make: Callable[[], T]) -> T:
    """Kept with the visitor until the key is another."""
    kept = st.session_state.get(place)
    if kept is None or kept[0] != key:
        with st.spinner(READING):
            kept = st.session_state[place] = key, make()
    return kept[1]


def digest(files: Sequence[tuple[str, bytes]]) -> str:
    content = hashlib.sha256(repr([name for name, _ in files]).encode())
    for _, data in files:
        content.update(hashlib.sha256(data).digest())
    return content.hexdigest()
