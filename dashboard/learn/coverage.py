"""Lesson 11: sets that contain the truth nine times in ten, and for whom they do not."""

import numpy as np
import streamlit as st

from bup.graph import Graph
from bup.metrics.conformal import Sets, conformal_sets
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.learn.groups import NeighbourGroup, coverage_figure
from dashboard.learn import cases, lesson
from dashboard.session.navigation import page_link
from dashboard.ui.markdown import escaped

RULES = {"aps": "Each paper for itself (APS)", "daps": "Averaged with neighbours (DAPS)"}
LEVEL = 0.9


@lesson.lesson_page("coverage")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    case = cases.load_case(cases.graph_name(), "bup", propagation="doubt")
    with left:
        st.markdown(here.text("Introduction"))
        rule = lesson.one_of("How sets are made", RULES, "set_rule")
        level = st.slider("Promise", 0.7, 0.98, LEVEL, 0.01, key="set_level", format="percent")
        answered = _question(here, case)
    sets = _sets(case, rule, float(level))
    overall, *groups = by_neighbours(case, sets)
    with right:
        one, two = st.columns(2)
        one.metric("Sets that contain the truth", f"{overall.covered:.0%}")
        two.metric("Classes in a set, on average", f"{overall.size:.2f}")
        shown = groups if answered else [group for group in groups if "no" not in group.name]
        lesson.chart(
            coverage_figure(shown, float(level), lesson.theme()),
            "coverage",
            here.text("Chart" if answered else "Chart before the guess"),
        )
    with left:
        if answered:
            _examples(here, case, sets)
        lesson.end(here, answered, ("Sets of this run", "reliability", cases.query(case)))


def _sets(case: LoadedRun, rule: str, level: float) -> Sets:
    return conformal_sets(case.result.probs, case.graph, case.result.split, level, rule)


def same_class_share(graph: Graph) -> np.ndarray:
    """The share of every node's neighbours with its own class [n]; missing without neighbours."""
    same = graph.labels[graph.edges[0]] == graph.labels[graph.edges[1]]
    links, equal = np.zeros(graph.num_nodes), np.zeros(graph.num_nodes)
    for ends in graph.edges:
        links += np.bincount(ends, minlength=graph.num_nodes)
        equal += np.bincount(ends, same, minlength=graph.num_nodes)
    return np.where(links > 0, equal / np.maximum(links, 1), np.nan)


def by_neighbours(case: LoadedRun, sets: Sets) -> list[NeighbourGroup]:
    """All test papers, then those with like and unlike neighbours."""
    judged = case.result.judged(case.graph)
    share = same_class_share(case.graph)[judged.nodes]
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


def _question(here: lesson.Lesson, case: LoadedRun) -> bool:
    aps, daps = (by_neighbours(case, _sets(case, rule, LEVEL))[-1] for rule in ("aps", "daps"))
    return lesson.predict(
        here,
        "expect_coverage",
        lesson.nearest((0.9, 0.75, 0.4), aps.covered),
        lambda: {"aps": aps.covered, "daps": daps.covered, "papers": aps.papers},
        level=LEVEL,
    )


def _examples(here: lesson.Lesson, case: LoadedRun, sets: Sets) -> None:
    """Papers whose set is one class, and the wrong one; each opens on the map."""
    judged = case.result.judged(case.graph)
    wrong = (sets.size[judged.nodes] == 1) & ~sets.member[judged.nodes, judged.targets]
    order = np.argsort(-judged.probs.max(axis=1))
    nodes = judged.nodes[order[wrong[order]]][:3].tolist()
    if nodes:
        st.markdown(here.text("Examples"))
    for node in nodes:
        id_ = case.graph.node_id(node)
        answer = case.graph.class_names[case.result.predicted[node]]
        words = f"{escaped(case.graph.name_of(node))}: surely {escaped(answer)}"
        page_link("explore", words, ":material/hub:", cases.query(case, node=id_))
