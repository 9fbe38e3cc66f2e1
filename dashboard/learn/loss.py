"""Lesson 4: three losses as landscapes, a point to move, the way down."""

from functools import partial

import numpy as np
import streamlit as st

from bup.explanation import loss_surface
from bup.explanation.loss_surface import LOSSES
from dashboard.figures.learn.landscape import landscape_figure
from dashboard.learn import cases, lesson
from dashboard.session import run_link
from dashboard.ui.numbers import percent, signed

MARGINS = np.linspace(-3, 3, 61)
STDS = np.linspace(0.2, 3, 29)


@st.cache_data(max_entries=8, show_spinner=False)
def landscapes(classes: int) -> dict[str, np.ndarray]:
    return {rule: loss_surface.surface(MARGINS, STDS, classes, rule) for rule in LOSSES}


@lesson.lesson_page("loss")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns(wide=True)
    with left:
        st.markdown(here.text("Introduction"))
        one, two = st.columns(2)
        margin = one.slider("Margin of the true class", -3.0, 3.0, 1.0, 0.05, key="margin")
        std = two.slider("Standard deviation", 0.2, 3.0, 1.0, 0.05, key="std")
    with right:
        classes = st.slider("Number of classes", 2, 7, 3, key="classes", width=300)
        points = {rule: loss_surface.point(margin, std, classes, rule) for rule in LOSSES}
        surfaces = landscapes(classes)
        for column, (rule, words) in zip(st.columns(3), LOSSES.items(), strict=True):
            with column:
                st.metric(words, f"{points[rule].loss:.2f}")
                figure = landscape_figure(
                    MARGINS, STDS, surfaces[rule], points[rule], (margin, std), lesson.theme()
                )
                key = f"landscape_{rule}"
                lesson.chart(figure, key, on_click=partial(_moved, key))
                st.markdown(slopes(points[rule]))
        st.caption(here.text("Landscapes"))
    with left:
        answered = _question(here, classes)
        if answered:
            _product(here, points, classes)
        name = run_link.graph_label(cases.graph_name())
        query = {"graph": name, "bup.loss": "exact", "bup.prediction": "exact"}
        lesson.end(here, answered, ("Train BUP with the exact likelihood", "reliability", query))


def _moved(key: str) -> None:
    """Put the point where the visitor clicked."""
    clicked = st.session_state[key]["selection"]["points"]
    if clicked:
        st.session_state.update(margin=float(clicked[0]["x"]), std=float(clicked[0]["y"]))


def slopes(point: loss_surface.LossPoint) -> str:
    """What a little more doubt and a little more margin would do, in words."""
    if abs(point.by_std) < 5e-3:
        doubt = "More doubt changes **nothing**"
    else:
        verb = "costs" if point.by_std > 0 else "pays"
        doubt = f"More doubt **{verb}** ({signed(point.by_std)})"
    return f"{doubt}, more margin pays ({signed(point.by_margin)})."


def _question(here: lesson.Lesson, classes: int) -> bool:
    def answer() -> dict[str, object]:
        ahead, behind = (loss_surface.point(m, 1.0, classes, "exact").by_std for m in (1.0, -1.0))
        return {"classes": classes, "ahead": signed(ahead), "behind": signed(behind)}

    return lesson.predict(here, "expect_doubt", 1, answer)


def _product(here: lesson.Lesson, points: dict[str, loss_surface.LossPoint], classes: int) -> None:
    with st.container(border=True):
        st.markdown(":material/straighten: **Why the product is too small**")
        one, two = st.columns(2)
        one.metric("Product", percent(points["erf"].probability))
        two.metric("Exact probability", percent(points["exact"].probability))
        st.markdown(here.text("Product of two classes" if classes == 2 else "Product"))
