"""Large data that does not change, as files that browsers fetch once and cache.

The name of a file is the hash of its content. So browsers may cache it forever, and only a page
that was sent the name can request it. Files drawn from an uploaded graph are deleted with it.
"""

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
"""Kept in memory, compressed; the least recently added file is dropped first."""
_FOLDER = "bup-files"
_CONTENT_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "bin": "application/octet-stream",
}

PUBLIC = ""
CACHE_FOREVER = "public, max-age=31536000, immutable"
CACHE_BRIEFLY = "private, max-age=600"


@dataclass
class StaticFile:
    compressed: bytes
    owners: set[str]
    """Tokens of the uploaded graphs that it was drawn from, or ``PUBLIC``."""

    @property
    def is_public(self) -> bool:
        return PUBLIC in self.owners

    @property
    def is_deleted(self) -> bool:
        """Whether every graph that it was drawn from has been deleted."""
        return not self.is_public and not any(map(uploads.exists, self.owners))


@lru_cache(maxsize=32)  # for the files that every page adds again
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:40]


class StaticFileCache:
    """Files by name; every method may be called from any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, StaticFile] = OrderedDict()
        self._size = 0

    def add(self, content: bytes, kind: str, owner: str = PUBLIC) -> str:
        """Store a file and return its name; pages call it whenever they need the file."""
        name = f"{_digest(content)}.{kind}"
        with self._lock:
            if name in self._entries:
                self._entries[name].owners.add(owner)
                self._entries.move_to_end(name)
                return name
        file = StaticFile(gzip.compress(content, 6, mtime=0), {owner})
        with self._lock:
            if name not in self._entries:
                self._size += len(file.compressed)
                self._entries[name] = file
            while self._size > self._most_bytes and len(self._entries) > 1:
                self._size -= len(self._entries.popitem(last=False)[1].compressed)
        return name

    def find(self, name: str) -> StaticFile | None:
        """The file, unless it has been dropped."""
        with self._lock:
            return self._entries.get(name)


_files = StaticFileCache()


def url(content: bytes, kind: str) -> str:
    """The URL of a file with this content, relative to any page of the app."""
    owner = PUBLIC if kind == "js" else _uploaded_graph()
    return f"{_FOLDER}/{_files.add(content, kind, owner)}"


def _uploaded_graph() -> str:
    """The token of the graph of this page if it is an upload, else ``PUBLIC``."""
    if not streamlit_internals.is_script_run():
        return PUBLIC
    tokens = uploads.tokens_in(str(st.session_state.get("graph", "")))
    return tokens[0] if tokens else PUBLIC


def routes() -> list[Route]:
    """The routes of the files, wherever the app is mounted."""
    return [Route(f"{below}/{_FOLDER}/{{name}}", _respond) for below in ("", "/{below:path}")]


def _respond(request: Request) -> Response:
    """Runs in a thread, because it may read the disk."""
    name = request.path_params["name"]
    file = _files.find(name)
    if file is None or file.is_deleted:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = {
        "Cache-Control": CACHE_FOREVER if file.is_public else CACHE_BRIEFLY,
        "Content-Encoding": "gzip",
        "Content-Type": _CONTENT_TYPES[name.rpartition(".")[2]],
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    content = file.compressed
    if "gzip" not in request.headers.get("accept-encoding", ""):
        content = gzip.decompress(content)
        del headers["Content-Encoding"]
    return Response(content, headers=headers)
