"""Where the system has less than Linux: Windows, as far as that can be seen from here."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT

# Python reads it first, in training processes too. The standard library's own needs come before.
WITHOUT = """
import asyncio, os, socket, socketserver, subprocess, sys

for name in ("fcntl", "grp", "pwd", "pty", "resource", "termios"):
    sys.modules[name] = None
del socket.AF_UNIX
del socketserver.ThreadingUnixStreamServer, socketserver.UnixStreamServer
for name in ("fork", "getuid", "killpg", "nice", "sched_getaffinity", "setpriority", "sysconf"):
    delattr(os, name)
"""


def run(script: str, tmp_path: Path) -> str:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    folders = os.pathsep.join(map(str, [tmp_path, ROOT]))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": folders, "BUP_CACHE": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported(tmp_path):
    said = run(
        """
import importlib, pkgutil
import bup, dashboard

for package in (bup, dashboard):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.rpartition(".")[2] != "__main__":
            importlib.import_module(found.name)
try:
    with dashboard.training_queue.shared_queue.shared():
        pass
except bup.BupError as error:
    print(error)
""",
        tmp_path,
    )
    assert "--processes" in said


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
