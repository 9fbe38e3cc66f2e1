"""Clients: a browser, recognised by a signed cookie, at a network address.

Limits hold for a browser, whatever the number of its tabs. A visitor can delete the cookie and is
then a new browser, so wider limits hold for all browsers at one address, such as a class.
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
DAYS = 30  # that a browser keeps the cookie
ADDRESS = "bup-address"
"""The header in which the balancer tells its processes the address of a client."""
KEY = "BUP_CLIENT_KEY"
"""The environment variable of the key that signs cookies. By default it is new at each start."""
PROXIES = "BUP_PROXIES"
"""The environment variable of the proxies whose X-Forwarded-For header is trusted."""
BROWSERS_PER_ADDRESS = 8
"""The limits of an address are this many times those of a browser."""


def key() -> str:
    """The key of this process and of all processes that it starts."""
    return os.environ.setdefault(KEY, secrets.token_urlsafe(32))


@dataclass(frozen=True)
class Client:
    """A browser, or one tab of a browser that keeps no cookie (its name begins with "~")."""

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
        return not self.name.startswith("~")

    @property
    def browser_id(self) -> str:
        """Key of its limits; browsers without a cookie share those of their address."""
        return _keyed_hash(key(), self.name if self.has_cookie else f"@{self.address}")

    @property
    def address_id(self) -> str:
        """Key of the limits of its address."""
        return _keyed_hash(key(), self.address)


@lru_cache(10_000)
def _keyed_hash(secret: str, text: str) -> str:
    """Tells clients apart without revealing a cookie or an address."""
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()[:24]


def identify_client(cookies: Mapping[str, str], address: str, tab: str) -> Client:
    """The browser with these cookies; without ours, the tab."""
    return Client(_name_in(cookies) or f"~{tab}", _normalized(address))


def _name_in(cookies: Mapping[str, str]) -> str:
    try:
        return _signer(COOKIE).unsign(cookies.get(COOKIE, "")).decode()
    except (BadSignature, UnicodeError):
        return ""


def _normalized(address: str) -> str:
    """Of an IPv6 address only the network: its owner has very many addresses."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(number, ipaddress.IPv6Address):
        if number.ipv4_mapped is not None:
            return str(number.ipv4_mapped)
        return str(ipaddress.ip_network((number, 64), strict=False))
    return str(number)


def _signer(salt: str) -> Signer:
    return Signer(key(), salt=salt)


def add_address_header(head: bytes, peer: str) -> bytes:
    """The head of a request, with the signed address of the client as its first header."""
    line, end, rest = head.partition(b"\r\n")
    return line + end + f"{ADDRESS}: ".encode() + _signer(ADDRESS).sign(peer) + end + rest


class ClientCookies:
    """Middleware that gives every browser a cookie, and finds the address of each request."""

    def __init__(self, app: ASGIApp) -> None:
        key()  # before several threads need it
        proxies = os.environ.get(PROXIES, "").replace(",", " ").split()
        self._app: ASGIApp = ProxyHeadersMiddleware(app, proxies)  # type: ignore[assignment,arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        with contextlib.suppress(BadSignature, UnicodeError):  # without a balancer
            scope["client"] = _signer(ADDRESS).unsign(headers.get(ADDRESS, "")).decode(), 0
        if scope["type"] == "http" and not _name_in(cookie_parser(headers.get("cookie", ""))):
            send = _send_with_cookie(send, "text/html" in headers.get("accept", ""))
        await self._app(scope, receive, send)


def _send_with_cookie(send: Send, opens_a_page: bool) -> Send:
    """Add a cookie to a page, also to one that the browser has in its cache; not to files."""

    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if opens_a_page or headers.get("content-type", "").startswith("text/html"):
                value = _signer(COOKIE).sign(secrets.token_urlsafe(12)).decode()
                attributes = f"Path=/; Max-Age={86_400 * DAYS}; HttpOnly; SameSite=Lax"
                headers.append("Set-Cookie", f"{COOKIE}={value}; {attributes}")
        await send(message)

    return send_with_cookie
