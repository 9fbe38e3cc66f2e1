"""What surrounds every page: training on demand, walking from node to node, exports, words."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import bup
from bup.graph import Graph
from bup.methods import METHODS, changed_settings, complete
from bup.results import Result
from bup.spec import Spec, text_of
from dashboard import data, state
from dashboard.components import chart as charts
from dashboard.components.chart import Drawing
from dashboard.figures import classes
from dashboard.figures.training import curves_figure
from dashboard.jobs import Job
from dashboard.problems import problem

POLL_SECONDS = 0.5


def page_style(large: bool) -> None:
    """Less empty space on top; everything larger for a projector."""
    st.html(f"<style>{_STYLE}{classes.STYLE}{_LARGE if large else ''}</style>")


_STYLE = """
.stMainBlockContainer { padding: 4rem 2rem 2rem; }
@media (min-width: 1250px) {
  .st-key-explore {
    display: grid;
    grid-template: "map inspector" auto "more inspector" 1fr / minmax(0, 3fr) minmax(0, 2fr);
    gap: 1rem 2rem;
  }
  .st-key-explore > :nth-child(1) { grid-area: map; }
  .st-key-explore > :nth-child(2) { grid-area: inspector; }
  .st-key-explore > :nth-child(3) { grid-area: more; }
}
"""
_LARGE = "html { font-size: 20px; }"


def result_or_training(spec: Spec, graph: Graph) -> Result | None:
    """The run's result; None while it has to be trained first."""
    found = data.result(spec)
    if found is None:  # a split that cannot be made is explained before anybody trains
        bup.make_split(graph, spec.per_class, spec.validation, spec.test, spec.left_out, spec.seed)
    return found


def training_panel(spec: Spec, graph: Graph) -> None:
    """In place of a page: offer to train the run, or show how its training goes."""
    st.title("This model has not been trained yet")
    st.markdown(
        f"**{METHODS[spec.method].short}** on **{state.graph_label(spec.graph)}**, "
        f"{spec.per_class} labelled papers per class, seed {spec.seed}"
        + (
            f", without {', '.join(graph.class_names[c] for c in spec.left_out)}"
            if spec.left_out
            else ""
        )
        + ". Training takes seconds on a small graph; the result is kept, so next time it is here "
        "at once."
    )
    METHODS[spec.method].check(graph)
    manager = data.manager()
    job = manager.find(spec)
    if (job is None and _is_first_visit(spec)) or (job is not None and job.state == "done"):
        # Done, but its result is gone or damaged: the manager looks again, and trains if need be.
        job = manager.submit(spec, graph)
    if job is None or job.state in ("failed", "cancelled"):
        if job is not None and job.state == "failed":
            problem(job.error or "training failed")
        st.button(
            "Train", type="primary", icon=":material/play_arrow:", on_click=_submit, args=(spec,)
        )
        if refused := st.session_state.pop("submit_error", None):
            problem(refused)
        return
    _watch(spec)


def _is_first_visit(spec: Spec) -> bool:
    """Whoever opens the app for the first time sees a model at work without a click."""
    return not spec.left_out and spec == _untouched(spec)


def _untouched(spec: Spec) -> Spec:
    return complete(Spec(graph=spec.graph, validation=spec.validation, test=spec.test))


def _submit(spec: Spec) -> None:
    try:
        data.manager().submit(spec)
    except bup.BupError as error:
        st.session_state.submit_error = str(error)


@st.fragment(run_every=POLL_SECONDS)
def _watch(spec: Spec) -> None:
    """Live progress of one job; ends in a full rerun, which finds the result."""
    job = data.manager().find(spec)
    if job is None or job.state in ("done", "failed", "cancelled"):
        st.rerun()
        return
    _show_progress(job)
    st.button(
        "Cancel",
        icon=":material/stop:",
        on_click=lambda: data.manager().cancel(spec),
        key="cancel_training",
    )


def _show_progress(job: Job) -> None:
    progress = job.progress
    if job.state == "queued":
        ahead = job.place or 0
        st.progress(0.0, f"Waiting: {ahead} training{'s' if ahead != 1 else ''} ahead of this one")
        return
    if not progress.losses:
        st.progress(0.0, "Starting ...")
        return
    left = progress.seconds_left
    st.progress(
        min(1.0, progress.epoch / progress.epochs),
        f"Epoch {progress.epoch} of at most {progress.epochs}"
        + (f", about {left:.0f} s left at most" if left is not None else ""),
    )
    st.plotly_chart(
        curves_figure(
            progress.losses,
            progress.validation_nll,
            progress.validation_accuracy,
            None,
            state.theme(),
            progress.epochs,
        ),
        width="stretch",
        theme=None,
        key="training_curves",
    )


