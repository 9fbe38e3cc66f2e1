"""Where the system has less than Linux: Windows, as far as that can be seen from here."""

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.support import ROOT

# Python reads it first, in training processes too. The standard library's own needs come before.
WITHOUT = """
import asyncio, os, socket, socketserver, subprocess, sys

for name in ("fcntl", "grp", "pwd", "pty", "resource", "termios", "uvloop"):
    sys.modules[name] = None
pair, unix = socket.socketpair, socket.AF_UNIX
socket.socketpair = lambda *_: pair(unix)  # event loops need one; Windows makes it otherwise
del socket.AF_UNIX
del socketserver.ThreadingUnixStreamServer, socketserver.UnixStreamServer
for name in ("fork", "getuid", "killpg", "nice", "sched_getaffinity", "setpriority", "sysconf"):
    delattr(os, name)
"""


def surroundings(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    folders = os.pathsep.join(map(str, [tmp_path, ROOT]))
    return os.environ | {
        "PYTHONPATH": folders,
        "BUP_CACHE": str(tmp_path / "cache"),
        "PYTHONIOENCODING": "cp1252",
        "STREAMLIT_SERVER_HEADLESS": "true",
    }


def run(script: str, tmp_path: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        encoding="utf-8",
        env=surroundings(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported(tmp_path):
    said = run(
        """
import importlib, pkgutil, sys
import bup, dashboard

for package in (bup, dashboard):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.rpartition(".")[2] != "__main__":
            importlib.import_module(found.name)
print("all", len(sys.modules))
""",
        tmp_path,
    )
    assert said.startswith("all")


def test_a_run_is_trained_here_and_by_a_process(tmp_path):
    said = run(
        """
import dataclasses
import bup
from bup import runs
from bup.jobs import sweep

graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
here = bup.fit(graph, per_class=2, validation=2, test=20, epochs=2)
there = dataclasses.replace(here.spec, seed=1)
store = bup.Store()
with sweep.local_processes(1, store) as place:
    failures = sweep.train_all([there], {graph.name: graph}, place, store)
print(here.probs.shape, failures, bup.training.fitting.load(there, graph, store).probs.shape)
""",
        tmp_path,
    )
    assert said.split("\n")[0] == "(60, 2) [] (60, 2)"


def test_the_command_writes_its_signs_into_any_file(tmp_path):
    script = "from bup import cli; cli.app = lambda **_: print('▲ better'); cli.main()"
    assert run(script, tmp_path) == "▲ better\n"


def test_server_processes_share_a_queue_that_asks_for_a_key(tmp_path):
    said = run(
        """
import socket, subprocess, sys, time
import bup
from bup.training import fitting
from dashboard.training_queue.shared_queue import RemoteQueue, shared

ASK = '''
import sys, time
import bup
from bup.training import fitting
from dashboard.training_queue.shared_queue import RemoteQueue

graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
spec = bup.Spec(graph.name, per_class=2, validation=2, test=20, settings=(("epochs", 2),))
run = fitting.run_of(spec, graph)
queue = RemoteQueue(sys.argv[1], lambda visitor: True, lambda *what: None)
job = queue.submit(run, graph, "ann")
while job.active:
    time.sleep(0.05)
    job = queue.find(run, "ann")
print(job.state, fitting.load(spec, graph).probs.shape)
'''
with shared() as address:
    port, key = address.split()
    for said in (b"x" * len(key), b""):
        with socket.create_connection(("127.0.0.1", int(port)), 5) as stranger:
            stranger.sendall(said + b'\\n{"visitors": []}\\n')
            print(stranger.recv(100))
    subprocess.run([sys.executable, "-c", ASK, address], check=True)
""",
        tmp_path,
    )
    assert said.splitlines() == ["b''", "b''", "done (60, 2)"]


def test_a_page_trains_what_it_shows(tmp_path):
    said = run(
        """
import sys, time
from streamlit.testing.v1 import AppTest
import bup
from bup.training import fitting
from dashboard.session import run_link, training

training._is_here = lambda visitor: True  # a tried page has no connection
app = AppTest.from_file(sys.argv[1], default_timeout=120)
app.query_params["graph"] = "synthetic"
app.run()
graph = bup.load_graph("synthetic")
while (result := fitting.load(run_link.default_spec(graph), graph)) is None:
    time.sleep(0.2)
print(app.exception, [error.value for error in app.error], result.kept_epoch > 0)
""",
        tmp_path,
        str(ROOT / "dashboard" / "app.py"),
    )
    assert said == "ElementList() [] True\n"


def test_the_app_answers_with_two_processes(tmp_path):
    command = [sys.executable, "-u", "-m", "bup.cli", "dashboard", "--no-prepare", "--port", "0"]
    with subprocess.Popen(
        [*command, "--processes", "2"],
        stdout=subprocess.PIPE,
        text=True,
        env=surroundings(tmp_path),
        stdin=subprocess.DEVNULL,
    ) as server:
        try:
            assert server.stdout is not None
            (url,) = re.findall(r"http://\S+", server.stdout.readline())
            with urllib.request.urlopen(url, timeout=120) as answer:
                assert b"<title>" in answer.read()
        finally:
            server.terminate()
