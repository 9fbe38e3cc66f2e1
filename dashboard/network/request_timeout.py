"""uvicorn's HTTP protocol, with timeouts and with the client's address on every request."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from websockets.http11 import MAX_LINE_LENGTH, MAX_NUM_HEADERS

from dashboard.network.clients import ADDRESS

HEAD_TIMEOUT = 10.0  # seconds for the request line and headers
BODY_TIMEOUT = 20.0  # seconds between two parts of the body


class TimeoutProtocol(HttpToolsProtocol):
    """Ends incomplete requests, for which uvicorn would wait for ever.

    The balancer sends the client's address with the first request of a connection only; it is
    repeated here for the later ones.
    """

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
            # The websocket library would neither answer nor close the connection.
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
        """Restart the timer for the next part of a request; None stops it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self._time_out, seconds)

    def _time_out(self, seconds: float) -> None:
        if self.flow.read_paused:  # the app is slow, not the client
            self._set_timeout(seconds)
        else:
            self.transport.abort()
