"""Limits the memory that uploaded files take in the server, and frees it when sessions end.

Streamlit holds every file that a browser sends to a session, whether or not the session's page asks
for files. It frees them long after the session has ended, when another session ends.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bup.datasets.uploads.store import SHARE_PER_ADDRESS, SHARE_PER_VISITOR
from bup.io import limits
from dashboard.network.clients import Client, identify_client
from dashboard.ui import streamlit_internals

_OVERHEAD = 1000  # bytes that a file takes in addition to its content


@dataclass(frozen=True, eq=False)
class _IncomingFile:
    session: str
    client: Client
    size: int


class UploadQuota:
    """Refuses a file when a browser, an address or all visitors together have too much here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._incoming: set[_IncomingFile] = set()
        self._clients: dict[str, Client] = {}  # by session, for sessions with files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            try:
                return await self._app(scope, receive, send)
            finally:
                # Until then the visitor may come back to the session after a lost connection.
                delay = st.get_option("server.disconnectedSessionTTL") + 1
                asyncio.get_running_loop().call_later(delay, self._sweep)
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        match = streamlit_internals.UPLOAD_PATH.search(scope["path"]) if is_put else None
        if match is None:
            return await self._app(scope, receive, send)
        session, headers = match[1], Headers(scope=scope)
        length = headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,15}", length):
            text = "say how long the file is (Content-Length)\n"
            return await PlainTextResponse(text, 411)(scope, receive, send)
        address = scope["client"][0] if scope.get("client") else ""
        client = identify_client(cookie_parser(headers.get("cookie", "")), address, session)
        if self._refusal(client, int(length)):
            self._sweep()
        if refusal := self._refusal(client, int(length)):
            return await PlainTextResponse(refusal, 413)(scope, receive, send)
        incoming = _IncomingFile(session, client, int(length) + _OVERHEAD)
        self._incoming.add(incoming)
        self._clients[session] = client
        try:
            await self._app(scope, receive, send)
        finally:
            self._incoming.remove(incoming)

    def _refusal(self, client: Client, size: int) -> str:
        """Why there is no room for so many bytes; empty if there is."""
        usage = list(self._usage())
        browser = sum(used for other, used in usage if other.browser_id == client.browser_id)
        address = sum(used for other, used in usage if other.address_id == client.address_id)
        for who, share, used in (
            ("you have", SHARE_PER_VISITOR, browser),
            ("your network has", SHARE_PER_ADDRESS, address),
            ("all visitors together have", 1, sum(used for _, used in usage)),
        ):
            most = share * limits.UPLOADS_MB.value
            if used + size > most * limits.MEGABYTE:
                return (
                    f"{who} as many files here as this server holds at a time, {most:,.0f} MB: "
                    "remove some, or come back later\n"
                )
        return ""

    def _usage(self) -> Iterator[tuple[Client, int]]:
        """Clients and the bytes of their files, stored or on their way."""
        for incoming in self._incoming:
            yield incoming.client, incoming.size
        for session, files in streamlit_internals.uploaded_files().items():
            size = sum(len(file.data) + len(file.name) + _OVERHEAD for file in files.values())
            yield self._clients.get(session, Client()), size

    def _sweep(self) -> None:
        """Free the files of sessions that have ended."""
        streamlit_internals.remove_files_of_ended_sessions()
        files = streamlit_internals.uploaded_files()
        for session in self._clients.keys() - files.keys():
            if not any(incoming.session == session for incoming in self._incoming):
                del self._clients[session]
