"""Where browsers look for news of a class: a few bytes, without a session."""

import threading
import time
from functools import lru_cache

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
    with _lock:
        return _read(code, int(time.monotonic() / FRESH))


@lru_cache(200)
def _read(code: str, moment: int) -> dict[str, str]:
    room = Register().find(code)
    if room is None:
        return {STUDENT: OVER, LEAD: OVER}
    return {STUDENT: room.news, LEAD: str(room.version)}
