"""A training process: it reads runs, trains them one by one, and reports how they go."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import logging
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from bup import BupError, Store, files, load_graph
from bup.spec import Run

log = logging.getLogger(__name__)

INTERVAL = 0.1  # seconds between two reports of progress
MEMORY_SHARE = 0.75  # of the machine's memory, for one training process


def serve(store: Store) -> None:
    """The life of a training process: get warm, then train one run after the other."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    orders: SimpleQueue[Run] = SimpleQueue()
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=[orders, cancelled], daemon=True).start()
    _be_modest()
    _warm_up()

    def say(message: dict[str, Any]) -> None:
        try:
            print(json.dumps(message), file=answers)
        except BrokenPipeError:
            os._exit(0)  # the server has gone

    say({"ready": True})
    while True:
        say(_outcome(orders.get(), store, cancelled, say))


def _listen(orders: SimpleQueue[Run], cancelled: threading.Event) -> None:
    """A cancel always means the run sent last: the manager sends the next one after its end."""
    for line in sys.stdin:
        order = json.loads(line)
        if order == "cancel":
            cancelled.set()
        else:
            cancelled.clear()
            orders.put(Run.from_dict(order))
    os._exit(0)  # the server has gone; the store's writes are atomic, so any moment will do


def _be_modest() -> None:
    """Let a run that is too large fail, or be killed by the system, rather than the server.

    The limit is on data, not on address space, of which torch reserves far more than it uses.
    """
    with contextlib.suppress(OSError, ValueError):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        limit = int(MEMORY_SHARE * memory)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _warm_up() -> None:
    """Train for one epoch: on its first backward pass torch imports as much again."""

    from bup import runs

    runs.fit("synthetic:nodes=60,classes=2,words=20", per_class=2, validation=2, test=2, epochs=1)


def _outcome(
    run: Run, store: Store, cancelled: threading.Event, say: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    from bup.training import Cancelled

    try:
        return {"end": "done"} | _train(run, store, cancelled, say)
    except Cancelled:
        return {"end": "cancelled"}
    except BupError as error:
        return {"end": "failed", "error": _one_line(str(error))}
    except Exception as error:
        log.exception("training %s failed", run.key)
        if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
            text = "this run needs more memory than there is: ask for a smaller graph or width"
        else:
            text = f"training failed unexpectedly: {type(error).__name__}: {error}"
        return {"end": "failed", "error": _one_line(text)}


def _train(
    run: Run, store: Store, cancelled: threading.Event, say: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """What to say at the end: nothing, or the result itself where no disk takes it."""
    from bup import runs
    from bup.training import Cancelled
    from bup.training import Progress as Epoch

    unsaid: list[dict[str, Any]] = []
    said = 0.0

    def on_epoch(epoch: Epoch) -> None:
        nonlocal said
        if cancelled.is_set():
            raise Cancelled
        unsaid.append(dataclasses.asdict(epoch))
        if time.monotonic() - said >= INTERVAL:
            say({"epochs": unsaid})
            unsaid.clear()
            said = time.monotonic()

    graph = load_graph(run.spec.graph)
    if graph.digest != run.digest:
        raise BupError(
            f"the files of {run.spec.graph} have changed since this run was asked for: look at the "
            "graph again, then train"
        )
    if runs.load(run.spec, graph, store) is not None:
        return {}  # the command line, or another server, was quicker
    (result,) = runs.fit_specs(graph, [run.spec], on_epoch)
    if unsaid:
        say({"epochs": unsaid})
    if cancelled.is_set():
        raise Cancelled
    try:
        runs.save(result, graph, store)
    except BupError as error:
        content = base64.b64encode(files.pack(*result.packed())).decode()
        return {"unstored": content, "why": _one_line(str(error))}
    return {}


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 400 else line[:399] + "…"
