"""Where browsers look for news of a class: a few bytes, without a session."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import bup
from dashboard.classroom.register import Register, normalize_code

FOLDER = "class-news"
STUDENT, LEAD = "student", "lead"
"""Audiences: a student is told of less than the lecturer, who is told of every change."""
OVER = "over"
FRESH = 0.4  # seconds for which an answer serves all requests
MOST_CACHED = 200

_cached: OrderedDict[str, tuple[float, dict[str, str]]] = OrderedDict()
_lock = threading.Lock()


def source(code: str) -> str:
    """Relative to any page of the app, wherever it is mounted."""
    return f"{FOLDER}/{code}"


def routes() -> list[Route]:
    return [Route(f"{below}/{FOLDER}/{{code}}", _answer) for below in ("", "/{below:path}")]


def _answer(request: Request) -> Response:
    """In a thread, because reading takes a moment."""
    try:
        state = news(normalize_code(request.path_params["code"]))
    except bup.BupError:
        return Response(status_code=503)
    return JSONResponse(state, headers={"Cache-Control": "no-store"})


def news(code: str) -> dict[str, str]:
    """State of a class by audience, read once for all requests within a moment."""
    now = time.monotonic()
    with _lock:
        at, state = _cached.get(code, (-FRESH, {}))
        if state and now - at < FRESH:
            return state
        room = Register().find(code)
        state = (
            {STUDENT: OVER, LEAD: OVER}
            if room is None
            else {STUDENT: room.news, LEAD: str(room.version)}
        )
        _cached[code] = now, state
        _cached.move_to_end(code)
        while len(_cached) > MOST_CACHED:
            _cached.popitem(last=False)
    return state
