"""Large things that do not change, as files that browsers fetch once and keep.

A file's name is the hash of its content: it can be kept for good, and nobody who does not know the
content can ask for it. What is drawn of somebody's own graph goes with the graph.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bup.datasets import uploads
from dashboard.ui import streamlit_internals

MOST_BYTES = 256 * 2**20
"""Kept in memory, compressed; those not offered for longest go first."""
_FOLDER = "bup-files"
_KINDS = {
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "bin": "application/octet-stream",
}


ANYBODY = ""
FOR_GOOD = "public, max-age=31536000, immutable"
FOR_A_WHILE = "private, max-age=600"


@dataclass
class Payload:
    compressed: bytes
    owners: set[str]
    """Tokens of the own graphs that it was drawn of, or ``ANYBODY``."""

    @property
    def for_anybody(self) -> bool:
        return ANYBODY in self.owners

    @property
    def gone(self) -> bool:
        """Whether every graph that it was drawn of has been deleted."""
        return not self.for_anybody and not any(map(uploads.exists, self.owners))


@lru_cache(maxsize=32)  # of what every page offers again
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:40]


class Payloads:
    """What is on offer; every method may be called from any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Payload] = OrderedDict()
        self._size = 0

    def offer(self, content: bytes, kind: str, owner: str = ANYBODY) -> str:
        """The name under which browsers find the content; asked anew whenever a page needs it."""
        name = f"{_digest(content)}.{kind}"
        with self._lock:
            if name in self._kept:
                self._kept[name].owners.add(owner)
                self._kept.move_to_end(name)
                return name
        payload = Payload(gzip.compress(content, 6, mtime=0), {owner})
        with self._lock:
            if name not in self._kept:
                self._size += len(payload.compressed)
                self._kept[name] = payload
            while self._size > self._most_bytes and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].compressed)
        return name

    def find(self, name: str) -> Payload | None:
        """If it is still on offer."""
        with self._lock:
            return self._kept.get(name)


_offered = Payloads()


def url(content: bytes, kind: str) -> str:
    """Where the browser fetches this content, relative to any page of the app."""
    owner = ANYBODY if kind == "js" else _own_graph()
    return f"{_FOLDER}/{_offered.offer(content, kind, owner)}"


def _own_graph() -> str:
    """The token of the graph at which the page looks, if it is somebody's own."""
    if not streamlit_internals.is_script_run():
        return ANYBODY
    tokens = uploads.tokens_in(str(st.session_state.get("graph", "")))
    return tokens[0] if tokens else ANYBODY


def routes() -> list[Route]:
    """What answers at ``url``, wherever the app is mounted."""
    return [Route(f"{below}/{_FOLDER}/{{name}}", _answer) for below in ("", "/{below:path}")]


def _answer(request: Request) -> Response:
    """In a thread, because it may have to look at the disk."""
    name = request.path_params["name"]
    payload = _offered.find(name)
    if payload is None or payload.gone:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = {
        "Cache-Control": FOR_GOOD if payload.for_anybody else FOR_A_WHILE,
        "Content-Encoding": "gzip",
        "Content-Type": _KINDS[name.rpartition(".")[2]],
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    content = payload.compressed
    if "gzip" not in request.headers.get("accept-encoding", ""):
        content = gzip.decompress(content)
        del headers["Content-Encoding"]
    return Response(content, headers=headers)
