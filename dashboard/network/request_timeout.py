"""What uvicorn does for a connection, and what it does not: patience with half a request ends, and
the address that the process at the front tells with the first request holds for all of them."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS

from dashboard.network.clients import ADDRESS

HEAD_TIMEOUT = 10.0  # seconds for everything before the body
BODY_TIMEOUT = 20.0  # seconds between two pieces of it


class TimeoutProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it, which waits for ever for the rest of a request."""

    _timer: asyncio.TimerHandle | None = None
    _address_header: list[tuple[bytes, bytes]] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_timeout(HEAD_TIMEOUT)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timeout(None)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._set_timeout(HEAD_TIMEOUT)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._set_timeout(BODY_TIMEOUT)
        if self._address_header is None:
            self._address_header = [
                header for header in self.headers if header[0] == ADDRESS.encode()
            ][:1]
        else:
            self.headers[:0] = self._address_header
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        lines = [len(name) + len(value) + 2 for name, value in self.headers]
        first = len(f"{self.scope['method']}  HTTP/1.1") + len(self.url)
        if len(lines) > MAX_NUM_HEADERS or max(first, *lines) > MAX_LINE_LENGTH:
            # The websocket would keep it open, and never answer.
            self.send_400_response("Too long for a websocket: delete the cookies of this site.")
        else:
            super().handle_websocket_upgrade()

    def on_body(self, body: bytes) -> None:
        self._set_timeout(BODY_TIMEOUT)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._set_timeout(None)
        super().on_message_complete()

    def _set_timeout(self, seconds: float | None) -> None:
        """From now on so long for what comes next; None where nothing is missing."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._time_out, seconds)

    def _time_out(self, seconds: float) -> None:
        if self.flow.read_paused:  # it is the app that has not taken yet what came
            self._set_timeout(seconds)
        else:
            self.transport.abort()
