"""What dropped files take in the server's memory: bounded, and freed when their pages are left.

Streamlit holds every file that a browser puts into a session, whether or not the page of that
session has a place for files, until the session is gone and somebody else's makes it notice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bup.datasets.uploads import limits
from bup.datasets.uploads.store import SHARE_PER_ADDRESS, SHARE_PER_VISITOR
from dashboard.network.clients import Client, identify_client
from dashboard.ui import streamlit_internals

_BESIDE = 1000  # bytes that a file takes beside its content


@dataclass(frozen=True, eq=False)
class _IncomingFile:
    """A file on its way."""

    session: str
    client: Client
    size: int


class UploadQuota:
    """Refuses a file when a browser, an address or all of them together have too much here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._incoming: set[_IncomingFile] = set()
        self._clients: dict[str, Client] = {}  # who put files into a session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            try:
                return await self._app(scope, receive, send)
            finally:
                # Until then the visitor may come back to the session, as after a lost connection.
                patience = st.get_option("server.disconnectedSessionTTL") + 1
                asyncio.get_running_loop().call_later(patience, self._sweep)
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        put = streamlit_internals.UPLOAD_PATH.search(scope["path"]) if is_put else None
        if put is None:
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,15}", length):
            said = "say how long the file is (Content-Length)\n"
            return await PlainTextResponse(said, 411)(scope, receive, send)
        size = int(length)
        address = scope["client"][0] if scope.get("client") else ""
        client = identify_client(cookie_parser(headers.get("cookie", "")), address, put[1])
        if self._refusal(client, size):
            self._sweep()
        if why := self._refusal(client, size):
            return await PlainTextResponse(why, 413)(scope, receive, send)
        incoming = _IncomingFile(put[1], client, size + _BESIDE)
        self._incoming.add(incoming)
        self._clients[put[1]] = client
        try:
            await self._app(scope, receive, send)
        finally:
            self._incoming.remove(incoming)

    def _refusal(self, client: Client, size: int) -> str:
        """Why there is no room for so many bytes; nothing if there is."""
        held = list(self._held())
        yours = sum(bytes_ for other, bytes_ in held if other.browser_id == client.browser_id)
        near = sum(bytes_ for other, bytes_ in held if other.address_id == client.address_id)
        everybodys = sum(bytes_ for _, bytes_ in held)
        for whose, share, has in (
            ("you have", SHARE_PER_VISITOR, yours),
            ("your network has", SHARE_PER_ADDRESS, near),
            ("all visitors together have", 1, everybodys),
        ):
            most = share * limits.UPLOADS_MB.value
            if has + size > most * limits.MEGABYTE:
                return (
                    f"{whose} as many files here as this server holds at a time, {most:,.0f} MB: "
                    "remove some, or come back later\n"
                )
        return ""

    def _held(self) -> Iterator[tuple[Client, int]]:
        """Bytes that are here or on their way, and whose."""
        for incoming in self._incoming:
            yield incoming.client, incoming.size
        for session, named in streamlit_internals.uploaded_files().items():
            size = sum(len(file.data) + len(file.name) + _BESIDE for file in named.values())
            yield self._clients.get(session, Client()), size

    def _sweep(self) -> None:
        """Free the files of sessions that have ended."""
        streamlit_internals.remove_files_of_ended_sessions()
        files = streamlit_internals.uploaded_files()
        for session in self._clients.keys() - files.keys():
            if not any(incoming.session == session for incoming in self._incoming):
                del self._clients[session]
