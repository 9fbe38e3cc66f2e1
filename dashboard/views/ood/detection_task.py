"""What is sought on the page of unseen classes, and the runs whose doubt looks for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from bup import metrics
from bup.experiments import epistemic_score
from bup.explain import detection
from bup.explain.detection import DetectionNodes
from dashboard.cache import run_cache
from dashboard.figures.ood import DetectionCurve
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.views.comparison_runs import (
    TYPED_HELP,
    comparable_specs,
    label_of,
    on_same_nodes,
    specs_of_labels,
    train_missing,
    view_of,
)

MOST_RIVALS = 2
UNSEEN, MISTAKES = "unseen", "mistakes"
SOUGHT = {UNSEEN: "Classes never shown", MISTAKES: "Mistakes"}


@dataclass(frozen=True, eq=False)
class Detector:
    """A run, and the score by which it ranks nodes."""

    label: str
    view: View
    score: str
    doubt: np.ndarray  # [n] higher is less certain

    @property
    def title(self) -> str:
        return columns.score_columns(self.view.table)[self.score].label


@dataclass(frozen=True, eq=False)
class DetectionTask:
    """Everything that the charts and lists of the page are about."""

    what: str
    search: DetectionNodes
    detectors: tuple[Detector, ...]  # this run first
    false_alarms: float

    @property
    def own(self) -> Detector:
        return self.detectors[0]

    @property
    def words(self) -> str:
        return "of a class never shown" if self.what == UNSEEN else "answered wrongly"

    @property
    def others(self) -> str:
        return "of known classes" if self.what == UNSEEN else "answered rightly"

    @property
    def flags(self) -> dict[str, np.ndarray]:
        """Whom each detector flags [m], at the same false alarms."""
        return {c.label: self.search.flagged(c.doubt, self.false_alarms) for c in self.detectors}

    def curves(self) -> list[DetectionCurve]:
        search = self.search
        curves = []
        for c in self.detectors:
            doubt = c.doubt[search.nodes]
            curves.append(
                DetectionCurve(
                    c.label,
                    metrics.roc(doubt, search.positive),
                    metrics.auroc(doubt, search.positive),
                    metrics.precision_recall(doubt, search.positive),
                )
            )
        return curves


def chosen(view: View) -> DetectionTask:
    """The controls: what is sought, by which score, beside which runs, at which false alarms."""
    one, two, three, four = st.columns([3, 2, 3, 2])
    what = one.segmented_control(
        "Look for",
        list(SOUGHT),
        default=UNSEEN,
        required=True,
        key="sought",
        format_func=SOUGHT.__getitem__,
        bind="query-params",
        help=view.say("What the score should find among the test nodes."),
    )
    scores = columns.score_columns(view.table)
    score = two.selectbox(
        "Score",
        list(scores),
        index=list(scores).index(epistemic_score(view.spec.method)),
        key="ood_score",
        format_func=lambda key: scores[key].label,
        bind="query-params",
        help="The number by which everything below is ranked.",
    )
    specs = comparable_specs(view)
    labels = three.multiselect(
        "Compare with",
        list(specs),
        max_selections=MOST_RIVALS,
        key="ood_rivals",
        bind="query-params",
        placeholder="up to two other methods",
        accept_new_options=True,
        help=view.say(f"Other methods, trained and tested on the same nodes. {TYPED_HELP}"),
    )
    percent = four.slider(
        "False alarms",
        1,
        50,
        5,
        key="alarms",
        format="%d%%",
        bind="query-params",
        help="How many of the others may be flagged by mistake; all methods get the same.",
    )
    wanted = specs_of_labels(view, labels, specs)[:MOST_RIVALS]
    missing = [spec for spec in wanted if run_cache.find(spec, view.graph) is None]
    if missing:
        train_missing(missing, view)
    rivals = [v for spec in wanted if (v := view_of(spec, view)) is not None]
    view, *rivals = on_same_nodes([view, *rivals])
    look = detection.mistakes if what == MISTAKES else detection.unseen
    return DetectionTask(
        str(what),
        look(view.result, view.graph),
        tuple(_detector(v, view, str(score)) for v in (view, *rivals)),
        percent / 100,
    )


def _detector(found: View, view: View, score: str) -> Detector:
    """A run by the chosen score, or by its own where it has no such score."""
    offered = found.result.uncertainties()
    used = score if score in offered else epistemic_score(found.spec.method)
    return Detector(label_of(found.spec, view), found, used, offered[used])
