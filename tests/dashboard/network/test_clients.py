"""Who asks: a browser that keeps a cookie, and its address."""

import re

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route

from dashboard.network import clients
from dashboard.network.clients import (
    COOKIE,
    Client,
    ClientCookies,
    add_address_header,
    identify_client,
)
from tests.support.asgi import ask


async def page(request):
    return HTMLResponse(request.client.host if request.client else "nobody")


async def file(request):
    return PlainTextResponse("a file")


def server() -> ClientCookies:
    return ClientCookies(Starlette(routes=[Route("/", page), Route("/file", file)]))


def given(answer) -> str:
    return re.match(rf"{COOKIE}=([^;]+);", answer.headers.get("set-cookie", "")).group(1)


def test_a_browser_is_given_a_name_once_and_with_a_page_only():
    first = ask(server(), "/")
    assert (
        "HttpOnly" in first.headers["set-cookie"] and "SameSite=Lax" in first.headers["set-cookie"]
    )
    cookie = f"other=1; {COOKIE}={given(first)}"
    assert "set-cookie" not in ask(server(), "/", {"cookie": cookie}).headers
    assert "set-cookie" not in ask(server(), "/file").headers
    assert given(ask(server(), "/file", {"accept": "text/html,*/*"})), "as one that it has kept"
    assert given(ask(server(), "/")) != given(first)


def test_tabs_of_a_browser_are_one_client_and_other_browsers_another():
    one, two = ({COOKIE: given(ask(server(), "/"))} for _ in range(2))
    tabs = [identify_client(one, "10.0.0.1", tab) for tab in "ab"]
    assert tabs[0] == tabs[1] and tabs[0].has_cookie
    other = identify_client(two, "10.0.0.1", "a")
    assert other.browser_id != tabs[0].browser_id and other.address_id == tabs[0].address_id
    elsewhere = identify_client(one, "10.0.0.2", "a")
    assert elsewhere.browser_id == tabs[0].browser_id and elsewhere.address_id != tabs[0].address_id
    assert Client.read(str(other)) == other


def test_tabs_without_a_cookie_share_what_one_browser_has():
    one, two = (identify_client({}, "10.0.0.1", tab) for tab in "ab")
    assert not one.has_cookie and one != two and one.browser_id == two.browser_id
    assert identify_client({}, "10.0.0.2", "a").browser_id != one.browser_id


@pytest.mark.parametrize("forge", [lambda c: "mine", lambda c: c[:-1], lambda c: "x" + c, "é".join])
def test_no_name_can_be_made_up(forge):
    cookies = {COOKIE: forge(given(ask(server(), "/")))}
    assert not identify_client(cookies, "10.0.0.1", "a").has_cookie
    assert "set-cookie" in ask(server(), "/", {"cookie": f"{COOKIE}=mine.{'9' * 5000}"}).headers


def test_a_name_of_another_server_is_none(monkeypatch):
    cookies = {COOKIE: given(ask(server(), "/"))}
    monkeypatch.setenv(clients.KEY, "another")
    assert not identify_client(cookies, "", "a").has_cookie


def test_one_owner_of_many_addresses_is_at_one():
    near = [identify_client({}, f"2001:db8:1:2::{i}", "a").address for i in range(3)]
    assert len(set(near)) == 1 and identify_client({}, "2001:db8:1:3::1", "a").address not in near
    assert identify_client({}, "::ffff:10.0.0.1", "a").address == "10.0.0.1"


def peer(headers: dict[str, str]) -> str:
    return ask(server(), "/", headers).body.decode()


def test_the_address_is_told_by_the_process_at_the_front_and_nobody_else():
    head = add_address_header(b"GET / HTTP/1.1\r\nbup-address: 6.6.6.6\r\n\r\n", "10.0.0.1")
    name, _, value = head.split(b"\r\n")[1].decode().partition(": ")
    assert peer({name: value}) == "10.0.0.1"
    for forged in ("6.6.6.6", f"6.6.6.6.{value.rpartition('.')[2]}"):
        assert peer({name: forged}) == "nobody"
    signed = clients._signer(COOKIE).sign("6.6.6.6").decode()
    assert peer({name: signed}) == "nobody", "what signs a cookie signs no address"


def test_only_proxies_that_are_named_are_believed(monkeypatch):
    def seen(front: str) -> str:
        told = add_address_header(b"GET / HTTP/1.1\r\n\r\n", front).split(b"\r\n")[1].decode()
        name, _, value = told.partition(": ")
        return peer({name: value, "x-forwarded-for": "6.6.6.6, 10.9.9.9"})

    assert seen("10.0.0.1") == "10.0.0.1" and seen("127.0.0.1") == "127.0.0.1"
    monkeypatch.setenv(clients.PROXIES, "10.0.0.1, 192.168.0.0/16")
    assert seen("10.0.0.1") == "10.9.9.9" and seen("10.0.0.2") == "10.0.0.2"
