"""The visitor of this browser session, and what this session has uploaded."""

import streamlit as st

from bup.datasets.uploads.store import Uploader
from bup.graph import Graph
from bup.imported.predictions import StoredPredictions, list_stored
from bup.io.limits import is_shared
from dashboard.network.clients import Client, identify_client
from dashboard.ui import streamlit_internals


def client() -> Client:
    """The browser that looks at this page."""
    address = str(st.context.ip_address or "")
    return identify_client(st.context.cookies, address, streamlit_internals.session_id())


def uploader() -> Uploader:
    """The same browser, as the store of uploads knows it."""
    who = client()
    return Uploader(who.browser_id, who.address_id)


def graphs() -> list[str]:
    """Names of the graphs that this session has uploaded."""
    return st.session_state.setdefault("uploaded_graphs", [])


def predictions() -> list[StoredPredictions]:
    """The predictions that this session has uploaded."""
    return st.session_state.setdefault("uploaded_predictions", [])


def predictions_of(graph: Graph) -> list[StoredPredictions]:
    """Those of a graph; on a machine that is not shared, also those of earlier sessions."""
    here = [given for given in predictions() if given.digest == graph.digest]
    if is_shared():
        return here
    keys = {given.key for given in here}
    return here + [given for given in list_stored(graph.digest) if given.key not in keys]
