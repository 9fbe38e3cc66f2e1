"""One request to an ASGI app, without a network."""

import asyncio
from typing import Any


class Answer:
    def __init__(self, sent: list[dict[str, Any]]) -> None:
        self.status = sent[0].get("status", sent[0]["type"])
        self.headers = {k.decode(): v.decode() for k, v in sent[0].get("headers", [])}
        self.body = b"".join(message.get("body", b"") for message in sent[1:])


def ask(app: Any, path: str, headers: dict[str, str] | None = None, kind: str = "http") -> Answer:
    """What the app answers; to a websocket, ``status`` is what was sent first."""
    sent: list[dict[str, Any]] = []
    given = {"host": "localhost", "accept-encoding": "gzip"} | (headers or {})
    scope = {
        "type": kind,
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in given.items()],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"} if kind == "http" else {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    asyncio.run(app(scope, receive, send))
    return Answer(sent)
