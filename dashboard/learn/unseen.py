"""Lesson 6: known and unseen papers, a threshold to move, the ROC curve that it draws."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from dashboard.cache import graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.learn.thresholds import drawn_roc_figure, threshold_figure
from dashboard.figures.ood import share_figure
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning
from dashboard.ui.markdown import escaped
from dashboard.ui.metric_row import metric_row


class DoubtKind(NamedTuple):
    """A kind of doubt by which papers are flagged."""

    title: str
    score: str = "message_std"
    axis: str = "doubt in the message: its standard deviation"
    ours: bool = False  # by our rule, not the published one


KINDS = {
    "answer": DoubtKind("Answer", "confidence", "doubt in the answer: 1 − confidence"),
    "message": DoubtKind("Message, published rule"),
    "doubt": DoubtKind("Message, our rule", ours=True),
}
SHARES = {1.0: "all", 0.5: "half", 0.1: "a tenth", 0.05: "one in twenty"}
# Made by ``bup reproduce strangers --csv FILE``, trained ahead.
STRANGERS = Path(__file__).parent.parent / "shipped" / "strangers.csv"
LINES = {
    "bup (published)": "published rule",
    "doubt (uncalibrated)": "our rule",
    "energy": "energy of a GCN",
}


@lesson.lesson_page("unseen")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    with left:
        here, name = lesson.choose_graph(here, "unseen_graph")
        last = graphs.graph(name).num_classes - 1
        st.markdown(here.text("Introduction"))
        controls = st.container()  # above the question, whose answer decides what they offer
        answered = _question(here, cases.load_case(name, "bup", (last,)))
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
        settings: dict[str, Any] = {}
        if kind.ours:
            name, settings = _choose_share(here, name), {"propagation": "doubt"}
        case = cases.load_case(name, "bup", (last,), **settings)
        doubt, unseen = _doubts(case, kind.score)
        threshold = _threshold(doubt, kind.score)
    theme = lesson.theme(here.noun)
    with right:
        _counts(case, kind, threshold)
        lesson.chart(threshold_figure(doubt, unseen, threshold, kind.axis, theme), "threshold")
        curve, strangers = st.columns(2) if kind.ours else (st.container(), None)
    with curve:
        lesson.chart(
            drawn_roc_figure(doubt, unseen, threshold, theme).update_layout(
                showlegend=strangers is None  # half as wide, it has no room for one
            ),
            "drawn_roc",
            here.text(
                "Curve" if strangers is None else "Small curve",
                hidden=escaped(case.graph.class_names[-1]),
                unseen=unseen.sum(),
                count=len(unseen),
            ),
        )
    if strangers is not None:
        with strangers:
            _stranger_chart(here, case, 100 * metrics.auroc(doubt, unseen))
    with left:
        scores, message = "All scores of this run", "The doubt in messages, on the map"
        lesson.end(
            here,
            answered,
            (scores, "ood", cases.query(case, ood_score="Message uncertainty")),
            (message, "explore", cases.query(case, colour="Message uncertainty")),
        )


def _doubts(case: LoadedRun, score: str) -> tuple[np.ndarray, np.ndarray]:
    """A doubt of every test paper, and whether its class is the unseen one."""
    nodes = case.result.split.test
    unseen = case.result.split.is_ood(case.graph.labels[nodes])
    return case.result.uncertainties()[score][nodes], unseen


def _choose_share(here: lesson.Lesson, name: str) -> str:
    """The graph with as much of the unseen class as the student wants to leave in it."""
    st.caption(here.text("Our rule"))
    share = lesson.one_of("How much of the unseen class is in the graph?", SHARES, "share")
    return name if share == 1 else f"fewer:{name}:{share}"


def _stranger_chart(here: lesson.Lesson, case: LoadedRun, auroc: float) -> None:
    """How many strangers it takes, over ten reruns, and where this run stands among them."""
    rows = strangers_of(case.graph.name)
    if rows.empty:
        return
    share = 100 * float(case.result.split.is_ood(case.graph.labels).mean())
    figure = share_figure(rows, lesson.theme(), (share, auroc))
    lesson.chart(figure, "strangers", here.text("Strangers"))


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


def _counts(case: LoadedRun, kind: DoubtKind, threshold: float) -> None:
    """Show how many are flagged, and the AUROC of this doubt beside that of the answer."""
    doubt, unseen = _doubts(case, kind.score)
    flagged = doubt >= threshold
    numbers = {
        "Unseen caught": flagged[unseen].mean(),
        "Known flagged": flagged[~unseen].mean(),
        "AUROC of this doubt": metrics.auroc(doubt, unseen),
    }
    if kind.score != "confidence":
        numbers["AUROC of the answer"] = metrics.auroc(*_doubts(case, "confidence"))
    notes = {title: meaning("AUROC") for title in numbers if "AUROC" in title}
    metric_row({title: f"{value:.0%}" for title, value in numbers.items()}, notes)


def _question(here: lesson.Lesson, case: LoadedRun) -> bool:
    answer, message = (
        metrics.auroc(*_doubts(case, score)) for score in ("confidence", "message_std")
    )
    return lesson.predict(
        here,
        "expect_auroc",
        lesson.nearest((0.95, 0.75, 0.5), message),
        lambda: {"message": message},
        usual=case.graph.name == cases.graph_name(),
        confidence=answer,
    )
