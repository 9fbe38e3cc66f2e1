"""Declaring a component, and reading what it reports."""

from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.components.shared.modules import bundle

COMPONENTS = Path(__file__).parent.parent


def component(name: str, html: str | None = None, script: str = "", **options: Any) -> Any:
    """The function that mounts a component.

    Its folder has its name; the script and the style sheet do too, unless ``script`` is given.
    """
    path = COMPONENTS / name / f"{script or name}.js"
    style = path.with_suffix(".css")
    css = style.read_text(encoding="utf-8") if style.is_file() else None
    return st.components.v2.component(f"bup_{name}", html=html, css=css, js=bundle(path), **options)


def reported(key: str, name: str) -> Any:
    """The last value that the component with this key reported under a name; else None."""
    return st.session_state.get(key, {}).get(name)
