"""The workers of a Dask scheduler, which moves the tasks of a worker that dies to another one.

Workers need not share a disk with this machine: results come back and are stored here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bup.errors import BupError
from bup.io.extras import needs
from bup.jobs.task import Message, Task, TaskOwner
from bup.jobs.worker import run_task

PATIENCE = 30
"""Seconds to wait for a cluster and for its first worker."""


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    with needs("cluster", "a cluster"):
        from distributed import Client
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BupError(
            f"no scheduler answers at {address!r} ({error}): start one with 'dask scheduler' and "
            "give the tcp:// address that it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BupError(
                f"the scheduler at {address} has no worker: start some with "
                f"'dask worker {address} --nthreads 1'"
            ) from None
        yield Cluster(client)


class Cluster:
    """Submits all tasks at once; the scheduler decides how many it works on at a time."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._owner: TaskOwner | None = None
        self._futures: dict[Any, Task] = {}  # Dask cancels a future without references

    def start(self, owner: TaskOwner) -> None:
        self._owner = owner
        self.notify()

    def notify(self) -> None:
        while self._owner is not None and (task := self._owner.next_task()) is not None:
            # Impure: a run that is tried again is trained again.
            future = self._client.submit(run_task, task.runs, pure=False)
            self._futures[future] = task
            future.add_done_callback(self._on_done)

    def _on_done(self, future: Any) -> None:
        assert self._owner is not None
        message: Message
        if future.cancelled():
            why = "the cluster's scheduler was lost: start it again, then this command"
            message = {"end": "failed", "error": why}
        elif (error := future.exception()) is not None:
            text = " ".join(str(error).split())
            message = {"end": "failed", "error": f"{type(error).__name__}: {text}"}
        else:
            message = future.result()
        self._owner.on_message(self._futures.pop(future), message)