def walk(graph: Graph, result: Result | None) -> None:
    """Next, previous and random node, also by keyboard."""
    if result is None:
        return
    current = graph.find(st.session_state.node) if _known(graph) else 0
    steps = {
        ":material/arrow_back:": ("Previous paper", "P", (current - 1) % graph.num_nodes),
        ":material/casino:": ("A paper at random", "X", random.randrange(graph.num_nodes)),
        ":material/arrow_forward:": ("Next paper", "N", (current + 1) % graph.num_nodes),
    }
    for column, (icon, (words, key, node)) in zip(st.columns(3), steps.items(), strict=True):
        column.button(
            icon,
            help=words,
            shortcut=key,
            on_click=state.pick,
            args=(graph.node_id(node),),
            width="stretch",
            key=f"walk_{key}",
        )


def _known(graph: Graph) -> bool:
    try:
        graph.find(str(st.session_state.get("node", "")))
    except bup.BupError:
        return False
    return True


def command_line(spec: Spec) -> str:
    """The command that trains the same run."""
    words: list[object] = ["bup", "fit", "--graph", spec.graph, "--method", spec.method]
    words += ["--per-class", spec.per_class, "--seed", spec.seed]
    words += ["--validation", spec.validation, "--test", spec.test or 0]
    words += [word for c in spec.left_out for word in ("--left-out", c)]
    for name, value in changed_settings(spec).items():
        words += ["--set", f"{name}={text_of(value)}"]
    return shlex.join(map(str, words))


Export = Callable[[state.View], tuple[str, str, str]]
"""Makes a file name, its text and its type."""


def exports(view: state.View, extra: dict[str, Export] | None = None) -> None:
    """Downloads at the end of every page, made only when somebody opens them."""
    with st.expander(
        "Take it with you", icon=":material/download:", key="exports", on_change="rerun"
    ) as box:
        if not box.open:
            return
        st.caption("The command that trains this run again, on any machine:")
        st.code(command_line(view.spec), language="sh")
        name = f"{view.spec.key}-nodes.csv"
        st.download_button(
            "All nodes as CSV",
            data.table_csv(view.spec),
            name,
            "text/csv",
            icon=":material/table:",
        )
        for label, make in (extra or {}).items():
            name, text, kind = make(view)
            st.download_button(label, text, name, kind, icon=":material/download:")
        st.caption("The camera button of a chart saves it as a picture.")


def numbers(frame: pd.DataFrame, name: str, key: str) -> None:
    """The numbers behind a picture, with a CSV."""
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(frame, hide_index=True, width="stretch", key=f"{key}_table")
        st.download_button(
            "CSV", frame.to_csv(index=False), f"{name}.csv", "text/csv", key=f"{key}_csv"
        )


def node_list(view: state.View, nodes: list[int], columns: list[str], key: str) -> None:
    """A table of nodes; clicking a row picks the node."""
    shown = view.table.iloc[nodes][["id", *columns]]

    def chosen() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows:
            state.pick(view.graph.node_id(nodes[rows[0]]))

    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        key=key,
        on_select=chosen,
        selection_mode="single-row",
        height=min(38 * (len(nodes) + 1), 320),
        column_config={
            c: st.column_config.NumberColumn(format="%.3f") for c in shown.select_dtypes("float")
        },
    )


def chart(figure, key: str, caption: str, **options) -> None:
    """A chart with two sentences of meaning below it."""
    config = {
        "displaylogo": False,
        "toImageButtonOptions": {"format": "svg", "filename": key, "scale": 2},
    } | options.pop("config", {})
    st.plotly_chart(figure, width="stretch", theme=None, key=key, config=config, **options)
    st.caption(caption)


def pick_node(view: state.View, node: int) -> None:
    """What a click on a point of a node does."""
    if 0 <= node < view.graph.num_nodes:
        state.pick(view.graph.node_id(node))


def clickable(figure: go.Figure, key: str, caption: str, on_pick: Callable[[int], None]) -> None:
    """A chart whose points can be clicked; ``on_pick`` gets the clicked point's ``customdata``."""

    def clicked() -> None:
        found = charts.picked(key)
        if found is not None:
            on_pick(found)

    options = {"toImageButtonOptions": {"format": "svg", "filename": key}, "scrollZoom": False}
    charts.chart(Drawing.of(figure), key, clicked, config=options)
    st.caption(caption)


def node_map(
    view: state.View, drawing: Drawing, key: str, caption: str, axes: tuple[str, ...] = ("",)
) -> None:
    """A map whose points can be clicked or enclosed; the picked node is ringed."""
    x, y = (float(v) for v in view.positions[view.node])

    def on_pick() -> None:
        node = charts.picked(key)
        if node is not None:
            pick_node(view, node)

    def on_group() -> None:
        if nodes := charts.group(key):
            st.session_state.group = nodes

    charts.chart(
        drawing,
        key,
        on_pick,
        on_group,
        [charts.Mark(x, y, a) for a in axes],
        {"toImageButtonOptions": {"format": "png", "filename": key, "scale": 2}},
    )
    st.caption(caption)
