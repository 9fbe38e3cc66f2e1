"""Lesson 8: one node's probability, from its words on, under two rules side by side."""

from typing import Any

import numpy as np
import streamlit as st

import bup
from bup import metrics
from bup.datasets import is_available
from bup.explanation import sentences
from bup.explanation.derivation import Derivation, derive
from bup.propagation import RULES
from dashboard.cache import graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.arithmetic import Outcome, Side, arithmetic, choice
from dashboard.figures.reasons import reasons_figure
from dashboard.learn import cases, lesson
from dashboard.learn.follow_steps import ABSENT, STAGES, step_texts
from dashboard.session import run_link
from dashboard.ui.markdown import escaped
from dashboard.ui.metric_row import metric_row
from dashboard.ui.numbers import counted

CANVAS = "follow_canvas"
GRAPHS = ("cora", "citeseer", "pubmed", "almanac", "synthetic")
PAPERS = {
    "simple": "as the app trains it",
    "paper": "with the paper's layers",
}


@lesson.lesson_page("follow")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns(wide=True)
    with left:
        st.markdown(here.text("Introduction"))
        one, two = st.columns(2)
        with one:
            name = _graph()
        layers = st.selectbox(
            "The published rule", list(PAPERS), key="follow_layers", format_func=PAPERS.__getitem__,
            help=here.text("Layers"),
        )  # fmt: skip
        runs = (
            cases.load_case(name, "bup", layers=layers),
            cases.load_case(name, "bup", propagation="doubt"),
        )
        with two:
            node = _node(runs[1])
    derivations = [_derivation(case, node, number) for number, case in enumerate(runs)]
    node_id = runs[1].graph.node_id(node)
    with left:
        st.caption(_about(runs[1], node))
        answered = _question(here, runs[0], derivations[0])
        lesson.end(
            here,
            answered,
            ("This node on the map", "explore", cases.query(runs[1], node=node_id)),
        )
    with right:
        done = {operation.name for derivation in derivations for operation in derivation.operations}
        arithmetic(
            [stage for stage in STAGES if done & {*stage.operations}],
            [
                _side(here, case, derivation)
                for case, derivation in zip(runs, derivations, strict=True)
            ],
            CANVAS,
            _on_choice,
        )
        _contributions(here, runs[1], node)


def _contributions(here: lesson.Lesson, case: LoadedRun, node: int) -> None:
    """Who contributed what to the mean of the answer, on the right-hand side."""
    reasons, mean = case.reasons(node), case.result.mean
    assert mean is not None
    answer, rival = escaped(reasons.answer_name), escaped(reasons.rival_name)
    st.markdown(here.text("Contributions", answer=answer, rival=rival))
    metric_row(
        {
            f"Mean of {answer}": f"{mean[node, reasons.answer]:.2f}",
            f"Mean of {rival}": f"{mean[node, reasons.rival]:.2f}",
            "Gap": f"{reasons.gap:.2f}",
        }
        | cases.supporters(reasons)
    )
    st.markdown(sentences.because(reasons, lambda name: f"**{escaped(name)}**"))
    figure = reasons_figure(reasons, lesson.theme())
    lesson.chart(figure, "follow_reasons", here.text("Contributions chart"))


def _graph() -> str:
    offered = [name for name in GRAPHS if is_available(name)]
    first = cases.graph_name()
    return st.selectbox(
        "Graph", offered, offered.index(first), run_link.graph_label, "follow_graph",
        on_change=_change_graph,
    )  # fmt: skip


def _reset_choices() -> None:
    """Another node: what was chosen on the derivation to the last one means nothing here."""
    for key in ("follow_way_0", "follow_way_1"):
        st.session_state.pop(key, None)


def _change_graph() -> None:
    _reset_choices()
    st.session_state.pop("follow_node", None)


