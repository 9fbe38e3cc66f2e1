"""The page of unseen classes in charts; whatever is clicked shows its nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.explain import detection
from bup.explain.detection import DetectionNodes
from bup.scores import SCORES
from dashboard.components.chart import Mark
from dashboard.figures import ood
from dashboard.figures.ood import BINS, NodeGroup
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.theme import IN, WRONG
from dashboard.views import charts, exports, highlight, picking
from dashboard.views.highlight import NodeList
from dashboard.views.ood.detection_task import UNSEEN, DetectionTask

PAGE = "ood"
Groups = dict[str, NodeList]
"""What can be clicked on the page, by name."""


def numbers(view: View, task: DetectionTask) -> None:
    """How well the score does, in figures and in a sentence."""
    search, own = task.search, task.own
    doubt = own.doubt[search.nodes]
    values = {key: getattr(metrics, f)(doubt, search.positive) for key, f in _METRICS.items()}
    for column, (key, value) in zip(st.columns(len(values)), values.items(), strict=True):
        metric = metrics.METRICS[key]
        column.metric(metric.short, f"{value:.1%}", help=view.say(metric.meaning))
    found = task.flags[own.label][search.positive]
    st.markdown(
        f"With {task.false_alarms:.0%} false alarms, **{escaped(own.title)}** finds "
        f"**{found.sum():,} of {len(found):,}** {view.graph.noun.many} {task.words}."
    )
    rule = view.rule
    if task.what == UNSEEN and rule and own.score in SCORES and SCORES[own.score].of_var:
        st.caption(f"**{rule.title}.** {view.say(rule.unseen)}")


_METRICS = {"auroc": "auroc", "aupr": "aupr", "fpr95": "fpr_at_95"}


def distributions(view: View, task: DetectionTask, groups: Groups) -> None:
    """The score among right, wrong and unseen nodes; with other methods, the ranks of all."""
    search, many = task.search, len(task.detectors) > 1
    table = view.table.iloc[search.nodes]
    right = table.correct.fillna(False).to_numpy(bool)
    parts = ood.node_groups(table.ood.to_numpy(bool), right)
    if task.what != UNSEEN:
        parts = [NodeGroup("right", right, IN, ""), NodeGroup("wrong", ~right, WRONG, "/")]
    column = columns.score_columns(view.table)[task.own.score]
    if many:
        runs = [(c.label, search.ranks(c.doubt)) for c in task.detectors]
        axis = view.say("share of the test nodes that are surer")
    else:
        runs = [(task.own.label, view.table[task.own.score].to_numpy(float)[search.nodes])]
        axis = column.axis or column.label
    values = runs[0][1]
    edges = np.histogram_bin_edges(np.concatenate([v for _, v in runs]), BINS)
    bar = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    name = f"bar {task.what} {task.own.score} {[c.label for c in task.detectors]}"
    for p, part in enumerate(parts):
        for b in np.unique(bar[part.member]).tolist():
            chosen = search.nodes[part.member & (bar == b)]
            title = f"({part.name}) from {edges[b]:.3g} to {edges[b + 1]:.3g}"
            groups[f"{name} {p * BINS + b}"] = _group(task, title, chosen)
    at = np.flatnonzero(np.isin(search.nodes, view.marked))
    marks = [
        Mark(float(values[i]), 0.0, "" if p == 0 else str(p + 1))
        for i in at
        for p, part in enumerate(parts)
        if part.member[i]
    ]
    charts.clickable(
        ood.histograms(parts, runs, view.theme, axis),
        "histograms",
        view.say(column.meaning)
        + " The less the distributions overlap, the better the score tells them apart."
        + view.say(" Click a bar to see its nodes."),
        lambda k: _light(view, groups, f"{name} {k}"),
        marks,
    )


def curves(view: View, task: DetectionTask) -> None:
    search, found = task.search, task.curves()
    roc, precise = st.tabs(["Found against false alarms (ROC)", "Precision and recall"])
    with roc:
        charts.clickable(
            ood.roc_figure(
                found,
                view.theme,
                task.false_alarms,
                search.node_at(task.own.doubt, found[0].roc.threshold),
            ),
            "roc",
            view.say(
                "Flag nodes from the most doubted down: the share found against the share of the "
                "others flagged by mistake. The diagonal is guessing, the dashed line the false "
                "alarms chosen above. Click a corner to pick the node that is flagged there."
            ),
            lambda node: picking.pick_node(view, node),
        )
    with precise:
        charts.clickable(
            ood.precision_recall_figure(
                found,
                float(search.positive.mean()),
                view.theme,
                search.node_at(task.own.doubt, found[0].precision_recall.threshold),
            ),
            "precision_recall",
            view.say(
                "Of the flagged nodes, how many are what is sought, as more and more of it is "
                "found. The dotted line is guessing. Click a corner to pick the node that is "
                "flagged there."
            ),
            lambda node: picking.pick_node(view, node),
        )
    rows = [
        {"method": c.label, "score": c.title}
        | {
            metrics.METRICS[key].label: getattr(metrics, f)(c.doubt[search.nodes], search.positive)
            for key, f in _METRICS.items()
        }
        | {"found": int(task.flags[c.label][search.positive].sum())}
        for c in task.detectors
    ]
    exports.numbers(pd.DataFrame(rows), f"{view.run.key}-{task.what}", "ood")


def who_catches_what(view: View, task: DetectionTask, groups: Groups) -> None:
    """What one method finds and another misses, at equal false alarms."""
    st.header("Who finds what the others miss?")
    found = detection.group_by_detectors(task.search, task.flags)
    name = f"catch {task.what} {task.false_alarms} {[(c.label, c.score) for c in task.detectors]}"
    for i, (who, nodes) in enumerate(found.items()):
        by = escaped(" and ".join(who)) if who else "none of the methods"
        title = f"{task.words}, found by {by}"
        groups[f"{name} {i}"] = _group(task, title, nodes)
    charts.clickable(
        ood.catches_figure(found, view.theme),
        "catches",
        view.say(
            f"Every method may flag {task.false_alarms:.0%} of the others by mistake. A bar "
            "counts the nodes that exactly these methods find. Click it to see them."
        ),
        lambda k: _light(view, groups, f"{name} {k}"),
    )


def matrix(view: View, task: DetectionTask, groups: Groups) -> None:
    """True class against answer, for what is sought."""
    st.header("What are they taken for?")
    graph, names = view.graph, view.graph.class_names
    nodes = task.search.nodes[task.search.positive]
    true, assigned = graph.labels[nodes], view.result.predicted[nodes]
    counts = detection.confusion(true, assigned, graph.num_classes)
    for i, j in np.argwhere(counts).tolist():
        title = f"of the class {escaped(names[i])}, taken for {escaped(names[j])}"
        chosen = nodes[(true == i) & (assigned == j)]
        key = f"cell {task.what} {i * len(names) + j}"
        groups[key] = _group(task, title, chosen, surest_first=True)
    charts.clickable(
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
        lambda k: _light(view, groups, f"cell {task.what} {k}"),
    )


def _light(view: View, groups: Groups, name: str) -> None:
    if name in groups:
        highlight.highlight(view, PAGE, name, groups[name])


def _group(
    task: DetectionTask, title: str, nodes: np.ndarray, surest_first: bool = False
) -> NodeList:
    """Nodes in the order of the score, which is listed with them."""
    order = ranked(task.own.doubt, nodes)[:: -1 if surest_first else 1]
    return NodeList(title, order, tuple(dict.fromkeys((*highlight.COLUMNS, task.own.score))))


def ranked(doubt: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Nodes from the most to the least doubted; those that tie in the order of the graph."""
    nodes = np.sort(nodes)
    return nodes[np.argsort(-doubt[nodes], kind="stable")]


def missed(search: DetectionNodes, flagged: np.ndarray) -> np.ndarray:
    """What is sought and not flagged."""
    return search.nodes[search.positive & ~flagged]
