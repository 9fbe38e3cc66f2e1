"""How the app is started; what it answers in a browser is seen in tests/browser."""

import os
import socket
import subprocess
import sys
import tomllib

import pytest
from streamlit.web.server.app_discovery import discover_asgi_app

from bup import cli
from dashboard.server import serving
from dashboard.server.page_head import PageHead
from tests.support.asgi import ask


def bup(monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["bup", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code, capsys.readouterr().err


@pytest.fixture
def door():
    with socket.create_server(("localhost", 0)) as taken:
        yield taken.getsockname()[1]


def test_a_port_that_is_taken_is_said_in_a_line(monkeypatch, capsys, door):
    code, said = bup(monkeypatch, capsys, "dashboard", "--port", str(door))
    assert code == 2
    assert said.count("\n") == 1 and f"localhost:{door}" in said and "--port" in said


def test_a_folder_that_is_not_there_is_said_in_a_line(monkeypatch, capsys):
    code, said = bup(monkeypatch, capsys, "dashboard", "--folder", "/no/such/place")
    assert code == 2 and said.count("\n") == 1 and "/no/such/place" in said


def test_options_do_not_depend_on_where_the_app_is_started(tmp_path):
    script = """
from dashboard.server import serving
from streamlit.config import get_option
serving.application()
print(get_option("server.fileWatcherType"), get_option("client.showErrorDetails"))
print(get_option("theme.light.primaryColor"))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(serving.SCRIPT.parent.parent)},
    )
    beside = (serving.SCRIPT.parent / ".streamlit" / "config.toml").read_text()
    colour = tomllib.loads(beside)["theme"]["light"]["primaryColor"]
    assert done.stdout.split() == ["none", "none", colour], done.stderr


def test_streamlits_own_command_finds_the_app_and_its_files(tmp_path):
    """As it does: the module by its bare name, from the script's folder, wherever one is."""
    found = discover_asgi_app(serving.SCRIPT)
    script = f"""
import sys
import streamlit
sys.path.insert(0, {str(serving.SCRIPT.parent)!r})
from importlib import import_module
module, name = {found.import_string!r}.split(":")
app = getattr(import_module(module), name)
print(*[route.path for route in app._user_routes], len(app._user_middleware))
import numbers, subprocess
print(numbers.Number.__name__)
# A process of its own finds our modules where nobody has installed them.
find = "from importlib.util import find_spec; print(find_spec('bup').origin)"
subprocess.run([sys.executable, "-S", "-P", "-c", find])
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-u", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    routes, numbers, found = done.stdout.splitlines()
    assert "bup-files" in routes and numbers == "Number", done.stderr
    assert found == str(serving.SCRIPT.parent.parent / "bup" / "__init__.py")


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
def test_a_page_begins_with_the_script_of_the_address_and_nothing_else_does(kind):
    sent = []

    async def app(scope, receive, send):
        asked = dict(scope["headers"])
        sent.append(asked)
        page = b"<html><head><title>x</title></head></html>"
        headers = [(b"content-type", kind.encode()), (b"content-length", b"42"), (b"etag", b"old")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": page[:9], "more_body": True})
        await send({"type": "http.response.body", "body": page[9:]})

    answer = ask(PageHead(app), "/", {"accept": "text/html,*/*", "if-none-match": "old"})
    assert b"accept-encoding" not in sent[0] and b"if-none-match" not in sent[0]
    if kind == "text/html":
        assert answer.body.startswith(b'<html><head><script src="')
        assert answer.headers["content-length"] == str(len(answer.body))
        assert "etag" not in answer.headers
    else:
        assert b"script" not in answer.body and answer.headers["etag"] == "old"
