"""Connections that send half a request are not held open for it."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 10.0  # seconds for everything before the body
BODY = 20.0  # seconds between two pieces of it


class Patient(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, which waits for ever for the rest of a request."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._wait(HEAD)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._wait(BODY)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._wait(BODY)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._wait(None)
        super().on_message_complete()

    def _wait(self, seconds: float | None) -> None:
        """From now on so long for what comes next; None where nothing is missing."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = None
        if seconds is not None:
            self._waiting = self.loop.call_later(seconds, self._give_up, seconds)

    def _give_up(self, seconds: float) -> None:
        if self.flow.read_paused:  # it is the app that has not taken yet what came
            self._wait(seconds)
        else:
            self.transport.abort()
