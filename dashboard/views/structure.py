"""Does uncertainty follow the links?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.graph import paths
from dashboard.cache.maps import cached_figure
from dashboard.cache.shared_cache import cached_call
from dashboard.components.chart import Mark
from dashboard.figures.structure import (
    MOST_POINTS,
    against_figure,
    binned_medians,
    factor_figure,
    points_caption,
)
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.link_choice import link_choice
from dashboard.views import charts, exports, picking
from dashboard.views.node_card import node_card

AXES = {
    "degree": ("Degree (linked nodes + 1)", True),
    "mean_distance": ("Mean distance to training (links)", False),
}


def page(view: View) -> None:
    st.title(view.say("Is a well-linked node a certain node?"))
    node_card(view)
    scores = columns.score_columns(view.table)
    labels = {key: column.label for key, column in scores.items()}
    score = link_choice(st.selectbox, "Score", labels, "structure_score")
    rows = []
    for column, axis in zip(st.columns(2), AXES, strict=True):
        with column:
            if correlation := _against(view, axis, score, labels[score]):
                numbers = {"low": correlation.low, "high": correlation.high}
                numbers[view.graph.noun.many] = correlation.count
                label = view.say(AXES[axis][0])
                rows.append({"against": label, "Spearman": correlation.value} | numbers)
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-structure", "structure")
    _factor(view)
    exports.downloads(view)


def _against(view: View, axis: str, score: str, score_label: str) -> metrics.Correlation | None:
    """The score of every node against its degree or its distance; returns the correlation."""
    label, log = AXES[axis]
    noun, train = view.graph.noun, view.result.split.train
    x, y = view.table[axis].to_numpy(float) + log, view.table[score].to_numpy()  # logs have no 0
    nodes = np.flatnonzero(np.isfinite(x))
    st.header(f"Against {'degree' if axis == 'degree' else 'distance to training'}")
    correlation = cached_call(_correlation, x[nodes], y[nodes])
    text = (
        f"Spearman {correlation.value:+.2f} (95% interval {correlation.low:+.2f} to "
        f"{correlation.high:+.2f}) over {noun.count(correlation.count)}."
        if correlation
        else "One of the two does not vary, so there is no correlation."
    )
    if unreachable := len(x) - len(nodes):
        text += f" Not drawn: {noun.count(unreachable)} without a path to any training {noun.one}."
    sources = len(paths.sample_sources(train, view.graph.num_nodes))
    if axis == "mean_distance" and sources < len(train):
        text += f" Distances are to {sources:,} of the {len(train):,} training {noun.many}."
    charts.clickable(
        cached_figure(
            against_figure,
            x[nodes],
            y[nodes],
            nodes,
            _ids(view, nodes),
            view.theme,
            view.say(label),
            score_label,
            log,
            cached_call(binned_medians, x[nodes], y[nodes]),
        ),
        f"against_{axis}",
        f"{text} The line joins the medians of equally filled bins, with 95% intervals. "
        + points_caption(len(nodes), view.theme),
        lambda node: picking.pick_node(view, node),
        [Mark(float(x[i]), float(y[i])) for i in view.marked if np.isfinite(x[i])],
    )
    return correlation


def _ids(view: View, nodes: np.ndarray) -> list[str]:
    """Ids of the nodes, where the chart draws them one by one."""
    return [view.graph.node_id(i) for i in nodes.tolist()] if len(nodes) <= MOST_POINTS else []


def _correlation(x: np.ndarray, y: np.ndarray) -> metrics.Correlation | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return metrics.spearman(x, y, resamples=200)


def _factor(view: View) -> None:
    """How much of the uncertainty comes from the propagation rule, for rules that only multiply."""
    rule = view.loaded_run.propagation if view.explains.variance else None
    if rule is None or rule.factor is None:
        return
    st.header("How much of it is the rule alone?")
    factor, std = rule.factor, view.table.message_std.to_numpy()
    degree, nodes = view.graph.looped_degree, np.arange(view.graph.num_nodes)
    same = cached_call(_correlation, factor, std)
    charts.clickable(
        cached_figure(factor_figure, degree, factor, std, nodes, _ids(view, nodes), view.theme),
        "factor",
        view.say(
            "Above: what this run's propagation rule multiplies a node's variance by. Below: the "
            "standard deviation of the messages. The more alike the two look, the less the "
            "variance that was learned adds to the rule."
        )
        + (f" Spearman of the two: {same.value:+.3f}. " if same is not None else " ")
        + points_caption(len(nodes), view.theme),
        lambda node: picking.pick_node(view, node),
        [
            Mark(float(degree[i]), float(numbers[i]), axes)
            for axes, numbers in (("", factor), ("2", std))
            for i in view.marked
        ],
    )
