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
"""What news are about: what a student has to know, and everything that happens."""
OVER = "over"
FRESH = 0.4  # seconds for which an answer serves everybody who asks
MOST_KEPT = 200

_kept: OrderedDict[str, tuple[float, dict[str, str]]] = OrderedDict()
_lock = threading.Lock()


def source(code: str) -> str:
    """Relative to any page of the app, wherever it is mounted."""
    return f"{FOLDER}/{code}"


def routes() -> list[Route]:
    return [Route(f"{below}/{FOLDER}/{{code}}", _answer) for below in ("", "/{below:path}")]


def _answer(request: Request) -> Response:
    """In a thread, because reading takes a moment."""
    try:
        said = news(normalize_code(request.path_params["code"]))
    except bup.BupError:
        return Response(status_code=503)
    return JSONResponse(said, headers={"Cache-Control": "no-store"})


def news(code: str) -> dict[str, str]:
    """Read once for all who ask within a moment."""
    now = time.monotonic()
    with _lock:
        at, said = _kept.get(code, (-FRESH, {}))
        if said and now - at < FRESH:
            return said
        room = Register().find(code)
        said = (
            {STUDENT: OVER, LEAD: OVER}
            if room is None
            else {STUDENT: room.news, LEAD: str(room.version)}
        )
        _kept[code] = now, said
        _kept.move_to_end(code)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return said
