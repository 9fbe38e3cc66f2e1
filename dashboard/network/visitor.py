"""The visitor of this browser session, and what this session has uploaded."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bup.datasets.uploads.store import Uploader
from bup.graph import Graph
from bup.imported.predictions import list_stored
from bup.io.server_limits import is_shared
from dashboard.network.clients import Client, identify_client
from dashboard.ui import streamlit_internals


@dataclass(frozen=True)
class UploadedPredictions:
    """Predictions, as they are offered beside other runs."""

    title: str
    digest: str  # of their graph
    method: str
    key: str
    classes: tuple[int, ...] = ()  # that they have a column for


def client() -> Client:
    """The browser that looks at this page."""
    address = str(st.context.ip_address or "")
    return identify_client(st.context.cookies, address, streamlit_internals.session_id())


def uploader() -> Uploader:
    """The same for what is kept on disk."""
    who = client()
    return Uploader(who.browser_id, who.address_id)


def graphs() -> list[str]:
    """Names of graphs."""
    return st.session_state.setdefault("own_graphs", [])


def predictions() -> list[UploadedPredictions]:
    return st.session_state.setdefault("brought", [])


def predictions_of(graph: Graph) -> list[UploadedPredictions]:
    """Those of a graph: what was brought here and, on a machine of one's own, all that is kept."""
    here = [given for given in predictions() if given.digest == graph.digest]
    if is_shared():
        return here
    known = {given.key for given in here}
    return here + [
        UploadedPredictions(about.title, about.digest, about.method, about.key, about.classes)
        for about in list_stored(graph.digest)
        if about.key not in known
    ]
