"""Lesson 10: strangers to drag about and to count; only a group of them is plane."""

import dataclasses

import numpy as np
import streamlit as st

from dashboard.components.plane import place
from dashboard.components.plane import plane as drawing
from dashboard.learn import lesson
from dashboard.learn.plane import CENTRES, KNOWN, LABELLED, MOST_STRANGERS, PER_CLASS, Plane
from dashboard.ui.metric_row import metric_row
from dashboard.ui.numbers import counted
from dashboard.ui.theme import score_colours

CANVAS = "plane_canvas"
START = Plane()
COUNTS = (1, 2, 5, 10, 20, START.strangers, MOST_STRANGERS)
BRIGHTEST = 1.5  # nats: the colours of the ground are the same for every setting
ABOVE = 0.13  # a class, its name
STANDS_OUT = 0.9  # of the known papers are doubted less


@lesson.lesson_page("sees")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    x, y = st.session_state.get("plane_group", (START.x, START.y))
    with left:
        st.markdown(here.text("Introduction", labelled=LABELLED))
        controls = st.container()  # above the question, which unlocks them
        answered = _question(here)
        with controls:
            strangers = START.strangers
            if answered:
                strangers = st.select_slider(
                    "How many strangers", COUNTS, strangers, key="strangers"
                )
            else:
                st.caption(here.text("Before the guess"))
        plane = Plane(strangers, x, y)
        if answered:
            st.markdown(text_of_place(here, plane))
        lesson.end(
            here,
            answered,
            ("Strangers on a real graph: lesson 6", "learn-6-unseen", {}),
            ("Doubt on the map", "explore", {"graph": "Almanac", "bup.propagation": "Doubt"}),
        )
    with right:
        _numbers(plane)
        _draw(plane)
        st.caption(here.text("Drawing", papers=PER_CLASS))


def nats(doubt: float) -> str:
    return f"{doubt:.2f} nats"


def _numbers(plane: Plane) -> None:
    numbers = {
        f"Doubt of {counted(plane.strangers, 'stranger')}": nats(plane.of_strangers),
        "Doubt of known papers": nats(float(plane.doubt()[:KNOWN].mean())),
        "Known papers doubted less": f"{plane.surer:.0%}",
    }
    note = "Than a stranger: the AUROC of doubt. At 50% doubt does not separate strangers at all."
    metric_row(numbers, {"Known papers doubted less": note})


def text_of_place(here: lesson.Lesson, plane: Plane) -> str:
    """Whether one stranger or a group stands out where they are now."""
    alone, many = (dataclasses.replace(plane, strangers=n) for n in (1, START.strangers))
    heading = (
        "One stands out"
        if alone.surer >= STANDS_OUT
        else "A group stands out"
        if many.surer >= STANDS_OUT
        else "Nothing stands out"
    )
    return here.text(
        heading,
        alone=nats(alone.of_strangers),
        strangers=counted(many.strangers, "stranger"),
        many=nats(many.of_strangers),
    )


def _draw(plane: Plane) -> None:
    shares = (plane.ground() / BRIGHTEST).clip(0, 1)
    palette = score_colours(np.linspace(0, 1, 33), lesson.theme())
    ground = [[palette[int(32 * share)] for share in row] for row in shares.tolist()]
    labelled = set(plane.labelled.tolist())
    kinds = [
        "stranger" if group == len(CENTRES) else f"class-{group}{' labelled' * (i in labelled)}"
        for i, group in enumerate(plane.groups.tolist())
    ]
    *classes, at_large = plane.rings()
    names = [(f"class {'ABC'[i]}", x, y - ABOVE) for i, (x, y) in enumerate(CENTRES.tolist())]
    names.append(("all papers", *at_large[at_large[:, 0].argmin()] - (0.06, 0)))
    handle = "stranger: drag me" if plane.strangers == 1 else "strangers: drag me"
    drawing(
        ground, plane.points, kinds, [*classes, at_large], names, (plane.x, plane.y), handle,
        (palette, f"0 to {BRIGHTEST} nats of doubt, or more"), CANVAS, _moved,
    )  # fmt: skip


def _moved() -> None:
    if (spot := place(CANVAS)) is not None:
        st.session_state.plane_group = spot


def _question(here: lesson.Lesson) -> bool:
    alone = dataclasses.replace(START, strangers=1)
    return lesson.predict(
        here,
        "expect_share",
        1,
        lambda: {
            "doubt": nats(START.of_strangers),
            "surer": START.surer,
            "doubt_alone": nats(alone.of_strangers),
            "surer_alone": alone.surer,
        },
        strangers=counted(START.strangers, "stranger"),
    )
