"""Lesson 10: known classes against the whole graph, and strangers to drag about."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from bup.propagation.doubt import FLOOR
from dashboard import state
from dashboard.components.plane import place
from dashboard.components.plane import plane as drawing
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning
from dashboard.learn.plane import CENTRES, LABELLED, PER_CLASS, Plane
from dashboard.theme import score_colours

CANVAS = "plane_canvas"
START = Plane()
ONE = dataclasses.replace(START, strangers=1)
MISLED = dataclasses.replace(START, homophily=0.2)
MOST = float(-np.log(FLOOR))


def page() -> None:
    here = lesson.begin(10)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    with left:
        st.markdown(
            "Papers lie where their words put them. Three classes are known by a few labels (bold "
            "rims). Doubt asks of every place: does a **known class** explain it better than the "
            "**graph at large**? Dark: yes. Bright: no. Drag the strangers, change how many they "
            "are, and let links mislead."
        )
        one, two = st.columns(2)
        strangers = one.slider("How many strangers", 1, 120, START.strangers, key="strangers")
        homophily = two.slider(
            "Links inside groups", 0.0, 1.0, START.homophily, 0.05, key="plane_links",
            format="percent", help=meaning("homophily"),
        )  # fmt: skip
        answered = _question()
    x, y = st.session_state.get("plane_group", (START.x, START.y))
    seen = Plane(strangers, x, y, homophily)
    with right:
        one, two, three = st.columns(3)
        doubt, unknown = seen.doubt(), seen.groups == len(CENTRES)
        one.metric("Doubt of strangers", f"{doubt[unknown].mean():.2f} nats")
        two.metric("Doubt of the others", f"{doubt[~unknown].mean():.2f} nats")
        three.metric("AUROC of doubt", f"{seen.found():.0%}", help=meaning("AUROC"))
        _draw(seen)
        st.caption(
            f"White: strangers, {strangers / (strangers + PER_CLASS * len(CENTRES)):.0%} of all "
            f"papers; colours: {len(CENTRES)} classes of {PER_CLASS}, {LABELLED} of each with a "
            "label. The ground is what the app's own rule says of the words at each place."
        )
    with left:
        name = state.graph_label(cases.graph_name())
        lesson.end(
            here,
            answered,
            [
                ("Strangers on a real graph: lesson 6", "learn-6-unseen", {}),
                ("Doubt on the map", "explore", {"graph": name, "bup.propagation": "Doubt"}),
            ],
        )


def _draw(seen: Plane) -> None:
    shares = (seen.density() / MOST).clip(0, 1)
    theme = lesson.theme()
    palette = score_colours(np.linspace(0, 1, 33), theme)
    ground = [[palette[int(32 * share)] for share in row] for row in shares.tolist()]
    labelled = set(seen.labelled.tolist())
    kinds = [
        "stranger" if group == len(CENTRES) else f"class-{group}{' labelled' * (i in labelled)}"
        for i, group in enumerate(seen.groups.tolist())
    ]
    drawing(ground, seen.points(), kinds, (seen.x, seen.y), CANVAS, _moved)


def _moved() -> None:
    if (spot := place(CANVAS)) is not None:
        st.session_state.plane_group = spot


def _question() -> bool:
    def answer() -> str:
        return (
            f"With {START.strangers} strangers doubt finds them (AUROC {START.found():.0%}); a "
            f"single one reaches {float(ONE.doubt()[-1]):.2f} nats instead of "
            f"{START.doubt()[START.groups == len(CENTRES)].mean():.2f}. The graph at large is "
            "described by the mean and scatter of *all* papers: strangers pull it towards "
            "themselves, and only then does it explain their place better than a known class "
            f"does. Set the links to 20 %: everything is averaged together and the AUROC falls to "
            f"{MISLED.found():.0%}. On real graphs with links like that nothing here finds "
            "strangers."
        )

    return lesson.predict(
        "expect_share",
        "The strangers stay where they are, far from every known class. Take away all but one. "
        "Its doubt will be",
        ["as high as before: it is just as far away", "lower", "higher: it is alone now"],
        1,
        answer,
        [
            "Distance alone would say so, and many methods measure distance. Pull the first slider "
            "to 1 and watch the ground under the stranger grow darker: nothing moved, but the "
            "graph at large no longer reaches there.",
            "",
            "Being alone feels suspicious, but doubt is a comparison. Pull the first slider to 1: "
            "the bright region shrinks, because one paper hardly changes what the graph at large "
            "looks like.",
        ],
    )
