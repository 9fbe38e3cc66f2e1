"""How the app is started; what it answers in a browser is seen in tests/browser."""

import os
import socket
import subprocess
import sys
import tomllib

import pytest

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
