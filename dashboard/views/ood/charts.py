"""The page of unseen classes in charts; whatever is clicked shows its nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup import metrics
from bup.explain import detection
from bup.explain.detection import Search
from bup.scores import SCORES
from dashboard.components.chart import Mark
from dashboard.figures import ood
from dashboard.figures.ood import BINS, NodeGroup
from dashboard.session.state import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.theme import IN, WRONG
from dashboard.views import charts, exports, highlight, picking
from dashboard.views.highlight import Group
from dashboard.views.ood.contenders import UNSEEN, Hunt

PAGE = "ood"
Groups = dict[str, Group]
"""What can be clicked on the page, by name."""


def numbers(view: View, hunt: Hunt) -> None:
    """How well the score does, in figures and in a sentence."""
    search, own = hunt.search, hunt.own
    doubt = own.doubt[search.nodes]
    values = {key: getattr(metrics, f)(doubt, search.sought) for key, f in _METRICS.items()}
    for column, (key, value) in zip(st.columns(len(values)), values.items(), strict=True):
        metric = metrics.METRICS[key]
        column.metric(metric.short, f"{value:.1%}", help=view.say(metric.meaning))
    found = hunt.flags[own.label][search.sought]
    st.markdown(
        f"With {hunt.false_alarms:.0%} false alarms, **{escaped(own.title)}** finds "
        f"**{found.sum():,} of {len(found):,}** {view.graph.noun.many} {hunt.words}."
    )
    rule = view.rule
    if hunt.what == UNSEEN and rule and own.score in SCORES and SCORES[own.score].of_var:
        st.caption(f"**{rule.title}.** {view.say(rule.unseen)}")


_METRICS = {"auroc": "auroc", "aupr": "aupr", "fpr95": "fpr_at_95"}


def distributions(view: View, hunt: Hunt, groups: Groups) -> None:
    """The score among right, wrong and unseen nodes; with other methods, the ranks of all."""
    search, many = hunt.search, len(hunt.contenders) > 1
    table = view.table.iloc[search.nodes]
    right = table.correct.fillna(False).to_numpy(bool)
    parts = ood.node_groups(table.ood.to_numpy(bool), right)
    if hunt.what != UNSEEN:
        parts = [NodeGroup("right", right, IN, ""), NodeGroup("wrong", ~right, WRONG, "/")]
    column = columns.score_columns(view.table)[hunt.own.score]
    if many:
        runs = [(c.label, search.ranks(c.doubt)) for c in hunt.contenders]
        axis = view.say("share of the test nodes that are surer")
    else:
        runs = [(hunt.own.label, view.table[hunt.own.score].to_numpy(float)[search.nodes])]
        axis = column.axis or column.label
    values = runs[0][1]
    edges = np.histogram_bin_edges(np.concatenate([v for _, v in runs]), BINS)
    bar = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, BINS - 1)
    name = f"bar {hunt.what} {hunt.own.score} {[c.label for c in hunt.contenders]}"
    for p, part in enumerate(parts):
        for b in np.unique(bar[part.member]).tolist():
            chosen = search.nodes[part.member & (bar == b)]
            title = f"({part.name}) from {edges[b]:.3g} to {edges[b + 1]:.3g}"
            groups[f"{name} {p * BINS + b}"] = _group(hunt, title, chosen)
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


def curves(view: View, hunt: Hunt) -> None:
    search, found = hunt.search, hunt.curves()
    roc, precise = st.tabs(["Found against false alarms (ROC)", "Precision and recall"])
    with roc:
        charts.clickable(
            ood.roc_figure(
                found,
                view.theme,
                hunt.false_alarms,
                search.node_at(hunt.own.doubt, found[0].roc.threshold),
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
                float(search.sought.mean()),
                view.theme,
                search.node_at(hunt.own.doubt, found[0].precision_recall.threshold),
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
            metrics.METRICS[key].label: getattr(metrics, f)(c.doubt[search.nodes], search.sought)
            for key, f in _METRICS.items()
        }
        | {"found": int(hunt.flags[c.label][search.sought].sum())}
        for c in hunt.contenders
    ]
    exports.numbers(pd.DataFrame(rows), f"{view.run.key}-{hunt.what}", "ood")


def who_catches_what(view: View, hunt: Hunt, groups: Groups) -> None:
    """What one method finds and another misses, at equal false alarms."""
    st.header("Who finds what the others miss?")
    found = detection.catches(hunt.search, hunt.flags)
    name = f"catch {hunt.what} {hunt.false_alarms} {[(c.label, c.score) for c in hunt.contenders]}"
    for i, (who, nodes) in enumerate(found.items()):
        by = escaped(" and ".join(who)) if who else "none of the methods"
        title = f"{hunt.words}, found by {by}"
        groups[f"{name} {i}"] = _group(hunt, title, nodes)
    charts.clickable(
        ood.catches_figure(found, view.theme),
        "catches",
        view.say(
            f"Every method may flag {hunt.false_alarms:.0%} of the others by mistake. A bar counts "
            "the nodes that exactly these methods find. Click it to see them."
        ),
        lambda k: _light(view, groups, f"{name} {k}"),
    )


def matrix(view: View, hunt: Hunt, groups: Groups) -> None:
    """True class against answer, for what is sought."""
    st.header("What are they taken for?")
    graph, names = view.graph, view.graph.class_names
    nodes = hunt.search.nodes[hunt.search.sought]
    true, assigned = graph.labels[nodes], view.result.predicted[nodes]
    counts = detection.confusion(true, assigned, graph.num_classes)
    for i, j in np.argwhere(counts).tolist():
        title = f"of the class {escaped(names[i])}, taken for {escaped(names[j])}"
        chosen = nodes[(true == i) & (assigned == j)]
        key = f"cell {hunt.what} {i * len(names) + j}"
        groups[key] = _group(hunt, title, chosen, surest_first=True)
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
        lambda k: _light(view, groups, f"cell {hunt.what} {k}"),
    )


def _light(view: View, groups: Groups, name: str) -> None:
    if name in groups:
        highlight.light(view, PAGE, name, groups[name])


def _group(hunt: Hunt, title: str, nodes: np.ndarray, surest_first: bool = False) -> Group:
    """Nodes in the order of the score, which is listed with them."""
    order = ranked(hunt.own.doubt, nodes)[:: -1 if surest_first else 1]
    return Group(title, order, tuple(dict.fromkeys((*highlight.COLUMNS, hunt.own.score))))


def ranked(doubt: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Nodes from the most to the least doubted; those that tie in the order of the graph."""
    nodes = np.sort(nodes)
    return nodes[np.argsort(-doubt[nodes], kind="stable")]


def missed(search: Search, flagged: np.ndarray) -> np.ndarray:
    """What is sought and not flagged."""
    return search.nodes[search.sought & ~flagged]
