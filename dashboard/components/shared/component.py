"""Declaring a component: its script, its style sheet and its HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.components.shared.modules import bundle


def component(name: str, script: Path, html: str | None = None, isolate_styles: bool = True) -> Any:
    """The function that mounts a component; its style sheet has the name of its script."""
    style = script.with_suffix(".css")
    return st.components.v2.component(
        name,
        html=html,
        css=style.read_text(encoding="utf-8") if style.is_file() else None,
        js=bundle(script),
        isolate_styles=isolate_styles,
    )