def interesting(case: LoadedRun) -> dict[str, int]:
    """Examples of nodes by what is special about them, with few links where possible."""
    test = case.result.split.test
    confidence = metrics.confidence(case.result.probs[test])
    right = case.result.predicted[test] == case.graph.labels[test]
    few = (case.graph.degree[test] >= 2) & (case.graph.degree[test] <= 6)
    nothing = np.zeros(len(test), dtype=bool)

    def best(score: np.ndarray, which: np.ndarray) -> int:
        which = which if which.any() else ~nothing
        return int(test[np.where(which, score, -np.inf).argmax()])

    nodes = {
        "surely right": best(confidence, right & few),
        "surely wrong": best(confidence, ~right & few),
        "unsure": best(-confidence, few),
        "most links": int(case.graph.degree.argmax()),
    }
    for words, which in (
        ("no links", case.graph.degree == 0),
        ("no words", np.asarray(case.graph.features.sum(axis=1)).ravel() == 0),
    ):
        if which.any():
            nodes[words] = int(which.argmax())
    return nodes


def _node(case: LoadedRun) -> int:
    special = {case.graph.node_id(node): words for words, node in interesting(case).items()}
    first = next(iter(special))
    try:
        case.graph.find(str(st.session_state.get("follow_node") or first).strip())
    except bup.BupError as error:
        st.session_state.follow_node = first
        st.warning(escaped(error))
    wanted = st.selectbox(
        "Node", list(special), key="follow_node", on_change=_reset_choices, accept_new_options=True,
        format_func=lambda id_: f"{id_}: {special[id_]}" if id_ in special else str(id_),
        help="Choose one, or type the id of any node.",
    )  # fmt: skip
    return case.graph.find(str(wanted or first).strip())


def _about(case: LoadedRun, node: int) -> str:
    links, truth = case.graph.degree[node], case.graph.labels[node]
    class_name = escaped(case.graph.class_names[truth]) if truth >= 0 else "unknown"
    name = escaped(case.graph.name_of(node))
    about = f"Node {name}: {counted(int(links), 'link')}, true class {class_name}."
    if case.graph.words is None:
        about += " This dataset has word numbers only; Almanac has words to read."
    return about


def _derivation(case: LoadedRun, node: int, number: int) -> Derivation:
    chosen: dict[str, Any] = st.session_state.get(f"follow_way_{number}", {})
    return derive(case.inspector, node, **chosen)


def _on_choice() -> None:
    """Take over a click on a line: neighbour and class for both sides, a unit for its own side."""
    done = choice(CANVAS)
    if "side" not in done:
        return
    side = done.pop("side")
    graph = graphs.graph(_graph_name())
    node = done.pop("node", None)
    if node is not None and graph.node_id(node) != st.session_state.follow_node:
        st.session_state.follow_node = graph.node_id(node)
        _reset_choices()
    for number in (0, 1):
        derivation = dict(st.session_state.get(f"follow_way_{number}", {}))
        derivation |= done if number == side else {k: v for k, v in done.items() if k != "unit"}
        st.session_state[f"follow_way_{number}"] = derivation


def _graph_name() -> str:
    return st.session_state.get("follow_graph") or cases.graph_name()


def _side(here: lesson.Lesson, case: LoadedRun, derivation: Derivation) -> Side:
    result, node = case.result, derivation.node
    assert result.mean is not None and result.var is not None
    names = [case.graph.class_names[c] for c in result.split.classes]
    rows = zip(names, result.mean[node], result.var[node], result.probs[node], strict=True)
    rule = dict(case.spec.settings)["propagation"]
    return Side(
        title=RULES[str(rule)].title,
        operations=derivation.operations,
        words=step_texts(here, case.graph, derivation, names),
        absent=ABSENT.get(str(rule), {}),
        outcomes=[Outcome(name, float(m), float(v), float(p)) for name, m, v, p in rows],
        chosen={
            "node": derivation.node,
            "neighbour": derivation.neighbour,
            "unit": derivation.unit,
            "column": derivation.column,
        },
    )


def _question(here: lesson.Lesson, case: LoadedRun, derivation: Derivation) -> bool:
    return lesson.predict(
        here,
        "expect_factor",
        1,
        lambda: {
            "factor": derivation["factor"].result,
            "neighbours": len(case.graph.neighbours(derivation.node)),
        },
    )
