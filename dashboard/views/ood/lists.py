"""Lists of the page of unseen classes: rankings, and groups of nodes that are missed."""

import numpy as np
import pandas as pd
import streamlit as st

from bup.explanation import detection
from dashboard.charts.chart import NodeList
from dashboard.charts.unseen import UNSEEN, DetectionTask, ranked
from dashboard.session.view import View
from dashboard.ui.link_choice import link_choice
from dashboard.views import exports, group_reasons, tables
from dashboard.views.highlight import Highlights

LENGTHS = {n: f"top {n}" for n in (10, 25, 50, 100, 500)} | {0: "all"}
MOST_GROUPS = 50


def what_led_there(view: View, task: DetectionTask) -> None:
    """What led the nodes to find to their answers, all of them or those taken for one class."""
    st.header("What led them there?")
    nodes = task.search.nodes[task.search.positive]
    names, predicted = view.graph.class_names, view.result.predicted[nodes]
    counts = np.bincount(predicted, minlength=len(names))
    every = view.say(f"any class ({len(nodes):,} nodes)")
    choices = {-1: every} | {c: f"{names[c]} ({counts[c]:,})" for c in np.argsort(-counts).tolist()}
    choices = {c: title for c, title in choices.items() if c < 0 or counts[c]}
    chosen = st.selectbox(
        view.say(f"Nodes {task.words}, taken for"),
        list(choices),
        format_func=choices.__getitem__,
        key=f"led_{task.target}",
    )
    group_reasons.what_led_there(
        view, nodes if chosen < 0 else nodes[predicted == chosen], f"led_{task.target}"
    )


def ranking(view: View, task: DetectionTask) -> None:
    """The top of a ranking, as long as the visitor likes, and the same rows as CSV."""
    st.header("Ranking")
    noun, search = view.graph.noun, task.search
    false_alarms = search.nodes[~search.positive & task.flags[task.first.label]]
    lists = {
        "doubted": (f"Most doubted {noun.many}", search.nodes, False),
        "missed": (f"Missed: {task.words}, yet not flagged", task.missed, True),
        "alarms": (f"False alarms: {task.others}, yet flagged", false_alarms, False),
    }
    left, right = st.columns([3, 1])
    titles = {key: title for key, (title, _, _) in lists.items()}
    name = link_choice(left.selectbox, "List", titles, "ood_list")
    length = link_choice(right.selectbox, "Length", LENGTHS, "ood_length")
    _, nodes, surest_first = lists[name if name in lists else "doubted"]
    order = ranked(task.first.doubt, nodes, surest_first)
    top = order[: length or None]
    rows = _rows(view, task, top)
    st.caption(
        f"{noun.count(len(top))} of {len(order):,}, the "
        f"{'surest' if surest_first else 'most doubted'} first. Click a row to pick its {noun.one}."
    )
    if len(top):
        tables.node_table(view, top.tolist(), rows, "ood_ranking")
    exports.csv_button(
        "This list as CSV",
        rows,
        f"{view.run.key}-{task.target}-{name}",
        key="ood_ranking_csv",
        disabled=not len(top),
    )


def _rows(view: View, task: DetectionTask, nodes: np.ndarray) -> pd.DataFrame:
    """A row per node of a list: its classes, its score, its rank by every method."""
    search, table = task.search, view.table
    about = [name for name in ("id", "title", "true", "predicted", "confidence") if name in table]
    rows = table.iloc[nodes][about].reset_index(drop=True)
    if task.first.score not in rows:
        rows[task.first.score] = table[task.first.score].to_numpy()[nodes]
    target = search.nodes[search.positive]
    rows["never shown" if task.target == UNSEEN else "wrong"] = np.isin(nodes, target)
    rank = np.zeros(len(table), dtype=np.int64)
    for detector in task.detectors:
        rank[ranked(detector.doubt, search.nodes)] = 1 + np.arange(len(search.nodes))
        rows[f"rank by {detector.label}"] = rank[nodes]
    return rows


def missed_groups(view: View, task: DetectionTask, highlights: Highlights) -> None:
    """Groups of linked nodes that the score should flag and does not."""
    st.header("Missed together")
    graph, noun, missed = view.graph, view.graph.noun, task.missed
    groups = detection.linked_groups(graph, missed)
    alone = len(missed) - sum(map(len, groups))
    words = view.say(
        "Nodes that are linked to each other make each other look sure: a group of unseen nodes "
        "can look like a class of its own. "
    )
    if not groups:
        st.caption(f"{words}Of {noun.count(len(missed))} missed, no two are linked.")
        return
    cut = f", the largest {MOST_GROUPS} listed" if len(groups) > MOST_GROUPS else ""
    st.caption(
        f"{words}{noun.count(len(missed))} missed: {len(groups):,} linked "
        f"group{'s' if len(groups) != 1 else ''}{cut} and {alone:,} alone. Click a row to see it."
    )
    rows, lists = [], {}
    for number, group in enumerate(groups[:MOST_GROUPS]):
        part = view.table.iloc[group]
        predicted = detection.agreement(part.predicted.tolist())
        surest_first = group[np.argsort(-part.confidence.to_numpy(), kind="stable")]
        title = f"{task.words}, linked to each other and missed, taken for {predicted}"
        lists[number] = NodeList(title, surest_first)
        rows.append(
            {
                noun.many: len(group),
                "true class": detection.agreement(part.true.tolist()),
                "taken for": predicted,
                "mean confidence": float(part.confidence.mean()),
            }
        )
        if graph.words is not None:
            rows[-1]["words"] = ", ".join(detection.distinctive_words(graph, group))
    settings = task.target, task.first.score, task.false_alarms
    tables.clickable_table(
        pd.DataFrame(rows),
        "ood_groups",
        view.say("Groups of linked nodes that are missed: click a row to see one"),
        highlights.add("groups", lists, settings),
        height=tables.table_height(len(rows)),
        column_config={"mean confidence": st.column_config.NumberColumn(format="%.3f")},
    )
