"""What people install with pip: everything is in it, and it starts outside of the repository."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bup.graph.storage import pack
from tests.support import ROOT

FIRST_RUN = """
import bup
from bup import runs
from dashboard.session import run_link

graph = bup.load_graph(run_link.graph_names()[0])
print(runs.load(run_link.default_spec(graph), graph) is not None)
"""
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    for name in ("bup", "dashboard"):
        shutil.copytree(ROOT / name, tree / name, ignore=LEFT_BEHIND)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    # First what is published as source, and from that the wheel.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tree / "dist", tree)
    (built,) = tree.glob("dist/*.whl")
    return built


def run(*command: str | Path, **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(python: str | Path, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    # A path that other tests left would make the package look installed already.
    run(*command, *arguments, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})


def test_everything_of_the_packages_is_in_the_wheel(wheel):
    packed = set(zipfile.ZipFile(wheel).namelist())
    here = {
        str(path.relative_to(ROOT))
        for name in ("bup", "dashboard")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert here - packed == set()


def test_what_is_published_has_a_page_that_can_be_read(wheel):
    both = sorted(wheel.parent.iterdir())
    assert [path.suffix for path in both] == [".whl", ".gz"]
    run(sys.executable, "-m", "twine", "check", "--strict", *both)


def test_the_app_opens_from_an_environment_of_its_own(wheel, tmp_path, cora):
    venv.create(tmp_path / "environment", symlinks=True)
    python = tmp_path / "environment" / "bin" / "python"
    pip(python, "install", "-q", "--no-deps", "--no-index", wheel)
    # What it needs comes from the environment of the tests, but not the repository itself:
    # what is listed in such a file is not searched for other such files.
    (packages,) = (tmp_path / "environment").glob("lib/*/site-packages")
    (packages / "needs.pth").write_text(str(Path(np.__file__).parent.parent))
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "BUP_CACHE": str(tmp_path / "cache"),
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    script = "import bup, dashboard; print(bup.__file__, dashboard.__file__)"
    found = run(python, "-c", script, cwd=tmp_path, env=surroundings).split()
    assert len(found) == 2 and all(path.startswith(str(packages)) for path in found)
    # The very first page of a new machine shows a run that nobody has trained there.
    (tmp_path / "cache" / "graphs").mkdir(parents=True)
    (tmp_path / "cache" / "graphs" / "cora.bup").write_bytes(pack(cora))
    assert run(python, "-c", FIRST_RUN, cwd=tmp_path, env=surroundings) == "True\n"
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [python.parent / "bup", "dashboard", "--no-prepare", "--port", str(port)],
        cwd=tmp_path,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as server:
        try:
            # The door is open before the app is ready: the request waits for it.
            assert answered(f"http://localhost:{port}/_stcore/health", server) == b"ok"
            assert b"<title>" in answered(f"http://localhost:{port}/", server)
        finally:
            os.killpg(server.pid, signal.SIGTERM)


def answered(url: str, server: subprocess.Popen) -> bytes:
    for _ in range(600):
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=120) as answer:
            return answer.read()
        assert server.poll() is None, server.communicate()[0].decode()
        time.sleep(0.1)
    raise AssertionError("the server does not answer")
