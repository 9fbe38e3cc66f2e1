"""A plotly chart that keeps its camera: st.plotly_chart loses it when the figure changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st

from dashboard.components import static_files
from dashboard.components.shared.component import component
from dashboard.ui import streamlit_internals


@dataclass(frozen=True)
class ChartFigure:
    """A figure as JSON for the browser."""

    json: bytes
    height: int

    @classmethod
    def of(cls, figure: go.Figure) -> ChartFigure:
        return cls(figure.to_json().encode(), int(figure.layout.height))


@dataclass(frozen=True)
class Mark:
    """A ring around a picked node; ``axes`` is "" for the first chart, "2" for the second."""

    x: float  # in the axis's own units, also where it is logarithmic
    y: float
    axes: str = ""


def _library() -> str:
    """The script that loads plotly: Streamlit's copy, which browsers cache, else the package's.

    In a message it would cost every rerun a tenth of a second, because Streamlit's page decodes
    each message again, however old.
    """
    if bundle := streamlit_internals.plotly_bundle():
        return f"""
const scripts = [...document.scripts].map((script) => script.src);
const beside = scripts.find((source) => source.includes("/static/js/"));
if (!globalThis.Plotly) import(new URL("{bundle}", beside));
"""
    folder = Path(plotly.__file__).parent / "package_data"
    return (folder / "plotly.min.js").read_text(encoding="utf-8")


_plotly = st.components.v2.component(
    "bup_plotly", js=f"{_library()}\nexport default function () {{}}\n"
)
# A figure is fetched by the browser; the message, which changes with every pick, stays small.
_view = component(
    "chart",
    html='<div style="position: relative"><div class="bup-chart" role="group"></div></div>',
    isolate_styles=False,
)


def library() -> None:
    """Load plotly in the browser: once per page, before any chart."""
    _plotly(key="plotly-library")


def chart(
    drawing: ChartFigure,
    key: str,
    label: str,
    on_pick: Callable[[], None],
    on_group: Callable[[], None] = lambda: None,
    marks: Sequence[Mark] = (),
    config: dict[str, Any] | None = None,
) -> None:
    """Draw a figure whose points carry node indices in ``customdata``; ``label`` says what it is.

    In ``on_pick``, ``st.session_state[key]["pick"]`` is the clicked node; in ``on_group``,
    ``["group"]`` holds those inside a box or lasso.
    """
    _view(
        key=key,
        data={
            "key": key,
            "label": label,
            "figure": static_files.url(drawing.json, "json"),
            "height": drawing.height,
            "marks": [asdict(mark) for mark in marks],
            "config": config or {},
        },
        on_pick_change=on_pick,
        on_group_change=on_group,
    )
