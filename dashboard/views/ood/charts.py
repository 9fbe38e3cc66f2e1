"""Charts of the page of unseen classes; a click on a bar or a cell lists its nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup.explanation import detection
from bup.metrics import METRICS
from bup.scores import SCORES
from dashboard.components.chart import Mark
from dashboard.figures import ood
from dashboard.figures.ood import BINS, NodeGroup
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.theme import IN, WRONG
from dashboard.views import charts, exports, tables
from dashboard.views.highlight import COLUMNS, Highlights, NodeList, nodes_by
from dashboard.views.ood.detection_task import UNSEEN, DetectionTask, ranked
from dashboard.views.picking import pick_node

MEASURES = ("auroc", "aupr", "fpr95")


def metrics_and_summary(view: View, task: DetectionTask) -> None:
    """How well the score does, in figures and in a sentence."""
    run = task.first
    measures = [METRICS[key] for key in MEASURES]
    tables.metric_row(
        {m.short: f"{task.measure(run, m.key):.1%}" for m in measures},
        {m.short: view.say(m.meaning) for m in measures},
    )
    flagged = task.flags[run.label][task.search.positive]
    st.markdown(
        f"With {task.false_alarms:.0%} false alarms, **{escaped(run.title)}** finds "
        f"**{flagged.sum():,} of {len(flagged):,}** {view.graph.noun.many} {task.words}."
    )
    rule = view.rule
    if task.target == UNSEEN and rule and run.score in SCORES and SCORES[run.score].of_var:
        st.caption(f"**{rule.title}.** {view.say(rule.unseen)}")


def distributions(view: View, task: DetectionTask, highlights: Highlights) -> None:
    """The score among right, wrong and unseen nodes; with other methods, the ranks of all."""
    search, run = task.search, task.first
    table = view.table.iloc[search.nodes]
    right = table.correct.fillna(False).to_numpy(bool)
    parts = ood.node_groups(table.ood.to_numpy(bool), right)
    if task.target != UNSEEN:
        parts = [NodeGroup("right", right, IN, ""), NodeGroup("wrong", ~right, WRONG, "/")]
    column = columns.score_columns(view.table)[run.score]
    if len(task.detectors) > 1:
        runs = [(d.label, search.ranks(d.doubt)) for d in task.detectors]
        axis = view.say("share of the test nodes that are surer")
    else:
        runs = [(run.label, view.table[run.score].to_numpy(float)[search.nodes])]
        axis = column.axis or column.label
    values = runs[0][1]
    edges = np.histogram_bin_edges(np.concatenate([v for _, v in runs]), BINS)
    bar = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    lists = {}
    for p, part in enumerate(parts):
        for b, nodes in nodes_by(bar[part.member], search.nodes[part.member]).items():
            title = f"({part.name}) from {edges[b]:.3g} to {edges[b + 1]:.3g}"
            lists[p * BINS + b] = _node_list(task, title, nodes)
    highlights.chart(
        ood.histograms(parts, runs, view.theme, axis),
        "histograms",
        view.say(column.meaning)
        + " The less the distributions overlap, the better the score tells them apart."
        + view.say(" Click a bar to see its nodes."),
        lists,
        [
            Mark(float(values[i]), 0.0, "" if p == 0 else str(p + 1))
            for i in np.flatnonzero(np.isin(search.nodes, view.marked))
            for p, part in enumerate(parts)
            if part.member[i]
        ],
        (task.target, run.score, *(d.label for d in task.detectors)),
    )


def curves(view: View, task: DetectionTask) -> None:
    """ROC and precision-recall curves of every method."""
    search, doubt, curves_of_runs = task.search, task.first.doubt, task.curves()
    roc, precision_recall = st.tabs(["Found against false alarms (ROC)", "Precision and recall"])
    with roc:
        nodes = search.node_at(doubt, curves_of_runs[0].roc.threshold)
        charts.clickable(
            ood.roc_figure(curves_of_runs, view.theme, task.false_alarms, nodes),
            "roc",
            view.say(
                "Flag nodes from the most doubted down: the share found against the share of the "
                "others flagged by mistake. The diagonal is guessing, the dashed line the false "
                "alarms chosen above. Click a corner to pick the node that is flagged there."
            ),
            lambda node: pick_node(view, node),
        )
    with precision_recall:
        nodes = search.node_at(doubt, curves_of_runs[0].precision_recall.threshold)
        base_rate = float(search.positive.mean())
        charts.clickable(
            ood.precision_recall_figure(curves_of_runs, base_rate, view.theme, nodes),
            "precision_recall",
            view.say(
                "Which share of the flagged nodes is flagged rightly, as the score finds more and "
                "more. The dotted line is guessing. Click a corner to pick the node that is "
                "flagged there."
            ),
            lambda node: pick_node(view, node),
        )
    rows = [
        {"method": d.label, "score": d.title}
        | {METRICS[key].label: task.measure(d, key) for key in MEASURES}
        | {"found": int(task.flags[d.label][search.positive].sum())}
        for d in task.detectors
    ]
    exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-{task.target}", "ood")


def found_by(view: View, task: DetectionTask, highlights: Highlights) -> None:
    """What one method finds and another misses, at equal false alarms."""
    st.header("Who finds what the others miss?")
    groups = detection.group_by_detectors(task.search, task.flags)
    lists = {}
    for number, (labels, nodes) in enumerate(groups.items()):
        methods = escaped(" and ".join(labels)) if labels else "none of the methods"
        lists[number] = _node_list(task, f"{task.words}, found by {methods}", nodes)
    highlights.chart(
        ood.found_by_figure(groups, view.theme),
        "catches",
        view.say(
            f"Every method may flag {task.false_alarms:.0%} of the others by mistake. A bar counts "
            "the nodes that exactly these methods find. Click it to see them."
        ),
        lists,
        settings=(task.target, task.false_alarms, *((d.label, d.score) for d in task.detectors)),
    )


def confusion_matrix(view: View, task: DetectionTask, highlights: Highlights) -> None:
    """True class against predicted class, for the nodes to find."""
    st.header("What are they taken for?")
    graph, names = view.graph, view.graph.class_names
    nodes = task.search.nodes[task.search.positive]
    true, predicted = graph.labels[nodes], view.result.predicted[nodes]
    counts = detection.confusion(true, predicted, graph.num_classes)
    lists = {}
    for number, members in nodes_by(true * len(names) + predicted, nodes).items():
        i, j = divmod(number, len(names))
        title = f"of the class {escaped(names[i])}, taken for {escaped(names[j])}"
        lists[number] = _node_list(task, title, members, surest_first=True)
    highlights.chart(
        ood.matrix_figure(
            counts,
            np.flatnonzero(counts.sum(axis=1)).tolist(),
            list(view.result.split.classes),
            names,
            view.theme,
        ),
        "matrix",
        view.say(
            "A row is a true class, a column the model's answer. Click a cell to see its nodes, "
            "those of which the model is surest first."
        ),
        lists,
        settings=task.target,
    )


def _node_list(
    task: DetectionTask, title: str, nodes: np.ndarray, surest_first: bool = False
) -> NodeList:
    """Nodes in the order of the score, with the score as a column."""
    order = ranked(task.first.doubt, nodes, surest_first)
    return NodeList(title, order, tuple(dict.fromkeys((*COLUMNS, task.first.score))))
