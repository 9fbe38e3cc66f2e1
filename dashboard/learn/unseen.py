"""Lesson 6: known and unseen papers, a threshold to move, the ROC curve that it draws."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from dashboard.cache import graphs
from dashboard.figures.learn.thresholds import drawn_roc_figure, threshold_figure
from dashboard.figures.ood import share_figure
from dashboard.learn import cases, lesson
from dashboard.learn.cases import Case
from dashboard.learn.glossary import meaning
from dashboard.ui.markdown import escaped


@dataclass(frozen=True)
class Kind:
    """A kind of doubt that a paper can be flagged by."""

    title: str
    score: str
    axis: str
    settings: dict[str, Any]


KINDS = {
    "answer": Kind("Answer", "confidence", "doubt in the answer: 1 − confidence", {}),
    "message": Kind(
        "Message, published rule",
        "message_std",
        "doubt in the message: its standard deviation",
        {},
    ),
    "doubt": Kind(
        "Message, our rule",
        "message_std",
        "doubt in the message: its standard deviation",
        {"propagation": "doubt"},
    ),
}
SHARES = {1.0: "all", 0.5: "half", 0.1: "a tenth", 0.05: "one in twenty"}
# Made by ``bup reproduce strangers --csv FILE``, trained ahead.
STRANGERS = Path(__file__).parent.parent / "shipped" / "strangers.csv"
LINES = {
    "bup (published)": "published rule",
    "doubt (uncalibrated)": "our rule",
    "energy": "energy of a GCN",
}


def page() -> None:
    here = lesson.begin(6)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    name = cases.graph_name()
    last = graphs.graph(name).num_classes - 1
    left, right = lesson.halves()
    with left:
        st.markdown(
            "BUP offers two measures of doubt: how unsure the **answer** is, and how unsure the "
            "**message** is. We hid a class again. Flag every paper whose doubt is above your "
            "threshold: how many unseen papers do you catch, and how many known ones by mistake?"
        )
        controls = st.container()  # above the question, which decides what they offer
        answered = _question(cases.case(name, "bup", (last,)))
    with controls:
        chosen = st.pills(
            "Which doubt?",
            list(KINDS) if answered else ["answer"],
            default="answer",
            required=True,
            key="doubt",
            format_func=lambda key: KINDS[key].title,
            help="The others appear when you have made your guess.",
        )
        kind = KINDS[chosen or "answer"]
        if kind.settings:
            name = _strangers(name)
        case = cases.case(name, "bup", (last,), **kind.settings)
        doubt, unseen = _doubts(case, kind.score)
        threshold = _threshold(doubt, kind.score)
    theme = lesson.theme()
    with right:
        _counts(case, kind, threshold)
        lesson.chart(threshold_figure(doubt, unseen, threshold, kind.axis, theme), "threshold")
        curve, strangers = st.columns(2) if kind.settings else (st.container(), None)
    with curve:
        lesson.chart(
            drawn_roc_figure(doubt, unseen, threshold, theme).update_layout(
                showlegend=strangers is None  # half as wide, it has no room for one
            ),
            "drawn_roc",
            ("Drag the threshold and the curve draws itself. " if strangers is None else "")
            + f"Unseen: {escaped(case.graph.class_names[-1])}, {unseen.sum():,} of "
            f"{len(unseen):,} nodes.",
        )
    if strangers is not None:
        with strangers:
            _how_many(case, 100 * metrics.auroc(doubt, unseen))
    with left:
        scores, message = "All scores of this run", "The doubt in messages, on the map"
        lesson.end(
            here,
            answered,
            [
                (scores, "ood", cases.query(case, ood_score="Message uncertainty")),
                (message, "explore", cases.query(case, colour="Message uncertainty")),
            ],
        )


def _doubts(case: Case, score: str) -> tuple[np.ndarray, np.ndarray]:
    """A doubt of every test paper, and whether its class is the unseen one."""
    nodes = case.result.split.test
    unseen = case.result.split.is_ood(case.graph.labels[nodes])
    return case.result.uncertainties()[score][nodes], unseen


def _strangers(name: str) -> str:
    """The graph with as much of the unseen class as the student wants to leave in it."""
    st.caption(
        "Our rule asks what explains the words around a paper: some class that it knows, or only "
        "the graph at large? For that it looks at *all* papers, also those without a label. So it "
        "finds unseen **groups**; try how many strangers it needs."
    )
    share = st.segmented_control(
        "How much of the unseen class is in the graph?",
        list(SHARES),
        default=1.0,
        required=True,
        key="share",
        format_func=SHARES.__getitem__,
    )
    return name if share in (None, 1.0) else f"fewer:{name}:{share}"


def _how_many(case: Case, auroc: float) -> None:
    """How many strangers it takes, over ten reruns, and where this run stands among them."""
    rows = strangers_of(case.graph.name)
    if rows.empty:
        return
    share = 100 * float(case.result.split.is_ood(case.graph.labels).mean())
    lesson.chart(
        share_figure(rows, lesson.theme(), (share, auroc)),
        "strangers",
        "Ten reruns each, and your run. A small group of strangers is mistaken for the edge of a "
        "known class.",
    )


def strangers_of(name: str) -> pd.DataFrame:
    """The measured reruns on a graph with some of its last class; none for other graphs."""
    rows = pd.read_csv(STRANGERS)
    base = name.removeprefix("fewer:").partition(":")[0]
    rows = rows[rows.graph.str.startswith(f"fewer:{base}:")]
    return rows.assign(method=rows.method.map(LINES))


def _threshold(doubt: np.ndarray, score: str) -> float:
    step = 0.01 if np.ptp(doubt) > 0.3 else 0.002
    low, high = (
        float(np.floor(doubt.min() / step) * step),
        float(np.ceil(doubt.max() / step) * step),
    )
    first = low + round(0.7 * (high - low) / step) * step
    return st.slider("Flag from this doubt on", low, high, first, step, "%.3f", key=f"flag_{score}")


def _counts(case: Case, kind: Kind, threshold: float) -> None:
    """What is flagged; the answer's AUROC stays beside that of another doubt of the same run."""
    doubt, unseen = _doubts(case, kind.score)
    flagged = doubt >= threshold
    shown = {
        "Unseen caught": flagged[unseen].mean(),
        "Known flagged": flagged[~unseen].mean(),
        "AUROC of this doubt": metrics.auroc(doubt, unseen),
    }
    if kind.score != "confidence":
        shown["AUROC of the answer"] = metrics.auroc(*_doubts(case, "confidence"))
    for column, (name, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(name, f"{value:.0%}", help=meaning("AUROC") if "AUROC" in name else None)


def _question(case: Case) -> bool:
    found = {k: metrics.auroc(*_doubts(case, k)) for k in ("confidence", "message_std")}
    nearest = int(np.abs(np.array([0.95, 0.75, 0.5]) - found["message_std"]).argmin())

    def answer() -> str:
        return (
            f"The message's variance reaches {found['message_std']:.0%}, the answer's doubt "
            f"{found['confidence']:.0%}. Under the published rule a message's variance is what the "
            "node's own words give, times a factor that only counts links; nothing in it asks "
            "whether the class is known. The published claim about unseen classes rests on the "
            "probabilities. Our rule asks another question: choose it above, compare it with the "
            "answer, and see how many strangers it needs."
        )

    return lesson.predict(
        "expect_auroc",
        f"The doubt in the answer has an AUROC of {found['confidence']:.0%}; chance is 50%. What "
        "will the variance of the message reach?",
        ["about 95%", "about 75%", "about 50%, chance"],
        nearest,
        answer,
        [
            "Noticing the unknown is what a variance seems to be for. Choose *Message, published "
            "rule* above: both histograms lie on top of each other.",
            "As good as the answer would be fair. Choose *Message, published rule* above and drag "
            "the threshold: the curve stays near the diagonal.",
            "A learned number should be worth something. Choose *Message, published rule* above "
            "and look at where the curve runs.",
        ],
    )
