"""Who may ask the server, and what a browser may do with its pages."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import re
import socket
from collections.abc import Collection
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard import processes

ANYBODY = "*"


def own_names() -> set[str]:
    """Names under which visitors may ask: this machine's, and those in ``BUP_HOSTS``.

    A foreign page can have any name of its own point here, and would then be let in as ours;
    addresses in numbers cannot be taken, so they need no mention.
    """
    named = os.environ.get("BUP_HOSTS", "").replace(",", " ").lower().split()
    machine = socket.gethostname().lower()
    return {"localhost", machine, f"{machine}.local", *named}


def allowed(host: str, names: Collection[str]) -> bool:
    """Whether a Host header names us."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:/@\s]+)(:\d{1,5})?", host.lower())
    if found is None:
        return False
    name = found[1].rstrip(".")
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return ANYBODY in names or name in names
    return True


class Doors:
    """Refuses foreign names, and sends the policy that every page keeps to."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app, self._names = app, names
        self._number = os.environ.get(processes.OWN)
        self._scripts = " ".join(_inline_scripts())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        host = Headers(scope=scope).get("host", "")
        if not allowed(host, self._names):
            return await _refuse(host, scope, receive, send)
        policy = self._policy(host)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy
                headers["X-Frame-Options"] = "SAMEORIGIN"
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"  # a link may name somebody's own graph
                if self._number is not None:
                    cookie = f"{processes.COOKIE}={self._number}; Path=/; HttpOnly; SameSite=Lax"
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
            "frame-ancestors": "'self'",
            "object-src": "'none'",
            "base-uri": "'self'",
            "form-action": "'self'",
        }
        return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def _inline_scripts() -> list[str]:
    """The scripts inside Streamlit's own page, by their hashes."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    texts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
    return [f"'sha256-{digest.decode()}'" for digest in digests]


async def _refuse(host: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        return await send({"type": "websocket.close", "code": 1008})
    said = f"{host!r} is not a name of this server: start it with --name, or set BUP_HOSTS\n"
    await PlainTextResponse(said, 421)(scope, receive, send)
