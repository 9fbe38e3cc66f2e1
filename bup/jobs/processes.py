"""Training processes on this machine, as seen by the process that starts them."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

from bup.jobs.task import Message, Task, TaskOwner
from bup.results.store import Store

log = logging.getLogger(__name__)

NICENESS = 10
# Ctrl-C in the terminal is for the parent process.
if sys.platform == "win32":
    APART = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    APART: dict[str, Any] = {"start_new_session": True}
GRACE = 2.0  # seconds that a cancelled process has to reach the end of its epoch


@dataclass(eq=False)
class _Process:
    popen: subprocess.Popen[str]
    ready: bool = False  # torch is imported, tasks may come
    task: Task | None = None  # what it trains
    killer: threading.Timer | None = None  # set when what it trains is cancelled
    reader: threading.Thread = field(init=False)

    def send(self, order: Any) -> None:
        # The reader thread notices a process that has just died.
        with contextlib.suppress(OSError):
            print(json.dumps(order), file=self.popen.stdin, flush=True)


class Processes:
    """A pool of warm processes with one task each; a process that dies is replaced.

    ``lock`` is held whenever the owner is called: an owner that guards its own state with it sees
    tasks and processes agree.
    """

    def __init__(self, store: Store, count: int) -> None:
        self.lock = threading.RLock()
        self._store, self._count = store, count
        self._owner: TaskOwner | None = None
        self._processes: list[_Process] = []
        self._closed = False
        with self.lock:
            self._fill()

    def start(self, owner: TaskOwner) -> None:
        with self.lock:
            self._owner = owner
            self.notify()

    def notify(self) -> None:
        """Replace processes that died and give tasks to idle ones."""
        with self.lock:
            self._fill()
            if self._owner is None:
                return
            for process in self.idle:
                if (task := self._owner.next_task()) is None:
                    break
                process.task = task
                process.send({"runs": [run.as_dict() for run in task.runs]})

    @property
    def idle(self) -> list[_Process]:
        """Processes that have imported torch and train nothing."""
        return [process for process in self._processes if process.ready and process.task is None]

    def cancel(self, task: Task) -> None:
        """Stop a task; its owner gets no further message about it.

        The process is asked to stop after the current epoch, which keeps it warm for the next task,
        and is killed if it has not done so after ``GRACE`` seconds.
        """
        with self.lock:
            for process in self._processes:
                if process.task == task and process.killer is None:
                    process.killer = threading.Timer(GRACE, self._kill_overdue, [process])
                    process.killer.daemon = True
                    process.killer.start()
                    process.send("cancel")

    def close(self) -> None:
        """Kill all processes."""
        with self.lock:
            self._closed = True
            processes = list(self._processes)
            for process in processes:
                process.task = None
                process.popen.kill()
        for process in processes:
            process.reader.join(timeout=5)

    def _fill(self) -> None:
        while len(self._processes) < self._count and not self._closed:
            try:
                self._processes.append(self._start_process())
            except OSError as error:
                self._report_no_workers(f"no training process can be started ({error})")
                break

    def _start_process(self) -> _Process:
        popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "bup.jobs", str(self._store.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            **APART,
        )
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such thing
            os.setpriority(os.PRIO_PROCESS, popen.pid, min(19, os.nice(0) + NICENESS))
        process = _Process(popen)
        process.reader = threading.Thread(target=self._read, args=[process], daemon=True)
        process.reader.start()
        return process

    def _read(self, process: _Process) -> None:
        """A thread per process: handles its messages until it ends."""
        assert process.popen.stdout is not None
        for line in process.popen.stdout:
            if line.endswith("\n"):  # a killed process may leave half a line
                with self.lock:
                    self._handle(process, json.loads(line))
        code = process.popen.wait()
        for pipe in (process.popen.stdin, process.popen.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        with self.lock:
            self._on_exit(process, _describe_exit(code))

    def _handle(self, process: _Process, message: Message) -> None:
        if "ready" in message:
            process.ready = True
        elif "epochs" in message:
            if process.task is not None and process.killer is None:
                self._report(process.task, message)
        elif (task := self._release_task(process)) is not None:
            self._report(task, message)
        self.notify()

    def _on_exit(self, process: _Process, how: str) -> None:
        self._processes.remove(process)
        if (task := self._release_task(process)) is not None:
            self._report(task, {"end": "died", "error": how})
        if process.ready:
            self.notify()
        else:
            # Another process would probably fail too; the next ``notify`` tries again.
            self._report_no_workers(f"{how} before it was ready")

    def _release_task(self, process: _Process) -> Task | None:
        """Take the task from a process; None if it was cancelled."""
        task, process.task = process.task, None
        killer, process.killer = process.killer, None
        if killer is None:
            return task
        killer.cancel()
        return None

    def _report(self, task: Task, message: Message) -> None:
        if self._owner is not None and not self._closed:
            self._owner.on_message(task, message)

    def _report_no_workers(self, why: str) -> None:
        if self._closed:
            return
        log.error(why)
        if not self._processes and self._owner is not None:
            self._owner.on_no_workers(why)

    def _kill_overdue(self, process: _Process) -> None:
        with self.lock:
            if process.killer is threading.current_thread():
                process.popen.kill()


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"the training process stopped with exit code {code}"
    memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"the training process was ended by signal {-code}{memory}"
