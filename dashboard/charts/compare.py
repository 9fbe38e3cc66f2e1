"""Several runs in one table and on common axes."""

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd

from bup import metrics
from bup.experiments import epistemic_score
from bup.explanation import detection
from dashboard.charts.chart import Chart, NodeList, make_chart
from dashboard.figures import compare as figures
from dashboard.figures.ood import DetectionCurve, roc_figure
from dashboard.session.view import View
from dashboard.ui import columns

TABLE_CAPTION = (
    "In brackets: 95% intervals from resampling the test nodes. A star marks the best; where "
    "intervals overlap, the difference may be chance."
)


def metrics_table(views: Mapping[str, View]) -> pd.DataFrame:
    """Every metric of every run with its interval."""
    return figures.metrics_table(
        {label: view.loaded_run.report() for label, view in views.items()},
        {label: metrics.bootstrap_intervals(*view.judged()[:2]) for label, view in views.items()},
    )


def calibration(views: Mapping[str, View]) -> Chart:
    """Confidence against accuracy, one line per run."""
    first = next(iter(views.values()))
    bins, lists = {}, []
    for label, view in views.items():
        probs, targets, nodes = view.judged()
        bins[label] = reliability = metrics.reliability_bins(probs, targets, 10)
        for b, (low, high) in enumerate(pairwise(reliability.edges)):
            title = f"of which {label} is {low:.0%} to {high:.0%} sure"
            lists.append(NodeList(title, nodes[reliability.member == b]))
    figure = figures.overlay_reliability(list(bins.items()), first.theme)
    return make_chart(first, "overlay", figure, dict(enumerate(lists)), settings=tuple(views))


def roc(views: Mapping[str, View]) -> Chart | None:
    """How well each run detects unseen classes by its own score; None if no run has any."""
    first, curves = next(iter(views.values())), []
    for label, view in views.items():
        search, score = detection.unseen(view.result, view.graph), epistemic_score(view.spec.method)
        if search.possible:
            doubt = view.result.uncertainties()[score][search.nodes]
            name = f"{label}, {columns.score_columns(view.table)[score].label.lower()}"
            curves.append(DetectionCurve.of(name, doubt, search.positive))
    return make_chart(first, "roc_of_runs", roc_figure(curves, first.theme)) if curves else None
