"""Parts of the pages for uploads: the review of files, and the list of what was uploaded."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

READING = "Reading your files ..."


def digest(files: Sequence[tuple[str, bytes]]) -> str:
    """A key for the names and the contents of files."""
    content = hashlib.sha256(repr([name for name, _ in files]).encode())
    for _, data in files:
        content.update(hashlib.sha256(data).digest())
    return content.hexdigest()


def name_and_open(
    facts: Mapping[str, str], name: str, open_label: str, key: str
) -> tuple[str, bool]:
    """Figures of the files, a field for a name and the button that opens them."""
    with st.container(horizontal=True, gap="large"):
        for label, value in facts.items():
            st.metric(label, value, width="content")
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    title = left.text_input("Name", name, max_chars=40, key=f"{key}_title")
    icon = ":material/hub:"
    return title, right.button(open_label, type="primary", icon=icon, key=f"{key}_open")


def upload_row(
    key: str, show: Callable[[], object], caption: str, help_text: str, delete: Callable[[], None]
) -> None:
    """One upload of this visitor, with a button that deletes it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        show()
        st.caption(caption)
        st.button(
            "Delete",
            icon=":material/delete:",
            key=f"delete_{key}",
            on_click=delete,
            help=help_text,
        )
