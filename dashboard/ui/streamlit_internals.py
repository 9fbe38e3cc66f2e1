"""What the app uses of Streamlit beyond its public documentation: one function for each use.

``tests/dashboard/ui/test_streamlit_internals.py`` checks each of them. ``pyproject.toml`` has the
versions of Streamlit with which those tests passed: run them before you raise it.
"""

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
from streamlit.errors import StreamlitAPIException as StreamlitAPIException
from streamlit.navigation.page import Page as Page
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

STATIC = Path(st.__file__).parent / "static"
METRICS_PATH = "/_stcore/metrics"
UPLOAD_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
"""Where a browser puts an uploaded file; the group is its session."""


def is_script_run() -> bool:
    """Whether Streamlit runs this code as a page's script."""
    return get_script_run_ctx(suppress_warning=True) is not None


def session_id() -> str:
    """The browser session whose script runs, which is one tab; "" outside of a script."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


def is_history_navigation() -> bool:
    """Whether the browser's back or forward button started this run of the script."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def widgets_of_page() -> AbstractContextManager[None]:
    """Widgets made inside belong to the open page, as in ``Page.run``, also within a fragment."""
    context = get_script_run_ctx()
    assert context is not None
    return context.run_with_active_hash(context.page_script_hash)


def is_active_session(session: str) -> bool:
    """Whether a browser is connected to a session; always True where no server runs."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


def uploaded_files() -> Mapping[str, Mapping[str, Any]]:
    """The uploaded files that the server holds, by session and by their id."""
    if not runtime.exists():
        return {}
    manager = runtime.get_instance().uploaded_file_mgr
    return manager.file_storage if isinstance(manager, MemoryUploadedFileManager) else {}


def remove_files_of_ended_sessions() -> None:
    """Free memory now; Streamlit waits until another session ends."""
    if files := uploaded_files():
        server = runtime.get_instance()
        sessions: Any = server._session_mgr
        sessions._session_storage._cache.expire()
        for session in list(files):
            if sessions.get_session_info(session) is None:
                server.uploaded_file_mgr.remove_session_files(session)


def plotly_bundle() -> str | None:
    """The name of Streamlit's own copy of plotly.js, which browsers keep; None without one."""
    found = sorted((STATIC / "static" / "js").glob("PlotlyChart.*.js"))
    return found[0].name if found else None


def inline_scripts() -> list[str]:
    """The scripts inside Streamlit's HTML page, which a content security policy has to allow."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    return re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
