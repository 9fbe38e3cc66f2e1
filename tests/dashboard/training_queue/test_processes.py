"""The training processes: how they run, and how they end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bup import BupError
from bup.jobs import processes
from bup.results.store import Store
from dashboard.training_queue.manager import Manager
from tests.support.jobs import (
    ENDLESS,
    SMALL,
    ask,
    ended,
    fresh,
    is_alive,
    own_workers,
    result_of,
    trains,
    until,
    workers,
)

pytestmark = pytest.mark.usefixtures("nothing_left_to_do")


@pytest.fixture(scope="module")
def other_server(manager):
    """A second server that trains something endless; its worker warms up beside the first one."""
    code = """
import json, sys, time
from bup import load_graph
from bup.run.spec import Run
from dashboard.training_queue.manager import Manager
manager = Manager()
run = Run.from_dict(json.loads(sys.argv[1]))
manager.submit(run, load_graph(run.spec.graph))
while not manager.find(run).progress.epoch:
    time.sleep(0.01)
print("training", flush=True)
time.sleep(600)
"""
    run = fresh(ENDLESS)
    command = [sys.executable, "-c", code, json.dumps(run.as_dict())]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield server, run
    server.kill()
    server.wait()
    server.stdout.close()


def test_training_is_niced_single_threaded_and_first_to_go_when_memory_ends(manager, other_server):
    run = fresh(ENDLESS)
    ask(manager, run)
    until(lambda: trains(manager, run))
    (pid,) = own_workers()
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0) + 10
    assert b"OMP_NUM_THREADS=1\0" in Path(f"/proc/{pid}/environ").read_bytes()
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
    limits = Path(f"/proc/{pid}/limits").read_text()
    (data,) = [line for line in limits.splitlines() if line.startswith("Max data size")]
    assert "unlimited" not in data


def test_no_process_survives_a_server_that_is_killed(other_server):
    server, run = other_server
    assert server.stdout.readline() == "training\n"
    pids = workers(server.pid)
    assert len(pids) == 1
    server.kill()
    server.wait()
    until(lambda: not any(map(is_alive, pids)), seconds=10)
    assert result_of(run) is None


def test_a_process_without_a_server_ends_even_when_it_has_nothing_to_report(tmp_path):
    command = [sys.executable, "-P", "-m", "bup.jobs", str(tmp_path)]
    orphan = subprocess.run(command, input="", stdout=subprocess.PIPE, text=True, timeout=60)
    assert (orphan.returncode, orphan.stdout) == (0, "")


def test_a_killed_process_fails_its_run_and_is_replaced(manager):
    run, waiting = fresh(ENDLESS), fresh(SMALL)
    ask(manager, run)
    ask(manager, waiting)
    until(lambda: trains(manager, run))
    (pid,) = own_workers()
    os.kill(pid, signal.SIGKILL)
    job = ended(manager, run)
    assert job.state == "failed" and "ended by signal 9" in job.error and "\n" not in job.error
    assert job.progress.epoch > 0 and result_of(run) is None
    assert ended(manager, waiting).state == "done"
    ask(manager, run)
    until(lambda: trains(manager, run))
    assert pid not in own_workers()


def test_a_process_that_does_not_stop_when_asked_is_killed(manager, monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.3)
    run = fresh(ENDLESS)
    ask(manager, run)
    until(lambda: trains(manager, run))
    (pid,) = own_workers()
    os.kill(pid, signal.SIGSTOP)
    manager.cancel(run)
    assert manager.find(run).state == "cancelled"
    until(lambda: not is_alive(pid), seconds=10)
    until(lambda: own_workers().keys() - {pid})
    assert manager.find(run).state == "cancelled"
    assert result_of(run) is None


def test_a_closed_manager_has_no_process_and_takes_no_run(tmp_path):
    manager = Manager(Store(tmp_path), workers=2)

    def own() -> list[int]:
        return [pid for pid, command in workers(os.getpid()).items() if str(tmp_path) in command]

    until(lambda: len(own()) == 2)  # a process that has just started has no command line yet
    pids = own()
    run = fresh(SMALL)
    assert ask(manager, run).ahead == 0  # nobody trains yet
    manager.close()
    manager.close()
    assert not any(map(is_alive, pids))
    assert manager.find(run).state == "cancelled"
    with pytest.raises(BupError, match="closing"):
        ask(manager, run)


def test_processes_that_cannot_start_fail_the_waiting_runs_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    manager = Manager(Store(tmp_path))
    run = fresh(SMALL)
    assert ask(manager, run).state == "failed"
    assert "no training process can be started" in manager.find(run).error

    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    ask(manager, run)
    job = ended(manager, run)
    assert job.state == "failed" and "exit code 3 before it was ready" in job.error
    manager.close()
