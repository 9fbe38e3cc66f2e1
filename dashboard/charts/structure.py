"""Does uncertainty follow the links? Scores against a node's place in the graph."""

import numpy as np

from bup import metrics
from bup.graph import paths
from dashboard.cache.maps import cached_figure
from dashboard.cache.shared_cache import cached_call
from dashboard.charts.chart import Chart, make_chart
from dashboard.components.chart import Mark
from dashboard.figures import structure as figures
from dashboard.session.view import View
from dashboard.ui import columns

AXES = {
    "degree": "Degree (linked nodes + 1)",
    "mean_distance": "Mean distance to training (links)",
}


def against(view: View, axis: str, score: str) -> tuple[Chart, metrics.Correlation | None]:
    """The score of every node against its degree or its distance, and their correlation."""
    noun, train = view.graph.noun, view.result.split.train
    x, y = figures.place_and_score(view.table, axis, score)
    nodes = np.flatnonzero(np.isfinite(x))
    correlation = cached_call(_correlation, x[nodes], y[nodes])
    text = "One of the two does not vary, so there is no correlation."
    if correlation is not None:
        text = (
            f"Spearman {correlation.value:+.2f} (95% interval {correlation.low:+.2f} to "
            f"{correlation.high:+.2f}) over {noun.count(correlation.count)}."
        )
    if unreachable := len(x) - len(nodes):
        text += f" Not drawn: {noun.count(unreachable)} without a path to any training {noun.one}."
    sources = len(paths.sample_sources(train, view.graph.num_nodes))
    if axis == "mean_distance" and sources < len(train):
        text += f" Distances are to {sources:,} of the {len(train):,} training {noun.many}."
    figure = cached_figure(
        figures.against_figure,
        x[nodes],
        y[nodes],
        nodes,
        _names(view, nodes),
        view.theme,
        view.say(AXES[axis]),
        columns.score_columns(view.table)[score].label,
        axis == "degree",
        cached_call(figures.binned_medians, x[nodes], y[nodes]),
    )
    marks = [Mark(float(x[i]), float(y[i])) for i in view.marked if np.isfinite(x[i])]
    points, key = figures.points_caption(len(nodes), view.theme), f"against_{axis}"
    return make_chart(view, key, figure, marks=marks, found=text, points=points), correlation


def factor(view: View) -> Chart | None:
    """How much of the uncertainty comes from the propagation rule, for rules that only multiply."""
    rule = view.loaded_run.propagation if view.explains.variance else None
    if rule is None or rule.factor is None:
        return None
    std, degree = view.table.message_std.to_numpy(), view.graph.looped_degree
    nodes = np.arange(view.graph.num_nodes)
    same = cached_call(_correlation, rule.factor, std)
    figure = cached_figure(
        figures.factor_figure, degree, rule.factor, std, nodes, _names(view, nodes), view.theme
    )
    marks = [
        Mark(float(degree[i]), float(numbers[i]), axes)
        for axes, numbers in (("", rule.factor), ("2", std))
        for i in view.marked
    ]
    found = "" if same is None else f"Spearman of the two: {same.value:+.3f}. "
    points = figures.points_caption(len(nodes), view.theme)
    return make_chart(view, "factor", figure, marks=marks, found=found, points=points)


def _names(view: View, nodes: np.ndarray) -> list[str]:
    """Names of the nodes, where the chart draws them one by one."""
    few = len(nodes) <= figures.MOST_POINTS
    return [view.graph.name_of(i) for i in nodes.tolist()] if few else []


def _correlation(x: np.ndarray, y: np.ndarray) -> metrics.Correlation | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return metrics.spearman(x, y, resamples=200)
