"""Lesson 4: three losses as landscapes, a point to move, the way down."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bup.explain import loss_surface
from bup.explain.loss_surface import LOSSES
from dashboard.figures.learn.landscape import landscape_figure
from dashboard.learn import cases, lesson
from dashboard.session import run_link

MARGINS = np.linspace(-3, 3, 61)
STDS = np.linspace(0.2, 3, 29)


def page() -> None:
    here = lesson.begin(4)
    _lesson(here)


@st.cache_data(max_entries=8, show_spinner=False)
def landscapes(classes: int) -> dict[str, np.ndarray]:
    return {rule: loss_surface.surface(MARGINS, STDS, classes, rule) for rule in LOSSES}


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves(wide=True)
    with left:
        st.markdown(
            "Training walks downhill on a loss. Click into a landscape to move the point, or use "
            "the sliders: to the **right** the true class is further ahead of the others (the "
            "margin), **up** the message is more doubtful. Dark is a low loss, bright a high one; "
            "the arrow shows where training would push."
        )
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
        st.caption("The lines join equal losses; beyond 4 the colour stays the same.")
    with left:
        answered = _question(classes)
        if answered:
            _bound(points, classes)
        name = run_link.graph_label(cases.graph_name())
        query = {"graph": name, "bup.loss": "exact", "bup.prediction": "exact"}
        lesson.end(here, answered, [("Train BUP with the exact likelihood", "reliability", query)])


def _moved(key: str) -> None:
    """The point goes where somebody has clicked."""
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


def signed(slope: float) -> str:
    return f"{slope:+.2f}".replace("-", "−")


def _question(classes: int) -> bool:
    def answer() -> str:
        ahead, behind = (loss_surface.point(m, 1.0, classes, "exact").by_std for m in (1.0, -1.0))
        return (
            f"With {classes} classes and a standard deviation of 1: at margin +1 more doubt costs "
            f"({signed(ahead)} per unit), at margin −1 it pays ({signed(behind)}). The likelihood "
            "asks for honesty: be sure where you are right, unsure where you are wrong. At margin "
            "0 doubt is free, because the chances are even whatever the width. Cross-entropy has "
            "no place for doubt: its landscape has the same colour all the way up."
        )

    return lesson.predict(
        "expect_doubt",
        "Put the margin at −1: the model is wrong. What does the exact likelihood do with more "
        "doubt?",
        ["It charges for it", "It rewards it", "It does not care"],
        1,
        answer,
        [
            "It does so where the model is right. Put the margin at −1 and look at the arrow "
            "of the exact likelihood: it points up, towards more doubt.",
            "",
            "Cross-entropy does not, its landscape has the same colour all the way up. Put the "
            "margin at −1 and compare the arrows: that of the exact likelihood points up.",
        ],
    )


def _bound(points: dict[str, loss_surface.LossPoint], classes: int) -> None:
    with st.container(border=True):
        st.markdown(":material/straighten: **Why the product is too small**")
        product, exact = points["erf"].probability, points["exact"].probability
        one, two = st.columns(2)
        one.metric("Product", f"{product:.1%}")
        two.metric("Exact probability", f"{exact:.1%}")
        st.markdown(
            "To be predicted, the true class must beat every other class. The product multiplies "
            "these chances as if they were independent. But all these contests share one number, "
            "that of the true class: if it is high enough to beat one rival, it probably beats the "
            "next. So the product is never above the exact probability"
            + (
                "; with two classes there is only one contest, and they agree."
                if classes == 2
                else ", and the products of all classes sum to less than 100%."
            )
        )
