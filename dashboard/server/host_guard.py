"""Middleware that refuses foreign host names and pages, and sends the content security policy."""

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

ANY_HOST = "*"
SPACE = "SPACE_HOST"
"""The environment variable with the host name of a Hugging Face Space."""
SPACES = "https://huggingface.co"
"""Pages there show a Space in a frame."""


def accepted_names() -> set[str]:
    """Host names of this server: this machine's, a Space's, and those in ``BUP_HOSTS``.

    Other names are refused, because the owner of a foreign page can let its name point here (DNS
    rebinding). Numeric addresses are always accepted: they cannot be redirected.
    """
    names = ",".join(os.environ.get(setting, "") for setting in ("BUP_HOSTS", SPACE))
    machine = socket.gethostname().lower()
    return {"localhost", machine, f"{machine}.local", *names.replace(",", " ").lower().split()}


def is_accepted_host(host: str, names: Collection[str]) -> bool:
    """Whether a Host header names this server."""
    name = _name(host)
    return name is not None and (ANY_HOST in names or name in names or _is_numeric(name))


def is_own_origin(origin: str, host: str, names: Collection[str]) -> bool:
    """Whether a page from ``origin`` comes from this server, which was asked as ``host``.

    A numeric address other than ``host`` may be that of another server.
    """
    name = _name(origin.partition("://")[2])
    return name is not None and (ANY_HOST in names or name in names or name == _name(host))


def _name(host: str) -> str | None:
    """A host without its port; None if it is no host."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:/@\s]+)(:\d{1,5})?", host.lower())
    return match and match[1].rstrip(".")


def _is_numeric(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class HostGuard:
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
            why = f"{host!r} is not a name of this server: start it with --name, or set BUP_HOSTS"
            return await _refuse(421, why, scope, receive, send)
        if origin is not None and not is_own_origin(origin, host, self._names):
            why = f"a page from {origin!r} may not use this server unless BUP_HOSTS names it"
            return await _refuse(403, why, scope, receive, send)
        if scope["path"].rstrip("/").endswith(streamlit_internals.METRICS_PATH):
            return await _refuse(404, "not for visitors", scope, receive, send)
        opens = scope["type"] == "websocket" or "text/html" in headers.get("accept", "")
        if opens and open_files.nearly_exhausted():
            return await _refuse(503, open_files.SERVER_FULL, scope, receive, send)
        if scope["type"] == "websocket" and origin is not None:
            scope = _with_own_origin(scope, host)
        policy = self._policy(host)

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy
                if self._frames == "'self'":
                    headers["X-Frame-Options"] = "SAMEORIGIN"
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"  # a link may name an uploaded graph
                if self._number is not None:
                    cookie = f"{balancer.COOKIE}={self._number}; Path=/; HttpOnly; SameSite=Lax"
                    headers.append("Set-Cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_policy)

    def _policy(self, host: str) -> str:
        """Everything comes from this server; components of a page are scripts in blobs."""
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
    """Hashes of the scripts inside Streamlit's page."""
    texts = streamlit_internals.inline_scripts()
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
    return [f"'sha256-{digest.decode()}'" for digest in digests]


def _with_own_origin(scope: Scope, host: str) -> Scope:
    """An origin that Streamlit accepts without asking another machine for this one's address."""
    own = b"origin", f"http://{host}".encode("latin-1")
    others = [header for header in scope["headers"] if header[0] != b"origin"]
    return {**scope, "headers": [*others, own]}


async def _refuse(status: int, why: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.close", "code": 1008})
    await PlainTextResponse(f"{why}\n", status)(scope, receive, send)
