"""What the page of unseen classes looks for, and the runs whose scores look for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from bup import metrics
from bup.experiments import epistemic_score
from bup.explanation import detection
from bup.explanation.detection import DetectionNodes
from dashboard.figures.ood import DetectionCurve
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.views.comparison_runs import (
    TYPED_HELP,
    comparable_specs,
    compared_views,
    label_of,
    specs_of_labels,
)

MOST_RIVALS = 2
UNSEEN, MISTAKES = "unseen", "mistakes"
TARGETS = {UNSEEN: "Classes never shown", MISTAKES: "Mistakes"}


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
    """What to find among the test nodes, by which scores, at which false alarms."""

    target: str  # UNSEEN or MISTAKES
    search: DetectionNodes
    detectors: tuple[Detector, ...]  # this run first
    false_alarms: float

    @property
    def first(self) -> Detector:
        """The page's own run."""
        return self.detectors[0]

    @property
    def words(self) -> str:
        return "of a class never shown" if self.target == UNSEEN else "answered wrongly"

    @property
    def others(self) -> str:
        return "of known classes" if self.target == UNSEEN else "answered rightly"

    @cached_property
    def flags(self) -> dict[str, np.ndarray]:
        """Which nodes each detector flags [m], all at the same share of false alarms."""
        return {d.label: self.search.flagged(d.doubt, self.false_alarms) for d in self.detectors}

    @property
    def missed(self) -> np.ndarray:
        """The nodes to find that the page's own run does not flag."""
        return self.search.nodes[self.search.positive & ~self.flags[self.first.label]]

    def measure(self, detector: Detector, metric: str) -> float:
        """AUROC, AUPR or FPR95 of a detector, by the metric's key."""
        doubt = detector.doubt[self.search.nodes]
        function = {"auroc": metrics.auroc, "aupr": metrics.aupr, "fpr95": metrics.fpr_at_95}
        return function[metric](doubt, self.search.positive)

    def curves(self) -> list[DetectionCurve]:
        sought = self.search.positive
        doubts = {d.label: d.doubt[self.search.nodes] for d in self.detectors}
        return [
            DetectionCurve(
                label,
                metrics.roc(doubt, sought),
                metrics.auroc(doubt, sought),
                metrics.precision_recall(doubt, sought),
            )
            for label, doubt in doubts.items()
        ]


def choose_task(view: View) -> DetectionTask:
    """The controls: what to look for, by which score, beside which runs, at which false alarms."""
    one, two, three, four = st.columns([3, 2, 3, 2])
    target = link_choice(
        one.segmented_control,
        "Look for",
        TARGETS,
        "sought",
        default=UNSEEN,
        required=True,
        help=view.say("What the score should find among the test nodes."),
    )
    scores = {key: column.label for key, column in columns.score_columns(view.table).items()}
    score = link_choice(
        two.selectbox,
        "Score",
        scores,
        "ood_score",
        index=list(scores).index(epistemic_score(view.spec.method)),
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
        help="Which share of the others a method may flag by mistake, the same for all methods.",
    )
    chosen = specs_of_labels(view, labels, specs)[:MOST_RIVALS]
    views = compared_views(view, chosen)
    find = detection.mistakes if target == MISTAKES else detection.unseen
    return DetectionTask(
        str(target),
        find(views[0].result, view.graph),
        tuple(_detector(v, views[0], str(score)) for v in views),
        percent / 100,
    )


def _detector(run: View, view: View, score: str) -> Detector:
    """A run with the chosen score, or with its method's own where it lacks that score."""
    scores = run.result.uncertainties()
    used = score if score in scores else epistemic_score(run.spec.method)
    return Detector(label_of(run.spec, view), run, used, scores[used])


def ranked(doubt: np.ndarray, nodes: np.ndarray, surest_first: bool = False) -> np.ndarray:
    """Nodes from the most to the least doubted, or back; ties in the order of the graph."""
    nodes = np.sort(nodes)
    return nodes[np.argsort(-doubt[nodes], kind="stable")][:: -1 if surest_first else 1]
