"""Lesson 3: a small graph to edit, three rules side by side."""

from collections.abc import Callable

import numpy as np
import streamlit as st

import bup
from bup.propagation import RULES
from bup.propagation.conditional import SMALLEST_LAM
from dashboard.components.sketch import SketchLink, SketchNode, edit
from dashboard.components.sketch import sketch as drawing
from dashboard.figures.learn.rules import rule_figures
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning
from dashboard.learn.sketch import MOST_NODES, PRESETS, Sketch, rules
from dashboard.session import run_link
from dashboard.ui.markdown import escaped

CANVAS = "sketch_canvas"
LOWEST, HIGHEST = 0.1, 5.0  # of a node's variance


@lesson.lesson_page("travel")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns(wide=True)
    with right:
        _playground(here)
    with left:
        st.markdown(here.text("Introduction"))
        answered = _questions(here)
        paper, tab = {"bup.propagation": RULES["paper"].title}, {"tab": "Why?"}
        lesson.end(
            here,
            answered,
            ("Every neighbour's share, on a real node", "explore", tab | paper),
            ("How much of it is the links alone", "structure", paper),
        )
        if answered:
            _in_a_network(here)


def _change(make: Callable[[Sketch], Sketch]) -> None:
    """Replace the sketch, and remember the one before to say what changed."""
    old = st.session_state.sketch
    try:
        new = make(old)
    except bup.BupError as error:
        st.session_state.sketch_problem = str(error)
        return
    if new != old:
        st.session_state.sketch, st.session_state.sketch_before = new, old


def _start() -> None:
    st.session_state.sketch = PRESETS[st.session_state.preset]
    st.session_state.sketch_before = st.session_state.sketch
    st.session_state.sketch_start = st.session_state.get("sketch_start", 0) + 1


def _on_edit() -> None:
    change = edit(CANVAS)
    _change(lambda old: edited_sketch(old, change))


def edited_sketch(old: Sketch, change: dict) -> Sketch:
    """The sketch after an edit in the drawing."""
    match change:
        case {"kind": "look", "node": int(node)}:
            return old.with_selected(node)
        case {"kind": "link", "a": int(a), "b": int(b)}:
            return old.with_link(a, b)
        case {"kind": "cut", "a": int(a), "b": int(b)}:
            return old.without_link(a, b)
        case {"kind": "node", "node": int(node), "x": int() | float() as x, "y": y}:
            return old.with_node(node, (x, float(y)))
        case {"kind": "node", "node": int(node)}:
            return old.with_node(node)
    return old


def _playground(here: lesson.Lesson) -> None:
    """The drawing and its controls, and what they did."""
    if "sketch" not in st.session_state:
        first = next(iter(PRESETS))
        st.session_state.update(sketch=PRESETS[first], sketch_before=PRESETS[first])
    one, two, three = st.columns([4, 6, 4], vertical_alignment="bottom")
    one.selectbox("Start from", list(PRESETS), key="preset", on_change=_start)
    note = meaning("lam")
    lam = three.slider("Weakening (λ)", SMALLEST_LAM, 5.0, 1.0, 0.1, key="lam", help=note)
    with two:
        rule = lesson.one_of(
            "The rings show",
            {name: about.title for name, about in rules().items()},
            "ring_rule",
            help="Dashed ring: before the step. Blue disc: after it, under this rule.",
        )
    left, right = st.columns([3, 2], gap="medium")
    with right:
        _controls(st.session_state.sketch)
        _outcome(st.session_state.sketch, st.session_state.sketch_before, lam)
        _shares(st.session_state.sketch, rule, lam)
    with left:
        _draw(st.session_state.sketch, rule, lam)
        st.caption(here.text("Drawing"))
        st.button("Start over", icon=":material/restart_alt:", on_click=_start)
    if problem := st.session_state.pop("sketch_problem", None):
        st.warning(escaped(problem))


def _draw(sketch: Sketch, rule: str, lam: float) -> None:
    after = np.sqrt(np.maximum(sketch.after(rule, lam), 0))
    step = sketch.shares(sketch.selected, rule, lam)
    change = dict(zip(step.neighbours.tolist(), step.change[:, 0].tolist(), strict=True))
    spots = [
        SketchNode(name, x, y, before**0.5, float(std))
        for name, (x, y), before, std in zip(
            sketch.names, sketch.places, sketch.variances, after, strict=True
        )
    ]
    lines = [
        SketchLink(a, b, change[a + b - sketch.selected] if sketch.selected in (a, b) else None)
        for a, b in sorted(sketch.links)
    ]
    start = f"{st.session_state.preset}-{st.session_state.get('sketch_start', 0)}"
    drawing(spots, lines, sketch.selected, start, CANVAS, _on_edit)


