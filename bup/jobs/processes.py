"""Training processes on this machine, as the process that started them sees them."""

from __future__ import annotations

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

from bup.jobs.task import Message, Owner, Task
from bup.results.store import Store

log = logging.getLogger(__name__)

NICENESS = 10
GRACE = 2.0  # seconds that a cancelled process has to reach the end of its epoch


@dataclass(eq=False)
class _Process:
    popen: subprocess.Popen[str]
    ready: bool = False  # torch is imported, tasks may come
    task: Task | None = None  # what it trains
    killer: threading.Timer | None = None  # set when what it trains is cancelled
    reader: threading.Thread = field(init=False)

    def send(self, order: Any) -> None:
        # One that has just died is noticed by its reader.
        with contextlib.suppress(OSError):
            print(json.dumps(order), file=self.popen.stdin, flush=True)


class Processes:
    """So many processes, kept warm, each with one task at a time; one that dies is replaced.

    Its lock is held whenever the owner is called: an owner that uses it for its own state sees
    tasks and processes agree.
    """

    def __init__(self, store: Store, count: int) -> None:
        self.lock = threading.RLock()
        self._store, self._count = store, count
        self._owner: Owner | None = None
        self._processes: list[_Process] = []
        self._closed = False
        with self.lock:
            self._fill()

    def work_for(self, owner: Owner) -> None:
        with self.lock:
            self._owner = owner
            self.wake()

    def wake(self) -> None:
        """Replace what is missing, give tasks to processes that have nothing to do."""
        with self.lock:
            self._fill()
            if self._owner is None:
                return
            for process in self.idle:
                if (task := self._owner.take()) is None:
                    break
                process.task = task
                process.send({"runs": [run.as_dict() for run in task.runs]})

    @property
    def idle(self) -> list[_Process]:
        """Those that are warm and have nothing to do."""
        return [process for process in self._processes if process.ready and process.task is None]

    def cancel(self, task: Task) -> None:
        """Its owner hears no more of it.

        Its process is asked to stop after the current epoch, which keeps it warm for the next task,
        and killed if it has not done so in a few seconds.
        """
        with self.lock:
            for process in self._processes:
                if process.task == task and process.killer is None:
                    process.killer = threading.Timer(GRACE, self._kill_late, [process])
                    process.killer.daemon = True
                    process.killer.start()
                    process.send("cancel")

    def close(self) -> None:
        """End the processes, whatever they do."""
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
                self._processes.append(self._started())
            except OSError as error:
                self._strand(f"no training process can be started ({error})")
                break

    def _started(self) -> _Process:
        popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "bup.jobs", str(self._store.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # the terminal's Ctrl-C is for who started it
        )
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such thing
            os.setpriority(os.PRIO_PROCESS, popen.pid, min(19, os.nice(0) + NICENESS))
        process = _Process(popen)
        process.reader = threading.Thread(target=self._read, args=[process], daemon=True)
        process.reader.start()
        return process

    def _read(self, process: _Process) -> None:
        """A thread per process: takes in what it says until it ends."""
        assert process.popen.stdout is not None
        for line in process.popen.stdout:
            if line.endswith("\n"):  # not the last words of one that was killed
                with self.lock:
                    self._take_in(process, json.loads(line))
        code = process.popen.wait()
        for pipe in (process.popen.stdin, process.popen.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        with self.lock:
            self._lose(process, _end_in_words(code))

    def _take_in(self, process: _Process, message: Message) -> None:
        if "ready" in message:
            process.ready = True
        elif "epochs" in message:
            if process.task is not None and process.killer is None:
                self._tell(process.task, message)
        elif (task := self._freed(process)) is not None:
            self._tell(task, message)
        self.wake()

    def _lose(self, process: _Process, how: str) -> None:
        self._processes.remove(process)
        if (task := self._freed(process)) is not None:
            self._tell(task, {"end": "died", "error": how})
        if process.ready:
            self.wake()
        else:
            # Another would hardly fare better; who wakes us next makes us try again.
            self._strand(f"{how} before it was ready")

    def _freed(self, process: _Process) -> Task | None:
        """Take from a process what it had; None if that was cancelled."""
        task, process.task = process.task, None
        killer, process.killer = process.killer, None
        if killer is None:
            return task
        killer.cancel()
        return None

    def _tell(self, task: Task, message: Message) -> None:
        if self._owner is not None and not self._closed:
            self._owner.hear(task, message)

    def _strand(self, why: str) -> None:
        if self._closed:
            return
        log.error(why)
        if not self._processes and self._owner is not None:
            self._owner.stranded(why)

    def _kill_late(self, process: _Process) -> None:
        with self.lock:
            if process.killer is threading.current_thread():
                process.popen.kill()


def _end_in_words(code: int) -> str:
    if code >= 0:
        return f"the training process stopped with exit code {code}"
    memory = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"the training process was ended by signal {-code}{memory}"
