"""Lesson 10: strangers to drag about and to count; only a group of them is seen."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from dashboard.components.plane import place
from dashboard.components.plane import plane as drawing
from dashboard.learn import cases, lesson
from dashboard.learn.plane import CENTRES, KNOWN, LABELLED, MOST_STRANGERS, PER_CLASS, Plane
from dashboard.session import run_link
from dashboard.ui.theme import score_colours

CANVAS = "plane_canvas"
START = Plane()
COUNTS = (1, 2, 5, 10, 20, START.strangers, MOST_STRANGERS)
BRIGHTEST = 1.5  # nats: the colours of the ground are the same for every setting
ABOVE = 0.13  # a class, its name
STANDS_OUT = 0.9  # of the known papers are doubted less


def page() -> None:
    here = lesson.begin(10)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    x, y = st.session_state.get("plane_group", (START.x, START.y))
    with left:
        st.markdown(
            "Every dot is a paper, and its place stands for its words. Three classes are known by "
            f"{LABELLED} labelled papers each (bold rims). Doubt asks of every place: which "
            "explains it better, a **known class** (a solid ring) or **all papers together** (the "
            "dashed ring)? Dark: a class does. Bright: only all papers together do."
        )
        controls = st.container()  # above the question, which brings them
        answered = _question()
        with controls:
            strangers = START.strangers
            if answered:
                strangers = st.select_slider(
                    "How many strangers", COUNTS, strangers, key="strangers"
                )
            else:
                st.caption("You can change how many they are when you have made your guess.")
        seen = Plane(strangers, x, y)
        if answered:
            st.markdown(f"**Where they are now.** {at_this_place(seen)}")
        name = run_link.graph_label(cases.graph_name())
        lesson.end(
            here,
            answered,
            [
                ("Strangers on a real graph: lesson 6", "learn-6-unseen", {}),
                ("Doubt on the map", "explore", {"graph": name, "bup.propagation": "Doubt"}),
            ],
        )
    with right:
        _numbers(seen)
        _draw(seen)
        st.caption(
            f"{PER_CLASS} papers of each known class; they never move. Drag the white circle, or "
            "move it with the arrow keys. Links are left out here."
        )


def amount(count: int) -> str:
    return "1 stranger" if count == 1 else f"{count} strangers"


def nats(doubt: float) -> str:
    return f"{doubt:.2f} nats"


def _numbers(seen: Plane) -> None:
    one, two, three = st.columns(3)
    one.metric(f"Doubt of {amount(seen.strangers)}", nats(seen.of_strangers))
    two.metric("Doubt of known papers", nats(float(seen.doubt()[:KNOWN].mean())))
    three.metric(
        "Known papers doubted less",
        f"{seen.surer:.0%}",
        help="Than a stranger is: the AUROC of doubt. At 50% strangers are not told apart.",
    )


def at_this_place(seen: Plane) -> str:
    """What one stranger and many of them are worth where they are now."""
    alone, many = (dataclasses.replace(seen, strangers=n) for n in (1, START.strangers))
    found = f"1 stranger has {nats(alone.of_strangers)} of doubt, "
    found += f"{amount(many.strangers)} have {nats(many.of_strangers)}"
    if alone.surer >= STANDS_OUT:
        return (
            f"{found}: even one stands out, because the dashed ring reaches out this way without "
            "any stranger."
        )
    if many.surer >= STANDS_OUT:
        return f"{found}: only a group stands out."
    return f"{found}: not even a group stands out. A known class is too near."


def _draw(seen: Plane) -> None:
    shares = (seen.ground() / BRIGHTEST).clip(0, 1)
    palette = score_colours(np.linspace(0, 1, 33), lesson.theme())
    ground = [[palette[int(32 * share)] for share in row] for row in shares.tolist()]
    labelled = set(seen.labelled.tolist())
    kinds = [
        "stranger" if group == len(CENTRES) else f"class-{group}{' labelled' * (i in labelled)}"
        for i, group in enumerate(seen.groups.tolist())
    ]
    *classes, at_large = seen.rings()
    names = [(f"class {'ABC'[i]}", x, y - ABOVE) for i, (x, y) in enumerate(CENTRES.tolist())]
    names.append(("all papers", *at_large[at_large[:, 0].argmin()] - (0.06, 0)))
    handle = "stranger: drag me" if seen.strangers == 1 else "strangers: drag me"
    drawing(
        ground, seen.points, kinds, [*classes, at_large], names, (seen.x, seen.y), handle,
        (palette, f"0 to {BRIGHTEST} nats of doubt, or more"), CANVAS, _moved,
    )  # fmt: skip


def _moved() -> None:
    if (spot := place(CANVAS)) is not None:
        st.session_state.plane_group = spot


def _question() -> bool:
    alone = dataclasses.replace(START, strangers=1)

    def answer() -> str:
        return (
            f"Where the circle is at first, {amount(START.strangers)} have "
            f"{nats(START.of_strangers)} of doubt on average: {START.surer:.0%} of the known "
            f"papers are doubted less. One alone has {nats(alone.of_strangers)}, and "
            f"{alone.surer:.0%} are doubted less. Pull the slider to 1 and watch the dashed ring: "
            "a group pulls it towards itself, one paper does not."
        )

    return lesson.predict(
        "expect_share",
        f"{amount(START.strangers).capitalize()} lie far from every known class. Now take away all "
        "but one, and leave that one where it is. How much doubt is there about it?",
        ["as much as before", "less than before", "more than before"],
        1,
        answer,
        [
            "It is just as far away, and many methods measure distance. Doubt does not: it "
            "compares.",
            "",
            "Being alone feels suspicious. But doubt asks only what explains a place better.",
        ],
    )
