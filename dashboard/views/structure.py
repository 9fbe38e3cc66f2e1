"""Does uncertainty follow the links?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.graph import paths
from dashboard.cache.maps import drawn
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
    score = st.selectbox(
        "Score",
        list(scores),
        key="structure_score",
        format_func=lambda key: scores[key].label,
        bind="query-params",
    )
    values, noun = view.table[score].to_numpy(), view.graph.noun
    rows = []
    for column, (axis, (label, log)) in zip(st.columns(2), AXES.items(), strict=True):
        label, x = view.say(label), view.table[axis].to_numpy(float) + log  # logs have no zero
        reachable = np.isfinite(x)
        with column:
            st.header(f"Against {'degree' if axis == 'degree' else 'distance to training'}")
            nodes = np.flatnonzero(reachable)
            binned = cached_call(binned_medians, x[nodes], values[nodes])
            figure = drawn(
                against_figure,
                x[nodes],
                values[nodes],
                nodes,
                _ids(view, nodes),
                view.theme,
                label,
                scores[score].label,
                log,
                binned,
            )
            found = cached_call(_correlation, x[nodes], values[nodes])
            words = (
                f"Spearman {found.value:+.2f} (95% interval {found.low:+.2f} to "
                f"{found.high:+.2f}) over {noun.count(found.count)}."
                if found
                else "One of the two does not vary, so there is no correlation."
            )
            lost = int((~reachable).sum())
            if lost:
                words += (
                    f" Not drawn: {noun.count(lost)} without a path to any training {noun.one}."
                )
            train = view.result.split.train
            sources = len(paths.sample_sources(train, view.graph.num_nodes))
            if axis == "mean_distance" and sources < len(train):
                words += (
                    f" Distances are to {sources:,} of the {len(train):,} training {noun.many}."
                )
            charts.clickable(
                figure,
                f"against_{axis}",
                words
                + " The line joins the medians of equally filled bins, with 95% intervals. "
                + points_caption(len(nodes), view.theme),
                lambda node: picking.pick_node(view, node),
                [Mark(float(x[i]), float(values[i])) for i in view.marked if reachable[i]],
            )
        if found:
            rows.append(
                {
                    "against": label,
                    "Spearman": found.value,
                    "low": found.low,
                    "high": found.high,
                    noun.many: found.count,
                }
            )
    exports.numbers(pd.DataFrame(rows), f"{view.run.key}-structure", "structure")
    _factor(view)
    exports.downloads(view)


def _ids(view: View, nodes: np.ndarray) -> list[str]:
    """Of those that are drawn one by one."""
    return [view.graph.node_id(i) for i in nodes.tolist()] if len(nodes) <= MOST_POINTS else []


def _correlation(x: np.ndarray, y: np.ndarray) -> metrics.Correlation | None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return metrics.spearman(x, y, resamples=200)


def _factor(view: View) -> None:
    rule = view.loaded_run.propagation if view.explains.variance else None
    if rule is None or rule.factor is None:
        return
    st.header("How much of it is the rule alone?")
    factor, std = rule.factor, view.table.message_std.to_numpy()
    nodes = np.arange(view.graph.num_nodes)
    same = cached_call(_correlation, factor, std)
    charts.clickable(
        drawn(
            factor_figure,
            view.graph.looped_degree,
            factor,
            std,
            nodes,
            _ids(view, nodes),
            view.theme,
        ),
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
            Mark(float(view.graph.looped_degree[i]), float(numbers[i]), axes)
            for axes, numbers in (("", factor), ("2", std))
            for i in view.marked
        ],
    )
