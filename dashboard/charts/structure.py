"""Does uncertainty follow the links? Scores against a node's place in the graph."""

import numpy as np

from bup import metrics
from bup.graph import paths
from dashboard.cache.maps import cached_figure
from dashboard.cache.shared_cache import cached_call
from dashboard.charts.chart import Chart
from dashboard.components.chart import Mark
from dashboard.figures import structure as figures
from dashboard.session.view import View
from dashboard.ui import columns

AXES = {
    "degree": ("Degree (linked nodes + 1)", "Against degree"),
    "mean_distance": ("Mean distance to training (links)", "Against distance to training"),
}


def against(view: View, axis: str, score: str) -> tuple[Chart, metrics.Correlation | None]:
    """The score of every node against its degree or its distance, and their correlation."""
    label, title = AXES[axis]
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
        _ids(view, nodes),
        view.theme,
        view.say(label),
        columns.score_columns(view.table)[score].label,
        axis == "degree",
        cached_call(figures.binned_medians, x[nodes], y[nodes]),
    )
    caption = (
        f"{text} The line joins the medians of equally filled bins, with 95% intervals. "
        f"{figures.points_caption(len(nodes), view.theme)}"
    )
    marks = [Mark(float(x[i]), float(y[i])) for i in view.marked if np.isfinite(x[i])]
    return Chart(f"against_{axis}", title, figure, caption, marks=marks), correlation


def factor(view: View) -> Chart | None:
    """How much of the uncertainty comes from the propagation rule, for rules that only multiply."""
    rule = view.loaded_run.propagation if view.explains.variance else None
    if rule is None or rule.factor is None:
        return None
    std, degree = view.table.message_std.to_numpy(), view.graph.looped_degree
    nodes = np.arange(view.graph.num_nodes)
    same = cached_call(_correlation, rule.factor, std)
    return Chart(
        "factor",
        "How much of it is the rule alone?",
        cached_figure(
            figures.factor_figure, degree, rule.factor, std, nodes, _ids(view, nodes), view.theme
        ),
        view.say(
            "Above: what this run's propagation rule multiplies a node's variance by. Below: the "
            "standard deviation of the messages. The more alike the two look, the less the "
            "variance that was learned adds to the rule."
        )
        + (f" Spearman of the two: {same.value:+.3f}. " if same is not None else " ")
        + figures.points_caption(len(nodes), view.theme),
        marks=[
            Mark(float(degree[i]), float(numbers[i]), axes)
            for axes, numbers in (("", rule.factor), ("2", std))
            for i in view.marked
        ],
    )


def _ids(view: View, nodes: np.ndarray) -> list[str]:
    """Ids of the nodes, where the chart draws them one by one."""
    few = len(nodes) <= figures.MOST_POINTS
    return [view.graph.node_id(i) for i in nodes.tolist()] if few else []


def _correlation(x: np.ndarray, y: np.ndarray) -> metrics.Correlation | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return metrics.spearman(x, y, resamples=200)
