"""The one reader and writer of the address.

Most parameters belong to widgets with ``bind="query-params"``. The others are in ``PARAMETERS``:
each is in the session state under its name, is read from an address that has changed, and is
written back after the page is drawn. Anybody can write a link: what cannot be read is left out.
"""

import contextlib
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
    """How a value is read from a link and written to it; ``read`` may raise ValueError."""

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
    """Without defaults."""
    defaults = Spec().as_dict()
    changed = spec.as_dict() | {"settings": changed_settings(spec)}
    return json.dumps({k: value for k, value in changed.items() if value != defaults.get(k)})


def _texts(text: str) -> list[str]:
    texts = json.loads(text)
    if not isinstance(texts, list) or not all(isinstance(entry, str) for entry in texts):
        raise ValueError(text)
    return texts


PARAMETERS: Mapping[str, Parameter] = {
    "tab": Parameter(str),
    "pin": Parameter(str),
    "unlink": Parameter(_texts, json.dumps),
    "link_to": Parameter(str),
    "against": Parameter(str),
    "hops": Parameter(int),
    "ego_score": Parameter(str),
    "stage": Parameter(str),
    "range": Parameter(_span, _span_text),
    "scale": Parameter(_span, _span_text),
    "lasso": Parameter(_corners, _corners_text),
    "before": Parameter(_run, _run_text),
}


def get(name: str, default: Any = "") -> Any:
    """A parameter of the address, as text."""
    return st.query_params.get(name, default)


def remove(name: str) -> None:
    """Remove a parameter that is there; raises StreamlitAPIException if a widget writes it."""
    del st.query_params[name]


def pop(name: str) -> str:
    """Remove a parameter and return it; "" if the address has none."""
    value = get(name)
    if value:
        remove(name)
    return value


def put(name: str, value: str) -> None:
    """Write a parameter to the address, unless it is there or a widget writes it."""
    if st.query_params.get(name) != value:
        with contextlib.suppress(streamlit_internals.StreamlitAPIException):
            st.query_params[name] = value


def pairs() -> list[tuple[str, str]]:
    """All parameters of the address, in its order."""
    return [(name, value) for name in st.query_params for value in st.query_params.get_all(name)]


def read() -> set[str]:
    """Take over what is new in the address; gives the names of these parameters.

    To be called before the widgets are drawn that show them.
    """
    written, read = st.session_state.setdefault("address", {}), set()
    for name, parameter in PARAMETERS.items():
        text = get(name, default=None)
        if text is None and streamlit_internals.is_history_navigation():
            st.session_state[name] = None
            written.pop(name, None)
            read.add(name)
        if text is None or text == written.get(name) or len(text) > LONGEST:
            continue
        try:
            st.session_state[name] = parameter.read(text)
        except ValueError:
            st.session_state[name] = None
        written[name] = text
        read.add(name)
    return read


def write(defaults: Mapping[str, Any]) -> None:
    """Write what the session state has to the address, except for defaults."""
    written = {}
    for name, parameter in PARAMETERS.items():
        value = st.session_state.get(name)
        if value in (None, "", []) or value == defaults.get(name):
            if name in st.query_params:
                del st.query_params[name]
        else:
            written[name] = parameter.write(value)
            put(name, written[name])
    st.session_state.address = written


def ensure_option(name: str, options: Sequence[Any]) -> None:
    """Before a widget is drawn: choose its first option if the session has none of them."""
    if st.session_state.get(name) not in options:
        st.session_state[name] = options[0]


def keep_widgets(*names: str) -> None:
    """Keep the values of widgets that may not be drawn, which Streamlit would forget."""
    for name in names:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]
