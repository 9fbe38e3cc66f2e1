"""What people install with pip: everything is in it, and it starts outside of the repository."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    for name in ("bup", "dashboard"):
        shutil.copytree(ROOT / name, tree / name, ignore=LEFT_BEHIND)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    pip(sys.executable, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tree, tree)
    (built,) = tree.glob("*.whl")
    return built


def pip(python: str | Path, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_everything_of_the_packages_is_in_the_wheel(wheel):
    packed = set(zipfile.ZipFile(wheel).namelist())
    here = {
        str(path.relative_to(ROOT))
        for name in ("bup", "dashboard")
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert here - packed == set()


def test_the_app_opens_from_an_environment_of_its_own(wheel, tmp_path):
    venv.create(tmp_path / "environment", symlinks=True)
    python = tmp_path / "environment" / "bin" / "python"
    pip(python, "install", "-q", "--no-deps", "--no-index", wheel)
    # What it needs comes from the environment of the tests, but not the repository itself:
    # what is listed in such a file is not searched for other such files.
    (packages,) = (tmp_path / "environment").glob("lib/*/site-packages")
    (packages / "needs.pth").write_text(sysconfig.get_path("purelib"))
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "BUP_CACHE": str(tmp_path / "cache"),
        "STREAMLIT_SERVER_HEADLESS": "true",
    }
    script = "import bup, dashboard; print(bup.__file__, dashboard.__file__)"
    done = subprocess.run(
        [python, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=surroundings
    )
    assert all(path.startswith(str(packages)) for path in done.stdout.split()), done.stderr
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