def _controls(sketch: Sketch) -> None:
    """The same edits by widgets, without dragging."""
    node, name = sketch.selected, sketch.names[sketch.selected]
    # The widgets show the state of the drawing, not their own.
    st.session_state.node_variance = sketch.variances[node]
    st.session_state.node_links = [sketch.names[j] for j in sketch.neighbours(node)]

    def on_select() -> None:
        chosen = st.session_state.node_looked
        _change(lambda old: old.with_selected(old.names.index(chosen)))

    def on_variance() -> None:
        _change(lambda old: old.with_variance(old.selected, st.session_state.node_variance))

    def on_links() -> None:
        wanted = st.session_state.node_links
        _change(lambda old: old.with_neighbours(old.selected, [old.names.index(n) for n in wanted]))

    st.session_state.node_looked = name
    one, two = st.columns([1, 2])
    one.selectbox("Look at", sketch.names, key="node_looked", on_change=on_select)
    label = f"Variance of {name} before the step"
    two.slider(label, LOWEST, HIGHEST, step=0.1, key="node_variance", on_change=on_variance)
    others = [other for other in sketch.names if other != name]
    st.multiselect(f"{name} is linked to", others, key="node_links", on_change=on_links)
    with st.container(horizontal=True):
        st.button(
            "Add a neighbour",
            icon=":material/add:",
            on_click=_change,
            args=(lambda old: old.with_node(old.selected),),
            disabled=len(sketch.names) >= MOST_NODES,
        )
        st.button(
            f"Remove {name}",
            icon=":material/remove:",
            on_click=_change,
            args=(lambda old: old.without_node(old.selected),),
            disabled=len(sketch.names) < 2,
        )


def _outcome(sketch: Sketch, before: Sketch, lam: float) -> None:
    """The variance of the selected node under each rule, and how the last edit changed it."""
    name = sketch.names[sketch.selected]
    st.markdown(f"**Variance of {name} after the step**, and what your last edit changed")
    all_rules = rules()
    for column, (rule, about) in zip(st.columns(len(all_rules)), all_rules.items(), strict=True):
        value = float(sketch.shares(sketch.selected, rule, lam).after[0])
        delta = None
        if name in before.names and before != sketch:
            earlier = before.shares(before.names.index(name), rule, lam)
            delta = value - float(earlier.after[0])
        column.metric(
            about.title,
            f"{value:.3f}",
            None if delta is None else f"{delta:+.3f}" if abs(delta) >= 5e-4 else "no change",
            delta_color="off" if delta is None or abs(delta) < 5e-4 else "inverse",
            delta_arrow="auto" if delta is not None and abs(delta) >= 5e-4 else "off",
        )


def _shares(sketch: Sketch, rule: str, lam: float) -> None:
    steps = {each: sketch.shares(sketch.selected, each, lam) for each in rules()}
    names = [f"neighbour {sketch.names[j]}" for j in sketch.neighbours(sketch.selected)]
    about, figures = rules()[rule], rule_figures(steps, names, lesson.theme())
    st.markdown(f"**{about.title}.** {about.lesson}")
    lesson.chart(figures[rule], "shares")


def _questions(here: lesson.Lesson) -> bool:
    pair = PRESETS["Hub of leaves"]  # A and B are linked; C is a hub with seven leaves
    one, two = st.tabs(["First guess", "Second guess"])
    with one:
        unsure = pair.with_variance(1, HIGHEST)
        first = lesson.predict(here, "expect_variance", 2, lambda: _variances_of_a(pair, unsure))
    with two:
        linked = pair.with_link(0, 2)
        second = lesson.predict(here, "expect_hub", 1, lambda: _variances_of_a(pair, linked))
    return first and second


def _variances_of_a(*sketches: Sketch) -> dict[str, list[float]]:
    """The variance of A in each sketch after a step, by rule."""
    return {
        rule: [float(sketch.shares(0, rule).after[0]) for sketch in sketches]
        for rule in ("paper", "evidence")
    }


def _in_a_network(here: lesson.Lesson) -> None:
    """What two steps and learned weights make of the rule, on a real graph."""
    name = cases.graph_name()
    simple, paper = (
        cases.link_correlation(cases.load_case(name, "bup", layers=layers))
        for layers in ("simple", "paper")
    )
    graph = escaped(run_link.graph_label(name))
    st.caption(here.text("In a network", graph=graph, simple=simple, paper=paper))
