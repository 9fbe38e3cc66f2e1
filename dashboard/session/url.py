"""The parts of a view that no bound widget holds, in the link all the same.

Such a part lives in the session under its own name. Whoever comes by a link that names it has it
read from there, and what cannot be read is as if it had not been said: numbers from an address are
never trusted. Afterwards the address follows the session.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bup.errors import BupError
from bup.methods import changed_settings
from bup.run.spec import Spec
from dashboard.ui import streamlit_internals

Point = tuple[float, float]
FARTHEST = 100.0  # a map lies within one unit of its middle
MOST_CORNERS = 64
LONGEST = 4000


@dataclass(frozen=True)
class Parameter:
    """``read`` raises ValueError for what makes no sense; None is never written."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str


def _number(text: str, most: float = math.inf) -> float:
    value = float(text)
    if not math.isfinite(value) or abs(value) > most:
        raise ValueError(text)
    return value


def _span(text: str) -> list[float | None]:
    low, high = (_number(end) if end else None for end in text.split("~"))
    if low is not None and high is not None and low >= high:
        raise ValueError(text)
    return [low, high]


def _span_text(span: list[float | None]) -> str:
    return "~".join("" if end is None else f"{end:.6g}" for end in span)


def _corners(text: str) -> list[Point]:
    corners = [tuple(_number(v, FARTHEST) for v in corner.split(",")) for corner in text.split(";")]
    if not 3 <= len(corners) <= MOST_CORNERS or any(len(corner) != 2 for corner in corners):
        raise ValueError(text)
    return [(x, y) for x, y in corners]


def _corners_text(corners: list[Point]) -> str:
    return ";".join(f"{x:.4g},{y:.4g}" for x, y in corners)


def _run(text: str) -> Spec:
    try:
        return Spec.from_dict(json.loads(text))
    except (BupError, TypeError, RecursionError) as error:
        raise ValueError(text) from error


def _run_text(spec: Spec) -> str:
    """Without what is usual anyway."""
    usual = Spec().as_dict()
    changed = spec.as_dict() | {"settings": changed_settings(spec)}
    return json.dumps({k: value for k, value in changed.items() if value != usual.get(k)})


def _listed(text: str) -> list[str]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        raise ValueError(text)
    return found


PARAMETERS: Mapping[str, Parameter] = {
    "tab": Parameter(str),
    "pin": Parameter(str),
    "unlink": Parameter(_listed, json.dumps),
    "link_to": Parameter(str),
    "hops": Parameter(int),
    "ego_score": Parameter(str),
    "stage": Parameter(str),
    "range": Parameter(_span, _span_text),
    "scale": Parameter(_span, _span_text),
    "lasso": Parameter(_corners, _corners_text),
    "before": Parameter(_run, _run_text),
}


def read() -> set[str]:
    """Take over what the address says and the session does not know yet: which parts those were.

    Before any of the widgets is drawn that they belong to.
    """
    written, read = st.session_state.setdefault("address", {}), set()
    for name, part in PARAMETERS.items():
        text = st.query_params.get(name)
        if text is None and streamlit_internals.is_history_navigation():
            st.session_state[name] = None
            written.pop(name, None)
            read.add(name)
        if text is None or text == written.get(name) or len(text) > LONGEST:
            continue
        try:
            st.session_state[name] = part.read(text)
        except ValueError:
            st.session_state[name] = None
        written[name] = text
        read.add(name)
    return read


def write(usual: Mapping[str, Any]) -> None:
    """The address says what the session has, but for what is ``usual``."""
    written = {}
    for name, part in PARAMETERS.items():
        value = st.session_state.get(name)
        if value in (None, "", []) or value == usual.get(name):
            if name in st.query_params:
                del st.query_params[name]
        else:
            written[name] = part.write(value)
            if st.query_params.get(name) != written[name]:
                st.query_params[name] = written[name]
    st.session_state.address = written


def ensure_option(name: str, options: Sequence[Any]) -> None:
    """Before a widget is drawn: the first of its options, if the session has none of them."""
    if st.session_state.get(name) not in options:
        st.session_state[name] = options[0]


def keep_widgets(*names: str) -> None:
    """Streamlit forgets widgets that are not drawn: these stay as they are."""
    for name in names:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]
