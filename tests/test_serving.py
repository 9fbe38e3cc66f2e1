"""How the app is started; what it answers in a browser is seen in tests/browser."""

import os
import socket
import subprocess
import sys
import tomllib

import pytest
from streamlit.web.server.app_discovery import discover_asgi_app

from bup import cli
from dashboard import serving


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
from dashboard import serving
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
import numbers, dashboard
print(numbers.Number.__name__, dashboard.__path__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert "bup-files" in done.stdout and "Number" in done.stdout, done.stderr
