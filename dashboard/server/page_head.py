"""Middleware that adds a script to Streamlit's HTML page, before Streamlit's own scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.components import static_files

STEPS = (Path(__file__).parent.parent / "components" / "history" / "steps.js").read_bytes()
# Headers of a request that would bring a compressed page, a part of one or none.
REMOVED = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")


class PageHead:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            return await self._app(scope, receive, send)
        request = [(name, value) for name, value in scope["headers"] if name not in REMOVED]
        start: dict[str, Any] | None = None
        body = b""

        async def send_with_script(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                if scope["method"] == "GET" and kind.startswith("text/html"):
                    start = dict(message)
                    return
            if start is None or message["type"] != "http.response.body":
                return await send(message)
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            script = f'<script src="{static_files.url(STEPS, "js")}"></script>'
            body = body.replace(b"<head>", b"<head>" + script.encode(), 1)
            headers = MutableHeaders(scope=start)
            for name in ("etag", "last-modified", "accept-ranges"):
                del headers[name]
            headers["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self._app(dict(scope) | {"headers": request}, receive, send_with_script)
