import socket

import pytest
from asgi_parts import ask
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from dashboard import doors
from dashboard.doors import Doors, allowed


async def page(request):
    return PlainTextResponse("hello", headers={"Content-Security-Policy": "none of ours"})


async def accept(websocket):
    await websocket.accept()


def server(names=("localhost",)) -> Doors:
    return Doors(Starlette(routes=[Route("/", page), WebSocketRoute("/", accept)]), names)


OURS = ("localhost", "localhost:8501", "LOCALHOST:1", "localhost.", "127.0.0.1:8501", "[::1]:80")
FOREIGN = ("", "evil.example", "localhost.evil.example", "localhost@evil.example", "evil:80:90")


@pytest.mark.parametrize("host", OURS)
def test_those_who_ask_us_by_name_are_answered(host):
    assert ask(server(), "/", {"host": host}).body == b"hello"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("host", [*FOREIGN, "localhost/x", "a b"])
def test_foreign_names_are_refused(host, kind):
    answer = ask(server(), "/", {"host": host}, kind)
    assert answer.status == (421 if kind == "http" else "websocket.close")
    assert b"hello" not in answer.body


def test_names_can_be_added_and_the_machine_has_its_own(monkeypatch):
    monkeypatch.setenv("BUP_HOSTS", "Explorer.example.org, other.example")
    names = doors.own_names()
    for host in ("explorer.example.org:443", "other.example", socket.gethostname(), "localhost"):
        assert allowed(host, names)
    assert not allowed("example.org", names)
    monkeypatch.setenv("BUP_HOSTS", "*")
    assert allowed("any.example", doors.own_names())


def test_every_answer_brings_the_policy():
    headers = ask(server(), "/", {"host": "localhost:8501"}).headers
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy and "ws://localhost:8501" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"
