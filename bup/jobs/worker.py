"""A training process: it reads tasks, trains them one by one, and reports on each.

Its messages are plain JSON values: ``{"ready": true}`` once; for each task ``{"epochs": [...]}``
from time to time, then ``{"end": "done"}``, ``{"end": "failed", "error": one sentence}`` or
``{"end": "cancelled"}``. A result that it could not store comes with the end: ``unstored`` has an
entry for each run, null or a packed result in base64, and ``why`` the reason.
"""

import base64
import dataclasses
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from queue import SimpleQueue

from bup import BupError, Graph, Store, load_graph
from bup.io import files
from bup.io.memory import limit_resources
from bup.jobs.task import Message
from bup.run.spec import Run

log = logging.getLogger(__name__)

INTERVAL = 0.1  # seconds between two reports of progress

Send = Callable[[Message], None]


def serve(store: Store) -> None:
    """Import torch, then train one task after the other until stdin closes."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    orders: SimpleQueue[list[Run]] = SimpleQueue()
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=[orders, cancelled], daemon=True).start()
    limit_resources()
    _warm_up()

    def send(message: Message) -> None:
        try:
            print(json.dumps(message), file=answers)
        except BrokenPipeError:
            os._exit(0)  # the process that sent the tasks has gone

    send({"ready": True})
    while True:
        send(run_task(orders.get(), store, cancelled, send))


def _listen(orders: SimpleQueue[list[Run]], cancelled: threading.Event) -> None:
    """Read tasks and cancellations; a cancellation always means the task that was sent last."""
    for line in sys.stdin:
        order = json.loads(line)
        if order == "cancel":
            cancelled.set()
        else:
            cancelled.clear()
            orders.put([Run.from_dict(run) for run in order["runs"]])
    os._exit(0)  # the process that sent the tasks has gone; the store's writes are atomic


def _warm_up() -> None:
    """Train for one epoch: on its first backward pass torch imports as much again."""
    from bup.training import fitting

    fitting.fit(
        "synthetic:nodes=60,classes=2,words=20", per_class=2, validation=2, test=2, epochs=1
    )


def run_task(
    runs: Sequence[Run],
    store: Store | None = None,
    cancelled: threading.Event | None = None,
    send: Send = lambda message: None,
) -> Message:
    """Train runs that differ in their seed only; without a store the message holds all results."""
    from bup.engine.loop import Cancelled

    try:
        return {"end": "done"} | _train(runs, store, cancelled or threading.Event(), send)
    except Cancelled:
        return {"end": "cancelled"}
    except BupError as error:
        return {"end": "failed", "error": _one_line(str(error))}
    except Exception as error:
        log.exception("training %s failed", runs[0].key)
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            text = "this run needs more memory than there is: ask for a smaller graph or width"
        else:
            text = f"training failed unexpectedly: {type(error).__name__}: {error}"
        return {"end": "failed", "error": _one_line(text)}


def _train(
    runs: Sequence[Run], store: Store | None, cancelled: threading.Event, send: Send
) -> Message:
    """What the last message adds: nothing, or the results that could not be stored."""
    from bup.engine.loop import Cancelled, Progress
    from bup.training import fitting

    pending: list[Message] = []
    last_sent = 0.0

    def on_epoch(progress: Progress) -> None:
        nonlocal last_sent
        if cancelled.is_set():
            raise Cancelled
        pending.append(dataclasses.asdict(progress))
        if time.monotonic() - last_sent >= INTERVAL:
            send({"epochs": pending})
            pending.clear()
            last_sent = time.monotonic()

    graph = _graph(runs[0].spec.graph, runs[0].digest)
    # The command line, or another server, may have been quicker.
    left = [run for run in runs if store is None or fitting.load(run.spec, graph, store) is None]
    if not left:
        return {}
    results = fitting.fit_specs(graph, [run.spec for run in left], on_epoch)
    if pending:
        send({"epochs": pending})
    if cancelled.is_set():
        raise Cancelled
    unstored: dict[Run, str] = {}
    why = "it was trained where there is no store"
    for run, result in zip(left, results, strict=True):
        try:
            if store is not None:
                fitting.save(result, graph, store)
                continue
        except BupError as error:
            why = _one_line(str(error))
        unstored[run] = base64.b64encode(files.pack(*result.pack())).decode()
    return {"unstored": [unstored.get(run) for run in runs], "why": why} if unstored else {}


@lru_cache(maxsize=1)
def _graph(name: str, digest: str) -> Graph:
    graph = load_graph(name)
    if graph.digest != digest:
        raise BupError(
            f"the graph {name} is not the one that was asked for: its files have changed since "
            "(look at the graph again, then train), or machines of a cluster have other data or "
            "another version of bup"
        )
    return graph


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 400 else line[:399] + "…"
