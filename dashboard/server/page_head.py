"""Middleware that adds a script to Streamlit's HTML page, before Streamlit's own scripts."""

from pathlib import Path

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
        response: list[Message] = []

        async def collect(message: Message) -> None:
            response.append(message)

        await self._app({**scope, "headers": request}, receive, collect)
        headers = MutableHeaders(scope=response[0])
        if scope["method"] == "GET" and headers.get("content-type", "").startswith("text/html"):
            page = b"".join(message.get("body", b"") for message in response[1:])
            script = f'<head><script src="{static_files.url(STEPS, "js")}"></script>'
            page = page.replace(b"<head>", script.encode(), 1)
            for name in ("etag", "last-modified", "accept-ranges"):
                del headers[name]
            headers["content-length"] = str(len(page))
            response[1:] = [{"type": "http.response.body", "body": page}]
        for message in response:
            await send(message)
