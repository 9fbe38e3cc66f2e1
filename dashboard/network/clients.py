"""Who asks: a browser, known by a signed cookie, at an address.

Tabs of a browser share what the browser may have. Whoever drops the cookie is a new browser to us,
so all browsers at an address share something too, wide enough for a class behind one.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from itsdangerous import BadSignature, Signer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

COOKIE = "bup_client"
DAYS = 30  # that a browser keeps it
ADDRESS = "bup-address"
"""The header in which the process at the front tells the others who has connected to it."""
KEY = "BUP_CLIENT_KEY"
"""In the environment: what cookies are signed with. Without it they end with the server."""
PROXIES = "BUP_PROXIES"
"""In the environment: addresses of proxies that are believed when they name who asked them."""
BROWSERS_PER_ADDRESS = 8
"""An address may have as much as this many browsers."""


def key() -> str:
    """The same in all processes that this one starts."""
    return os.environ.setdefault(KEY, secrets.token_urlsafe(32))


@dataclass(frozen=True)
class Client:
    """A browser, or a tab of one that keeps no cookie."""

    name: str = ""
    address: str = ""

    @classmethod
    def read(cls, text: str) -> Client:
        name, _, address = text.partition("@")
        return cls(name, address)

    def __str__(self) -> str:
        return f"{self.name}@{self.address}"

    @property
    def has_cookie(self) -> bool:
        """Whether it keeps a cookie."""
        return not self.name.startswith("~")

    @property
    def browser_id(self) -> str:
        """Under what its budgets are kept; those without a cookie share those of their address."""
        return _mark(self.name if self.has_cookie else f"@{self.address}")

    @property
    def address_id(self) -> str:
        """Under what the budgets of its address are kept."""
        return _mark(self.address)


def _mark(text: str) -> str:
    """Tells one from another, and does not tell who it is."""
    return _keyed(key(), text)


@lru_cache(10_000)
def _keyed(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()[:24]


def identify_client(cookies: Mapping[str, str], address: str, tab: str) -> Client:
    """Who has these cookies, or the tab of who has none of ours."""
    return Client(_name_in(cookies) or f"~{tab}", _network(address))


def _name_in(cookies: Mapping[str, str]) -> str:
    try:
        return _signer(COOKIE).unsign(cookies.get(COOKIE, "")).decode()
    except (BadSignature, UnicodeError):
        return ""


def _network(address: str) -> str:
    """An IPv6 address is one of very many that its owner has."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(number, ipaddress.IPv6Address):
        if number.ipv4_mapped is not None:
            return str(number.ipv4_mapped)
        return str(ipaddress.ip_network((number, 64), strict=False))
    return str(number)


def _signer(what: str) -> Signer:
    return Signer(key(), salt=what)


def add_address_header(head: bytes, peer: str) -> bytes:
    """The first bytes of a request, with the address that they came from, signed."""
    line, end, rest = head.partition(b"\r\n")
    return line + end + f"{ADDRESS}: ".encode() + _signer(ADDRESS).sign(peer) + end + rest


class ClientCookies:
    """Gives every browser a cookie, and finds out at which address it is."""

    def __init__(self, app: ASGIApp) -> None:
        key()  # made once, before several threads ask for it
        proxies = os.environ.get(PROXIES, "").replace(",", " ").split()
        self._app: ASGIApp = ProxyHeadersMiddleware(app, proxies)  # type: ignore[assignment,arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        with contextlib.suppress(BadSignature, UnicodeError):  # or nobody stands before us
            scope["client"] = _signer(ADDRESS).unsign(headers.get(ADDRESS, "")).decode(), 0
        if scope["type"] == "http" and not _name_in(cookie_parser(headers.get("cookie", ""))):
            send = _giving_a_name(send, "text/html" in headers.get("accept", ""))
        await self._app(scope, receive, send)


def _giving_a_name(send: Send, opens_a_page: bool) -> Send:
    """With a page comes a cookie, also with one that the browser has kept; not with files."""

    async def giving(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if opens_a_page or headers.get("content-type", "").startswith("text/html"):
                value = _signer(COOKIE).sign(secrets.token_urlsafe(12)).decode()
                about = f"Path=/; Max-Age={86_400 * DAYS}; HttpOnly; SameSite=Lax"
                headers.append("Set-Cookie", f"{COOKIE}={value}; {about}")
        await send(message)

    return giving
