"""Large things that do not change, as files that browsers fetch once and keep.

A file's name is the hash of its content: it can be kept for good, and nobody who does not know the
content can ask for it.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import OrderedDict
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

MOST_BYTES = 256 * 2**20
"""Kept in memory, compressed; those not offered for longest go first."""
_FOLDER = "bup-files"
_KINDS = {
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "bin": "application/octet-stream",
}


@lru_cache(maxsize=32)  # of what every page offers again
def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:40]


class Payloads:
    """What is on offer; every method may be called from any thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._compressed: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0

    def offer(self, content: bytes, kind: str) -> str:
        """The name under which browsers find the content; asked anew whenever a page needs it."""
        name = f"{_digest(content)}.{kind}"
        with self._lock:
            if name in self._compressed:
                self._compressed.move_to_end(name)
                return name
        compressed = gzip.compress(content, 6, mtime=0)
        with self._lock:
            if name not in self._compressed:
                self._size += len(compressed)
                self._compressed[name] = compressed
            while self._size > self._most_bytes and len(self._compressed) > 1:
                self._size -= len(self._compressed.popitem(last=False)[1])
        return name

    def find(self, name: str) -> bytes | None:
        """Compressed, if it is still on offer."""
        with self._lock:
            return self._compressed.get(name)


_offered = Payloads()


def address(content: bytes, kind: str) -> str:
    """Where the browser fetches this content, relative to any page of the app."""
    return f"{_FOLDER}/{_offered.offer(content, kind)}"


def routes() -> list[Route]:
    """What answers at ``address``, wherever the app is mounted."""
    return [Route(f"{below}/{_FOLDER}/{{name}}", _answer) for below in ("", "/{below:path}")]


async def _answer(request: Request) -> Response:
    name = request.path_params["name"]
    content = _offered.find(name)
    if content is None:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Encoding": "gzip",
        "Content-Type": _KINDS[name.rpartition(".")[2]],
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if "gzip" not in request.headers.get("accept-encoding", ""):
        content = gzip.decompress(content)
        del headers["Content-Encoding"]
    return Response(content, headers=headers)
