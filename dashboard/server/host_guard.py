"""Who may ask the server, and what a browser may do with its pages."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import re
import socket
from collections.abc import Collection
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.network import open_files
from dashboard.server import balancer
from dashboard.ui import streamlit_internals

ANYBODY = "*"
SPACE = "SPACE_HOST"
"""In the environment of a Hugging Face Space: its name."""
SPACES = "https://huggingface.co"
"""Whose pages show a Space inside theirs."""


def accepted_names() -> set[str]:
    """Names under which visitors may ask: this machine's, a Space's, and those in ``BUP_HOSTS``.

    A foreign page can have any name of its own point here, and would then be let in as ours;
    addresses in numbers cannot be taken, so they need no mention.
    """
    given = ",".join(os.environ.get(setting, "") for setting in ("BUP_HOSTS", SPACE))
    machine = socket.gethostname().lower()
    return {"localhost", machine, f"{machine}.local", *given.replace(",", " ").lower().split()}


def is_accepted_host(host: str, names: Collection[str]) -> bool:
    """Whether a Host header names us."""
    name = _name(host)
    return name is not None and (ANYBODY in names or name in names or _in_numbers(name))


def is_own_origin(origin: str, host: str, names: Collection[str]) -> bool:
    """Whether a page from ``origin`` is one of those that ``host`` serves.

    Here an address in numbers may be anybody's, unless it is the one that was asked.
    """
    name = _name(origin.partition("://")[2])
    return name is not None and (ANYBODY in names or name in names or name == _name(host))


def _name(host: str) -> str | None:
    """Without the port; None of what is no host."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:/@\s]+)(:\d{1,5})?", host.lower())
    return found and found[1].rstrip(".")


def _in_numbers(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class HostGuard:
    """Refuses foreign names and pages, and sends the policy that every page keeps to."""

    def __init__(self, app: ASGIApp, names: Collection[str] | None = None) -> None:
        self._app, self._names = app, accepted_names() if names is None else names
        self._number = os.environ.get(balancer.PROCESS_NUMBER)
        self._scripts = " ".join(_inline_scripts())
        self._frames = "'self'" + (f" {SPACES}" if SPACE in os.environ else "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_accepted_host(host, self._names):
            said = f"{host!r} is not a name of this server: start it with --name, or set BUP_HOSTS"
            return await _refuse(421, said, scope, receive, send)
        if origin is not None and not is_own_origin(origin, host, self._names):
            said = f"a page from {origin!r} may not ask this server: name it in BUP_HOSTS if it may"
            return await _refuse(403, said, scope, receive, send)
        if scope["path"].rstrip("/").endswith(streamlit_internals.METRICS_PATH):
            return await _refuse(404, "not for visitors", scope, receive, send)
        opens = scope["type"] == "websocket" or "text/html" in headers.get("accept", "")
        if opens and open_files.nearly_exhausted():
            return await _refuse(503, open_files.SERVER_FULL, scope, receive, send)
        if scope["type"] == "websocket" and origin is not None:
            scope = _as_own_page(scope, host)
        policy = self._policy(host)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy
                if self._frames == "'self'":
                    headers["X-Frame-Options"] = "SAMEORIGIN"
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"  # a link may name somebody's own graph
                if self._number is not None:
                    cookie = f"{balancer.COOKIE}={self._number}; Path=/; HttpOnly; SameSite=Lax"
                    headers.append("Set-Cookie", cookie)
            await send(message)

        await self._app(scope, receive, guarded)

    def _policy(self, host: str) -> str:
        """Everything from here and nowhere else; components of a page are scripts in blobs."""
        rules: dict[str, Any] = {
            "default-src": "'self'",
            # Plotly compiles its WebGL charts in the browser.
            "script-src": f"'self' blob: 'unsafe-eval' {self._scripts}",
            "style-src": "'self' 'unsafe-inline'",
            "img-src": "'self' data: blob:",
            "font-src": "'self' data:",
            "media-src": "'self' data: blob:",
            "connect-src": f"'self' data: blob: ws://{host} wss://{host}",
            "worker-src": "'self' blob:",
            "frame-src": "'self'",
            "frame-ancestors": self._frames,
            "object-src": "'none'",
            "base-uri": "'self'",
            "form-action": "'self'",
        }
        return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def _inline_scripts() -> list[str]:
    """The scripts inside Streamlit's own page, by their hashes."""
    texts = streamlit_internals.inline_scripts()
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
    return [f"'sha256-{digest.decode()}'" for digest in digests]


def _as_own_page(scope: Scope, host: str) -> Scope:
    """Let in by us, so that Streamlit asks nobody: it would ask other machines who we are."""
    own = b"origin", f"http://{host}".encode("latin-1")
    others = [header for header in scope["headers"] if header[0] != b"origin"]
    return {**scope, "headers": [*others, own]}


async def _refuse(status: int, said: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.close", "code": 1008})
    await PlainTextResponse(f"{said}\n", status)(scope, receive, send)
