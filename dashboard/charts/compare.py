"""Several runs in one table and on common axes."""

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd

from bup import metrics
from dashboard.charts.chart import Chart, NodeList
from dashboard.components.chart import ChartFigure
from dashboard.figures import compare as figures
from dashboard.session.view import View

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
    return Chart(
        "overlay",
        "Calibration",
        ChartFigure.of(figures.overlay_reliability(list(bins.items()), first.theme)),
        first.say(
            "The nearer a line is to the diagonal, the better its confidence agrees with its "
            "accuracy. Above the diagonal a method is under-confident, below it over-confident. "
            "Click a point to see its nodes."
        ),
        dict(enumerate(lists)),
        settings=tuple(views),
    )
