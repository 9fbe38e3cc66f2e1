"""Half a request, sent to a real server."""

import asyncio
import socket
from typing import Any

import pytest
import uvicorn

from dashboard.network import request_timeout
from dashboard.network.clients import ADDRESS, ClientCookies, add_address_header
from dashboard.network.request_timeout import TimeoutProtocol

PAUSE = 0.3  # seconds that the app takes for a piece


async def app(scope, receive, send):
    """Answers with the length of the body, slowly taken."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
        await asyncio.sleep(length and PAUSE)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d bytes" % length})


async def answered(*pieces: bytes, pause: float = 0.0, by: Any = app) -> bytes:
    """What comes until the server closes the connection."""
    with socket.create_server(("localhost", 0)) as door:
        options = uvicorn.Config(by, http=TimeoutProtocol, lifespan="off", log_level="error")
        server = uvicorn.Server(options)
        serving = asyncio.create_task(server.serve(sockets=[door]))
        reader, writer = await asyncio.open_connection(*door.getsockname())
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(pause)
        try:
            answer = await asyncio.wait_for(reader.read(), 30)
        except ConnectionResetError:
            answer = b""
        writer.close()
        server.should_exit = True
        await serving
    return answer


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(request_timeout, "HEAD_TIMEOUT", 0.3)
    monkeypatch.setattr(request_timeout, "BODY_TIMEOUT", 0.3)


POST = b"POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: here\r\n", POST % 9 + b"half"]
)
def test_half_a_request_is_given_up(sent):
    assert b"200" not in asyncio.run(answered(sent))


def test_a_slow_body_is_waited_for_as_long_as_it_comes(monkeypatch):
    monkeypatch.setattr(request_timeout, "BODY_TIMEOUT", 1.0)
    pieces = [POST % 60, *[b"0123456789"] * 6]
    assert b"60 bytes" in asyncio.run(answered(*pieces, pause=0.3))


def test_a_slow_app_is_no_slow_visitor(monkeypatch):
    monkeypatch.setattr(request_timeout, "BODY_TIMEOUT", PAUSE / 3)
    size = 1_000_000
    assert b"%d bytes" % size in asyncio.run(answered(POST % size + bytes(size)))


async def who(scope, receive, send):
    """Answers with the address that asks."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"[%s]" % scope["client"][0].encode()})


def test_the_address_of_a_connection_holds_for_all_of_its_requests():
    first = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
    forged = f"GET / HTTP/1.1\r\nHost: here\r\n{ADDRESS}: 6.6.6.6\r\n\r\n".encode()
    last = first.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    by = ClientCookies(who)
    said = asyncio.run(answered(add_address_header(first, "10.0.0.1"), forged, last, by=by))
    assert said.count(b"[10.0.0.1]") == 3
    said = asyncio.run(answered(forged, add_address_header(first, "10.0.0.1"), last, by=by))
    assert said.count(b"[127.0.0.1]") + said.count(b"[::1]") == 3, "only the first can be told"


@pytest.mark.parametrize(
    ("path", "more"), [("/", "Cookie: " + "a" * 9000), ("/", "a: b\r\n" * 200), ("/" * 9000, "")]
)
def test_a_websocket_with_too_long_a_head_is_answered(path, more):
    upgrade = f"GET {path} HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: here\r\n"
    head = upgrade + (more and more.strip() + "\r\n") + "\r\n"
    assert asyncio.run(answered(head.encode())).startswith(b"HTTP/1.1 400")
