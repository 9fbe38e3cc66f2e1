"""Lesson 11: sets that contain the truth nine times in ten, and for whom they do not."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bup.graph import Graph
from bup.metrics.conformal import Sets, conformal_sets
from dashboard.figures.learn.groups import NeighbourGroup, coverage_figure
from dashboard.learn import cases, lesson
from dashboard.learn.cases import Case
from dashboard.session.navigation import page_link
from dashboard.ui.markdown import escaped

RULES = {"aps": "Each paper for itself (APS)", "daps": "Averaged with neighbours (DAPS)"}
LEVEL = 0.9


def page() -> None:
    here = lesson.begin(11)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    case = cases.case(cases.graph_name(), "bup", propagation="doubt")
    with left:
        st.markdown(
            "Instead of one answer, give a **set** of classes, large enough to contain the true "
            "one nine times in ten. A conformal method gets that right for any model: it looks at "
            "validation papers to learn how large sets must be. DAPS also averages each paper's "
            "scores with those of its neighbours, which makes sets smaller."
        )
        rule = st.segmented_control(
            "How sets are made", list(RULES), default="aps", required=True, key="set_rule",
            format_func=RULES.__getitem__,
        )  # fmt: skip
        level = st.slider("Promise", 0.7, 0.98, LEVEL, 0.01, key="set_level", format="percent")
        answered = _question(case)
    found = _sets(case, rule or "aps", float(level))
    groups = by_neighbours(case, found)
    with right:
        overall = groups[0]
        one, two = st.columns(2)
        one.metric("Sets that contain the truth", f"{overall.covered:.0%}")
        two.metric("Classes in a set, on average", f"{overall.size:.2f}")
        shown = groups[1:] if answered else [g for g in groups[1:] if "no" not in g.name]
        lesson.chart(
            coverage_figure(shown, float(level), lesson.theme()),
            "coverage",
            "Test papers by how many of their neighbours share their class, and how many of each "
            "group there are. Striped: more than three points below the promise."
            + ("" if answered else " The papers among strangers appear with your guess."),
        )
    with left:
        if answered:
            _surest(case, found)
        lesson.end(here, answered, [("Sets of this run", "reliability", cases.query(case))])


def _sets(case: Case, rule: str, level: float) -> Sets:
    return conformal_sets(case.result.probs, case.graph, case.result.split, level, rule)


def alike(graph: Graph) -> np.ndarray:
    """The share of every node's neighbours with its own class [n]; missing without neighbours."""
    same = graph.labels[graph.edges[0]] == graph.labels[graph.edges[1]]
    links, equal = np.zeros(graph.num_nodes), np.zeros(graph.num_nodes)
    for ends in graph.edges:
        links += np.bincount(ends, minlength=graph.num_nodes)
        equal += np.bincount(ends, same, minlength=graph.num_nodes)
    return np.where(links > 0, equal / np.maximum(links, 1), np.nan)


def by_neighbours(case: Case, sets: Sets) -> list[NeighbourGroup]:
    """All test papers, then those with like and unlike neighbours."""
    judged = case.result.judged(case.graph)
    share = alike(case.graph)[judged.nodes]
    parts = {
        "all": np.ones(len(share), dtype=bool),
        "all neighbours alike": share == 1,
        "more than half alike": (share > 0.5) & (share < 1),
        "up to half alike": (share > 0) & (share <= 0.5),
        "no neighbour alike": share == 0,
    }
    covered = sets.member[judged.nodes, judged.targets]
    size = sets.size[judged.nodes]
    return [
        NeighbourGroup(name, int(here.sum()), float(covered[here].mean()), float(size[here].mean()))
        for name, here in parts.items()
        if here.any()
    ]


def _question(case: Case) -> bool:
    worst = {rule: by_neighbours(case, _sets(case, rule, LEVEL))[-1] for rule in RULES}
    nearest = int(np.abs(np.array([0.9, 0.75, 0.4]) - worst["aps"].covered).argmin())
    alone, together = worst["aps"].covered, worst["daps"].covered

    def answer() -> str:
        return (
            f"With a promise of {LEVEL:.0%}, {alone:.0%} of the {worst['aps'].papers:,} papers "
            "with no neighbour of their own class have it in their set, and "
            f"{together:.0%} if scores are averaged with neighbours. The promise is one about the "
            "average: papers among their own kind are covered more often than promised and make "
            "up for the others. Nobody who sees only the first number would notice."
        )

    return lesson.predict(
        "expect_coverage",
        f"The promise is {LEVEL:.0%}, and it is kept. Among papers all of whose neighbours are "
        "of *other* classes, how many sets contain the truth?",
        [f"about {LEVEL:.0%}, as promised", "about three quarters", "less than half"],
        nearest,
        answer,
        [
            f"“{LEVEL:.0%} of papers” sounds like “every paper, with {LEVEL:.0%}”. Compare the "
            "bars with the dashed line: some groups are above it, the last is far below.",
            "Hard papers might lose that much, but the last bar ends elsewhere: the network "
            "averaged these papers with neighbours of other classes twice.",
            "Then the network would almost always miss them; the last bar shows that some sets "
            "are large enough to save them.",
        ],
    )


def _surest(case: Case, sets: Sets) -> None:
    """Papers whose set is one class, and the wrong one; each opens on the map."""
    judged = case.result.judged(case.graph)
    single = (sets.size[judged.nodes] == 1) & ~sets.member[judged.nodes, judged.targets]
    order = np.argsort(-judged.probs.max(axis=1))
    worst = judged.nodes[order[single[order]]][:3].tolist()
    if worst:
        st.markdown("**Sets of one class, and it is the wrong one:**")
    for node in worst:
        id_ = case.graph.node_id(node)
        said = case.graph.class_names[case.result.predicted[node]]
        words = f"{escaped(id_)}: surely {escaped(said)}"
        page_link("explore", words, ":material/hub:", cases.query(case, node=id_))
