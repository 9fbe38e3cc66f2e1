"""One queue for several server processes, with real ones."""

import json
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import bup
from bup.io import files
from bup.jobs import processes
from bup.run.spec import Run
from bup.training import fitting
from dashboard.training_queue import local_queue as jobs
from dashboard.training_queue import shared_queue
from dashboard.training_queue.job import Job
from tests.support.jobs import ENDLESS, SMALL, fresh, own_workers, result_of, until

SERVER = """
import json, os, sys
from bup import BupError, load_graph
from bup.run.spec import Run
from dashboard.training_queue.shared_queue import RemoteQueue
unstored = []
is_here = lambda visitor: visitor != "away"
queue = RemoteQueue(sys.argv[1], is_here, lambda *what: unstored.append(what))
for line in sys.stdin:
    do, run, *rest = json.loads(line)
    run = Run.from_dict(run)
    try:
        if do == "submit":
            job = queue.submit(run, load_graph(run.spec.graph), *rest)
        else:
            job = getattr(queue, do)(run, *rest)
        said = None if job is None else job.as_dict()
    except BupError as error:
        said = str(error)
    print(json.dumps(said), len(unstored), flush=True)
"""


class Server:
    """A server process that shares a queue, as a test speaks to it."""

    def __init__(self, path: str) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, "-c", SERVER, path], **pipes)

    def __call__(self, do: str, run: Run, *rest: object) -> Job | str | None:
        print(json.dumps([do, run.as_dict(), *rest]), file=self.process.stdin, flush=True)
        said, self.unstored = self.process.stdout.readline().rsplit(" ", 1)
        told = json.loads(said)
        return Job.from_dict(told) if isinstance(told, dict) else told

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def two_servers(path):
    servers = Server(path), Server(path)
    try:
        yield servers
    finally:
        for server in servers:
            server.end()


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(processes, "GRACE", 60)
        patch.setattr(jobs, "WATCH", 0.1)
        patch.setattr(jobs, "AWAY", 3)
        with shared_queue.shared() as path:
            yield path


def test_two_processes_see_one_training_and_only_who_asked_can_end_it(queue):
    run = fresh(ENDLESS)
    with two_servers(queue) as (one, two):
        assert one("submit", run, "ann").active
        assert two("submit", run, "bob").askers == {"ann", "bob"}
        until(lambda: two("find", run, "bob").progress.epoch > 0)
        seen = one("find", run, "ann")
        assert seen.state == "running" and len(seen.progress.loss) == seen.progress.epoch
        assert len(own_workers()) == jobs.WORKERS, "only who keeps the queue trains"
        two("cancel", run, "eve")
        two("cancel", run, "bob")
        assert one("find", run).active, "ann waits for it in the other process"
        one("cancel", run, "ann")
        assert two("find", run).state == "cancelled"


def test_a_process_that_dies_takes_its_visitors_along_and_nobody_elses(queue):
    own, common = fresh(ENDLESS), fresh(SMALL)
    with two_servers(queue) as (one, two):
        one("submit", own, "ann")
        one("submit", common, "ann")
        two("find", common, "bob")
        until(lambda: two("find", own).state == "running")
        one.end()
        until(lambda: two("find", own).state == "cancelled")
        until(lambda: two("find", common, "bob").state == "done")
    assert result_of(common) is not None and result_of(own) is None


def test_what_a_visitor_has_waiting_counts_in_every_process(queue, monkeypatch):
    monkeypatch.setenv("BUP_VISITOR_SECONDS", "90")
    first, second = fresh(ENDLESS), fresh(ENDLESS)
    with two_servers(queue) as (one, two):
        one("submit", first, "greedy")
        assert "of your runs are waiting already" in two("submit", second, "greedy")
        assert two("find", second) is None
        one("cancel", first, "greedy")


def test_a_result_that_no_disk_takes_reaches_the_process_that_waits(tmp_path, monkeypatch):
    (tmp_path / "runs").write_text("not a folder")
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    run, handed = fresh(SMALL), []
    with shared_queue.shared() as path:
        near = shared_queue.RemoteQueue(
            path, lambda visitor: True, lambda *what: handed.append(what)
        )
        near.submit(run, bup.load_graph(run.spec.graph), "ann")
        until(lambda: near.find(run, "ann").state == "done")
        near.find(run, "ann")
    ((of, content, why),) = handed
    (here,) = fitting.fit_specs(bup.load_graph(run.spec.graph), [run.spec])
    result = bup.Result.unpack(run.spec, files.unpack(content))
    assert of == run and (result.probs == here.probs).all() and "cannot be kept" in why


def test_only_this_user_reaches_the_queue(queue):
    assert stat.S_IMODE(Path(queue).parent.stat().st_mode) == 0o700


def test_without_its_keeper_everybody_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    keeping = "import time\nfrom dashboard.training_queue.shared_queue import shared\n"
    keeping += "with shared() as path:\n    print(path, flush=True)\n    time.sleep(600)"
    keeper = subprocess.Popen([sys.executable, "-c", keeping], stdout=subprocess.PIPE, text=True)
    path = keeper.stdout.readline().strip()
    run, graph = fresh(SMALL), bup.load_graph(SMALL.graph)
    near = shared_queue.RemoteQueue(path, lambda visitor: True, lambda *what: None)
    assert near.find(run) is None
    keeper.kill()
    keeper.communicate()
    for ask in (lambda: near.find(run, "ann"), lambda: near.submit(run, graph, "ann")):
        with pytest.raises(bup.BupError, match=r"does not answer.*start the server again"):
            ask()
    near.cancel(run, "ann")


def test_tabs_share_one_budget_and_dropped_cookies_an_address(queue, monkeypatch):
    monkeypatch.setenv("BUP_VISITOR_SECONDS", "90")
    waiting = []
    with two_servers(queue) as (one, two):

        def asks(server: Server, visitor: str) -> Job | str:
            run = fresh(ENDLESS)
            said = server("submit", run, visitor)
            if isinstance(said, Job):
                waiting.append((run, visitor))
            return said

        assert asks(one, "ann@10.0.0.1").active
        assert "of your runs" in asks(two, "ann@10.0.0.2"), "another tab on another network"
        assert asks(one, "~tab1@10.0.0.1").active
        assert "of your runs" in asks(one, "~tab2@10.0.0.1"), "neither keeps a cookie"
        students = [asks(one, f"student{n}@10.0.0.1") for n in range(30)]
        let_in = [said for said in students if isinstance(said, Job)]
        assert 2 < len(let_in) < 30
        assert "from your network" in students[-1]
        assert asks(two, "bob@10.0.0.2").active, "another address has its own"
        for run, visitor in waiting:
            one("cancel", run, visitor)
