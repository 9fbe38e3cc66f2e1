import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from streamlit import net_util
from streamlit.web.server.starlette import starlette_websocket

from dashboard.server import host_guard
from dashboard.server.host_guard import HostGuard, is_accepted_host
from tests.support.asgi import ask


async def page(request):
    return PlainTextResponse("hello", headers={"Content-Security-Policy": "none of ours"})


async def accept(websocket):
    said = websocket.headers.get("origin", "none")
    await websocket.accept(headers=[(b"origin-was", said.encode())])


def server(names=("localhost",)) -> HostGuard:
    paths = ["/", "/_stcore/metrics"]
    routes = [Route(path, page) for path in paths] + [WebSocketRoute("/", accept)]
    return HostGuard(Starlette(routes=routes), names)


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


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost.evil.example",
        "null",
        "",
        "http://192.0.2.7",
        "x://",
    ],
)
def test_foreign_pages_are_refused(origin, kind):
    """Also those of an address in numbers, which may be anybody's."""
    answer = ask(server(), "/", {"host": "127.0.0.1:8501", "origin": origin}, kind)
    assert answer.status == (403 if kind == "http" else "websocket.close")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8501", "http://localhost:8501"),
        ("localhost", "https://localhost:443"),  # as a proxy passes it on
        ("192.0.2.7:80", "http://192.0.2.7"),
        ("127.0.0.1:8501", "http://explorer.example.org"),
    ],
)
def test_streamlit_asks_no_other_machine_whose_page_it_is(host, origin, monkeypatch):
    def asked():
        raise AssertionError("another machine was asked")

    monkeypatch.setattr(net_util, "get_external_ip", asked)
    monkeypatch.setattr(net_util, "get_internal_ip", asked)
    ours = server(("localhost", "explorer.example.org"))
    answer = ask(ours, "/", {"host": host, "origin": origin}, "websocket")
    assert answer.status == "websocket.accept"
    assert starlette_websocket._is_origin_allowed(answer.headers["origin-was"], host)
    assert ask(ours, "/", {"host": host, "origin": origin}).body == b"hello"


def test_what_streamlit_counts_is_not_for_visitors():
    for path in ("/_stcore/metrics", "/_stcore/metrics/", "/explorer/_stcore/metrics"):
        answer = ask(server(), path)
        assert answer.status == 404 and b"hello" not in answer.body


def test_a_space_is_reached_by_its_name_and_shown_inside_the_pages_around_it(monkeypatch):
    monkeypatch.setenv("SPACE_HOST", "somebody-explorer.hf.space")
    headers = ask(
        server(host_guard.accepted_names()), "/", {"host": "somebody-explorer.hf.space"}
    ).headers
    assert "frame-ancestors 'self' https://huggingface.co;" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_names_can_be_added_and_the_machine_has_its_own(monkeypatch):
    monkeypatch.setenv("BUP_HOSTS", "Explorer.example.org, other.example")
    names = host_guard.accepted_names()
    for host in ("explorer.example.org:443", "other.example", socket.gethostname(), "localhost"):
        assert is_accepted_host(host, names)
    assert not is_accepted_host("example.org", names)
    monkeypatch.setenv("BUP_HOSTS", "*")
    assert is_accepted_host("any.example", host_guard.accepted_names())


def test_every_answer_brings_the_policy():
    headers = ask(server(), "/", {"host": "localhost:8501"}).headers
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy and "ws://localhost:8501" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["x-content-type-options"] == "nosniff"
