"""Dropped files in memory: so many for a browser, an address and all, and none of who has left."""

import asyncio
from types import SimpleNamespace

import pytest

from dashboard.uploads import quota
from dashboard.uploads.quota import UploadQuota

MB = 2**20


class Server:
    """As much of Streamlit as holds files, behind the guard."""

    def __init__(self, monkeypatch) -> None:
        self.files: dict[str, dict[str, SimpleNamespace]] = {}
        self.here = {"a", "b", "c", "d", "e"}  # connected, or gone for a moment
        self.guard = UploadQuota(self.answer)
        self.during = lambda: None
        internals = quota.streamlit_internals
        monkeypatch.setattr(internals, "uploaded_files", lambda: self.files)
        monkeypatch.setattr(internals, "remove_files_of_ended_sessions", self.remove_ended)

    def remove_ended(self) -> None:
        for session in self.files.keys() - self.here:
            del self.files[session]

    async def answer(self, scope, receive, send):
        self.during()
        if scope["type"] == "http":
            _, session, file = scope["path"].rsplit("/", 2)
            headers = dict(scope["headers"])
            size = int(headers[b"content-length"])
            content = SimpleNamespace(data=range(size), name="f.csv")
            self.files.setdefault(session, {})[file] = content
            await send({"type": "http.response.start", "status": 204, "headers": []})

    def put(self, session: str, file: str, size: int | None, address: str = "10.0.0.1"):
        headers = [] if size is None else [(b"content-length", str(size).encode())]
        scope = {
            "type": "http",
            "method": "PUT",
            "path": f"/_stcore/upload_file/{session}/{file}",
            "headers": headers,
            "client": (address, 1),
        }
        return asyncio.run(self.ask(scope))

    async def ask(self, scope):
        sent = []

        async def send(message):
            sent.append(message)

        await self.guard(scope, None, send)
        return (sent[0]["status"], sent[-1].get("body", b"").decode()) if sent else None


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("BUP_UPLOADS_MB", "80")  # 10 for a browser, 40 for an address
    return Server(monkeypatch)


def test_a_browser_holds_so_much_whatever_its_sessions_and_files(server):
    assert [server.put("a", str(k), 3 * MB)[0] for k in range(4)] == [204, 204, 204, 413]
    status, why = server.put("b", "x", 3 * MB)
    assert status == 413 and why.startswith("you have") and "10 MB" in why
    assert server.put("b", "x", 3 * MB, address="10.0.0.2")[0] == 204
    del server.files["a"]["0"]
    assert server.put("a", "4", 3 * MB)[0] == 204


def test_an_address_and_all_together_hold_so_much(server, monkeypatch):
    browsers = iter(range(100))
    named = quota.identify_client

    def another(cookies, address, tab):
        return named(cookies, address, tab).__class__(str(next(browsers)), address)

    monkeypatch.setattr(quota, "identify_client", another)
    said = [server.put("a", str(k), 9 * MB) for k in range(5)]
    assert [status for status, _ in said] == [204] * 4 + [413] and "your network" in said[-1][1]
    others = [server.put("b", str(k), 9 * MB, f"10.1.0.{k}") for k in range(5)]
    assert [status for status, _ in others] == [204] * 4 + [413]
    assert others[-1][1].startswith("all visitors together")


def test_many_empty_files_have_a_size_too(server):
    for k in range(12_000):
        if server.put("a", str(k), 0)[0] == 413:
            break
    assert 9_000 < k < 11_000


def test_what_is_on_its_way_counts(server):
    server.during = lambda: said.append(
        server.guard._refusal(quota.identify_client({}, "10.0.0.1", ""), 3 * MB)
    )
    said: list[str] = []
    server.put("a", "x", 8 * MB)
    assert said[0].startswith("you have") and not server.guard._incoming


def test_a_file_of_unknown_length_is_not_begun(server):
    for size in (None, "many", -1, "9" * 5000):
        assert server.put("a", "x", size)[0] == 411
    assert server.files == {}


def test_files_of_who_has_left_make_room_and_go_after_a_while(server, monkeypatch):
    server.put("a", "x", 9 * MB)
    server.here.discard("a")
    assert server.put("b", "x", 9 * MB)[0] == 204 and list(server.files) == ["b"]

    async def visit():
        await server.ask({"type": "websocket", "path": "/_stcore/stream", "headers": []})
        server.here.discard("b")
        await asyncio.sleep(0.05)

    monkeypatch.setattr(quota.st, "get_option", lambda name: -1)
    asyncio.run(visit())
    assert server.files == {} and not server.guard._clients


def test_other_requests_pass(server):
    assert asyncio.run(server.ask({"type": "lifespan"})) is None
