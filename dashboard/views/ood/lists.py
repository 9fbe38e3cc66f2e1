"""The page of unseen classes in lists: rankings of any length, and groups that are missed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bup.explain import detection
from bup.io.csv import csv_text
from dashboard.session.view import View
from dashboard.ui.markdown import escaped
from dashboard.views import highlight, picking
from dashboard.views.highlight import NodeList
from dashboard.views.ood.charts import PAGE, Groups, missed, ranked
from dashboard.views.ood.detection_task import UNSEEN, DetectionTask

LENGTHS = (10, 25, 50, 100, 500, 0)
"""0 is all."""
MOST_GROUPS = 50


def ranking(view: View, task: DetectionTask) -> None:
    """The top of a ranking, as long as one likes, and exactly that as CSV."""
    st.header("Ranking")
    noun, search = view.graph.noun, task.search
    flagged = task.flags[task.own.label]
    lists = {
        "doubted": (f"Most doubted {noun.many}", search.nodes, False),
        "missed": (f"Missed: {task.words}, yet not flagged", missed(search, flagged), True),
        "alarms": (
            f"False alarms: {task.others}, yet flagged",
            search.nodes[~search.positive & flagged],
            False,
        ),
    }
    left, right = st.columns([3, 1])
    which = left.selectbox(
        "List",
        list(lists),
        key="ood_list",
        format_func=lambda key: lists[key][0],
        bind="query-params",
    )
    most = right.selectbox(
        "Length",
        LENGTHS,
        key="ood_length",
        format_func=lambda n: "all" if n == 0 else f"top {n}",
        bind="query-params",
    )
    _, nodes, surest_first = lists[which if which in lists else "doubted"]
    order = ranked(task.own.doubt, nodes)[:: -1 if surest_first else 1]
    shown = order[: most or None]
    rows = _rows(view, task, shown)
    st.caption(
        f"{noun.count(len(shown))} of {len(order):,}, the "
        f"{'surest' if surest_first else 'most doubted'} first. Click a row to pick its {noun.one}."
    )
    if len(shown):
        picking.picking_table(view, shown.tolist(), rows, "ood_ranking")
    st.download_button(
        "This list as CSV",
        lambda: csv_text(rows),
        f"{view.run.key}-{task.what}-{which}.csv",
        "text/csv",
        icon=":material/download:",
        key="ood_ranking_csv",
        disabled=not len(shown),
    )


def _rows(view: View, task: DetectionTask, nodes: np.ndarray) -> pd.DataFrame:
    """What is said of each node of a list: its classes, its score, its rank by every method."""
    search, table = task.search, view.table
    about = [name for name in ("id", "title", "true", "predicted", "confidence") if name in table]
    rows = table.iloc[nodes][about].reset_index(drop=True)
    if task.own.score not in rows:
        rows[task.own.score] = table[task.own.score].to_numpy()[nodes]
    sought = np.zeros(len(table), dtype=bool)
    sought[search.nodes] = search.positive
    rows["never shown" if task.what == UNSEEN else "wrong"] = sought[nodes]
    place = np.zeros(len(table), dtype=np.int64)
    for detector in task.detectors:
        place[ranked(detector.doubt, search.nodes)] = 1 + np.arange(len(search.nodes))
        rows[f"rank by {detector.label}"] = place[nodes]
    return rows


def groups_missed(view: View, task: DetectionTask, groups: Groups) -> None:
    """What is missed together: sought nodes that are linked, and that the score does not flag."""
    st.header("Missed together")
    nodes = missed(task.search, task.flags[task.own.label])
    found = detection.linked_groups(view.graph, nodes)
    loners = len(nodes) - sum(map(len, found))
    noun = view.graph.noun
    words = view.say(
        "Nodes that are linked to each other vouch for each other: a group of strangers can look "
        "like a class of its own. "
    )
    if not found:
        st.caption(f"{words}Of {noun.count(len(nodes))} missed, no two are linked.")
        return
    cut = f", the largest {MOST_GROUPS} listed" if len(found) > MOST_GROUPS else ""
    st.caption(
        f"{words}{noun.count(len(nodes))} missed: {len(found):,} linked "
        f"group{'s' if len(found) != 1 else ''}{cut} and {loners:,} alone. Click a row to see it."
    )
    rows = []
    for number, group in enumerate(found[:MOST_GROUPS]):
        part = view.table.iloc[group]
        title = (
            f"{task.words}, linked to each other and missed, taken for "
            f"{escaped(detection.agreement(part.predicted.tolist()))}"
        )
        sure = group[np.argsort(-part.confidence.to_numpy(), kind="stable")]
        name = f"group {task.what} {task.own.score} {task.false_alarms} {number}"
        groups[name] = NodeList(title, sure)
        rows.append(
            {
                noun.many: len(group),
                "true class": detection.agreement(part.true.tolist()),
                "taken for": detection.agreement(part.predicted.tolist()),
                "mean confidence": float(part.confidence.mean()),
            }
            | (
                {"words": ", ".join(detection.distinctive_words(view.graph, group))}
                if view.graph.words is not None
                else {}
            )
        )

    def clicked() -> None:
        selected = st.session_state["ood_groups"]["selection"]["cells"]
        if selected:
            name = f"group {task.what} {task.own.score} {task.false_alarms} {selected[0][0]}"
            highlight.highlight(view, PAGE, name, groups[name])

    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        height=min(38 * (len(rows) + 1), 320),
        key="ood_groups",
        on_select=clicked,
        selection_mode="single-cell",
        column_config={"mean confidence": st.column_config.NumberColumn(format="%.3f")},
        alt=view.say("Groups of linked nodes that are missed: click a row to see one"),
    )
