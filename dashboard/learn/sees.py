"""Lesson 10: known classes against the whole graph, and strangers to drag about."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st

from bup.propagation.doubt import FLOOR
from dashboard import state
from dashboard.components.plane import place
from dashboard.components.plane import plane as drawing
from dashboard.figures.learn.groups import misled_figure
from dashboard.learn import cases, lesson, misled
from dashboard.learn.glossary import meaning
from dashboard.learn.misled import HELD, MISLED
from dashboard.learn.plane import CENTRES, LABELLED, PER_CLASS, Plane
from dashboard.links import link
from dashboard.theme import score_colours

CANVAS = "plane_canvas"
START = Plane()
ONE = dataclasses.replace(START, strangers=1)
MISLED_PLANE = dataclasses.replace(START, homophily=0.2)
MOST = float(-np.log(FLOOR))


PLANE, TRAINED = "A plane to drag in", "Trained networks"


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
            "**graph at large**? Drag the strangers, change how many they are, and let links "
            "mislead."
        )
        one, two = st.columns(2)
        strangers = one.slider("How many strangers", 1, 120, START.strangers, key="strangers")
        homophily = two.slider(
            "Links inside groups", 0.0, 1.0, START.homophily, 0.05, key="plane_links",
            format="percent", help=meaning("homophily"),
        )  # fmt: skip
        guesses = st.tabs(["First guess", "Second guess"])
        with guesses[0]:
            first = _share_question()
    with right:
        if turn := st.session_state.pop("sees_turn", None):
            st.session_state.sees_what = turn
        what = st.segmented_control(
            "What to look at", [PLANE, TRAINED], default=PLANE, required=True, key="sees_what",
            label_visibility="collapsed",
        )  # fmt: skip
        if what == PLANE:
            x, y = st.session_state.get("plane_group", (START.x, START.y))
            _plane(Plane(strangers, x, y, homophily))
    with left:
        with guesses[1]:
            second = _links_question()
        name = state.graph_label(cases.graph_name())
        lesson.end(
            here,
            first and second,
            [
                ("Strangers on a real graph: lesson 6", "learn-6-unseen", {}),
                ("Doubt on the map", "explore", {"graph": name, "bup.propagation": "Doubt"}),
            ],
        )
    if second and "sees_turned" not in st.session_state:
        # The second answer speaks of the other figure: turn to it, once.
        st.session_state.update(sees_turned=True, sees_turn=TRAINED)
        st.rerun()
    with right:
        if what == TRAINED:
            _trained()


def _plane(seen: Plane) -> None:
    one, two, three = st.columns(3)
    doubt, unknown = seen.doubt(), seen.groups == len(CENTRES)
    one.metric("Doubt of strangers", f"{doubt[unknown].mean():.2f} nats")
    two.metric("Doubt of the others", f"{doubt[~unknown].mean():.2f} nats")
    three.metric("AUROC of doubt", f"{seen.found():.0%}", help=meaning("AUROC"))
    _draw(seen)
    st.caption(
        f"Strangers are {seen.strangers / len(unknown):.0%} of all papers; {LABELLED} of the "
        f"{PER_CLASS} papers of a class have a label. The ground is what the app's own rule says "
        "of the words at each place."
    )


def _trained() -> None:
    scores = misled.ranked()
    names = tuple(f"{share:.0%} of links stay inside a class" for share in (HELD, MISLED))
    lesson.chart(
        misled_figure(scores, (names[0], names[1]), lesson.theme()),
        "misled",
        "Two drawn graphs with the same words, 800 papers and four classes, of which one is never "
        "shown to the networks; one run of each method. Only the links differ.",
    )
    for column, share in zip(st.columns(2), (HELD, MISLED), strict=True):
        case = misled.trained(share, *misled.DOUBT)
        column.metric(f"Known papers right, {share:.0%} inside", f"{misled.right(case):.0%}")
        with column:
            link("ood", "This run in the dashboard", ":material/open_in_new:", cases.query(case))


def _draw(seen: Plane) -> None:
    shares = (seen.density() / MOST).clip(0, 1)
    theme = lesson.theme()
    palette = score_colours(np.linspace(0, 1, 33), theme)
    ground = [[palette[int(32 * share)] for share in row] for row in shares.tolist()]
    labelled = set(seen.labelled.tolist())
    groups = seen.groups
    kinds = [
        "stranger" if group == len(CENTRES) else f"class-{group}{' labelled' * (i in labelled)}"
        for i, group in enumerate(groups.tolist())
    ]
    points = seen.points()
    spots = [points[groups == group].mean(axis=0).tolist() for group in range(len(CENTRES))]
    labels = [(f"class {'ABC'[i]}", x, y) for i, (x, y) in enumerate(spots)]
    drawing(ground, points, kinds, labels, (seen.x, seen.y), palette, CANVAS, _moved)


def _moved() -> None:
    if (spot := place(CANVAS)) is not None:
        st.session_state.plane_group = spot


def _share_question() -> bool:
    def answer() -> str:
        return (
            f"With {START.strangers} strangers doubt finds them (AUROC {START.found():.0%}); a "
            f"single one reaches {float(ONE.doubt()[-1]):.2f} nats instead of "
            f"{START.doubt()[START.groups == len(CENTRES)].mean():.2f}. The graph at large is "
            "described by the mean and scatter of *all* papers: strangers pull it towards "
            "themselves, and only then does it explain their place better than a known class does."
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


def _links_question() -> bool:
    def answer() -> str:
        scores = misled.ranked()
        ours, energy, alone = scores[0], scores[2], scores[-1]
        return (
            f"Doubt falls from {ours.held:.0%} to {ours.misled:.0%}, energy from "
            f"{energy.held:.0%} to {energy.misled:.0%}; a coin has 50 %. Each averages a paper "
            "with neighbours of other classes until all look alike. The network that reads words "
            f"alone does not notice the change ({alone.misled:.0%} on both), and finds little. "
            f"On the plane, set the links to 20 %: {START.found():.0%} becomes "
            f"{MISLED_PLANE.found():.0%}."
        )

    return lesson.predict(
        "expect_misled",
        f"Now train for real, with {HELD:.0%} and with {MISLED:.0%} of the links inside a class, "
        "and hide one class. Where links mislead, what still finds it?",
        [
            "doubt: it looks at words, too",
            "energy: it needs no variances",
            "nothing that averages over links",
        ],
        2,
        answer,
        [
            "It does, but at words that were averaged over links twice: see the first line.",
            "Energy comes from the network's outputs, and those were averaged over links, too: "
            "see the third line.",
            "",
        ],
    )
