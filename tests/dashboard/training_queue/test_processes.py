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
from dashboard.training_queue.local_queue import LocalQueue
from tests.support.jobs import (
    ENDLESS,
    SMALL,
    ask,
    ended,
    fresh,
    is_alive,
    is_training,
    own_workers,
    result_of,
    until,
    workers,
)

pytestmark = pytest.mark.usefixtures("nothing_left_to_do")


@pytest.fixture(scope="module")
def other_server(queue):
    """A second server that trains something endless; its worker warms up beside the first one."""
    code = """
import json, sys, time
from bup import load_graph
from bup.run.spec import Run
from dashboard.training_queue.local_queue import LocalQueue
queue = LocalQueue()
run = Run.from_dict(json.loads(sys.argv[1]))
queue.submit(run, load_graph(run.spec.graph))
while not queue.find(run).progress.epoch:
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


def test_training_is_niced_single_threaded_and_first_to_go_when_memory_ends(queue, other_server):
    run = fresh(ENDLESS)
    ask(queue, run)
    until(lambda: is_training(queue, run))
    (pid,) = own_workers()
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0) + 10
    assert b"OMP_NUM_THREADS=1\0" in Path(f"/proc/{pid}/environ").read_bytes()
    assert Path(f"/proc/{pid}/oom_score_adj").read_text(encoding="utf-8").strip() == "1000"
    limits = Path(f"/proc/{pid}/limits").read_text(encoding="utf-8")
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


def test_a_killed_process_fails_its_run_and_is_replaced(queue):
    run, waiting = fresh(ENDLESS), fresh(SMALL)
    ask(queue, run)
    ask(queue, waiting)
    until(lambda: is_training(queue, run))
    (pid,) = own_workers()
    os.kill(pid, signal.SIGKILL)
    job = ended(queue, run)
    assert job.state == "failed" and "ended by signal 9" in job.error and "\n" not in job.error
    assert job.progress.epoch > 0 and result_of(run) is None
    assert ended(queue, waiting).state == "done"
    ask(queue, run)
    until(lambda: is_training(queue, run))
    assert pid not in own_workers()


def test_a_process_that_does_not_stop_when_asked_is_killed(queue, monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.3)
    run = fresh(ENDLESS)
    ask(queue, run)
    until(lambda: is_training(queue, run))
    (pid,) = own_workers()
    os.kill(pid, signal.SIGSTOP)
    queue.cancel(run)
    assert queue.find(run).state == "cancelled"
    until(lambda: not is_alive(pid), seconds=10)
    until(lambda: own_workers().keys() - {pid})
    assert queue.find(run).state == "cancelled"
    assert result_of(run) is None


def test_a_closed_manager_has_no_process_and_takes_no_run(tmp_path):
    queue = LocalQueue(Store(tmp_path), workers=2)

    def own() -> list[int]:
        return [pid for pid, command in workers(os.getpid()).items() if str(tmp_path) in command]

    until(lambda: len(own()) == 2)  # a process that has just started has no command line yet
    pids = own()
    run = fresh(SMALL)
    assert ask(queue, run).ahead == 0  # nobody trains yet
    queue.close()
    queue.close()
    assert not any(map(is_alive, pids))
    assert queue.find(run).state == "cancelled"
    with pytest.raises(BupError, match="closing"):
        ask(queue, run)


def test_processes_that_cannot_start_fail_the_waiting_runs_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    queue = LocalQueue(Store(tmp_path))
    run = fresh(SMALL)
    assert ask(queue, run).state == "failed"
    assert "no training process can be started" in queue.find(run).error

    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    ask(queue, run)
    job = ended(queue, run)
    assert job.state == "failed" and "exit code 3 before it was ready" in job.error
    queue.close()
