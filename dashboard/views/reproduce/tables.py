"""A table as a picture and as numbers; every cell opens down to its reruns."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import streamlit as st

from bup import experiments
from bup.experiments import Planned, Quantity, Question
from bup.graph import Graph
from bup.paper import published
from bup.sheets import csv_text
from dashboard import state
from dashboard.components import chart
from dashboard.figures.reproduce import Dot, Found, beside_published
from dashboard.markdown import escaped
from dashboard.views import charts
from dashboard.views.reproduce.cells import Cell, Source
from dashboard.views.reproduce.training import offer_reruns

FIRST_DRAWN = ("ece", "auroc_own")  # what a table is most looked at for


def choose_quantity(question: Question, sources: list[Source]) -> Quantity:
    """Which of a table's columns is drawn; those that nothing was measured of are not offered."""
    measured = {key for source in sources for key in source.lines.quantity}
    measured = measured or {f.key for f in question.quantities}
    quantities = {f.key: f for f in question.quantities if f.key in measured}
    usual = next((i for i, key in enumerate(quantities) if key in FIRST_DRAWN), 0)
    # A table's own widget: another table has other columns.
    key = st.selectbox(
        "Quantity",
        list(quantities),
        usual,
        format_func=lambda key: quantities[key].title,
        key=f"{question.name}_quantity",
    )
    return quantities[key]


def show_picture(
    question: Question, graph: Graph, sources: list[Source], cells: list[Cell], quantity: Quantity
) -> None:
    """One quantity of every cell, as points that can be compared at a glance."""
    dots = []
    for place, cell in enumerate(cells):
        paper = _published(question, graph, cell).get(quantity.key, math.nan)
        found = []
        for source in sources:
            line = cell.rows(source.lines[source.lines.quantity == quantity.key])
            values = line[["mean", "low", "high"]].to_numpy(float)
            found.append(Found(*values[0]) if len(values) else Found())
        dots.append(Dot(place, cell.group, cell.method, paper, *found))
    if not any(dot.known for dot in dots):
        return
    better = {1: " (higher is better)", -1: " (lower is better)", 0: ""}[quantity.better]

    def picked(place: int) -> None:
        st.session_state.reproduce_cell = cells[place]

    chart.library()
    charts.clickable(
        beside_published(dots, quantity.title + better, state.theme()),
        "reproduce_picture",
        "Dots: means as we measured them; upright strokes: what was trained on this machine. Bars: "
        "where the mean over all possible reruns lies (95%). Hollow: what was published, for other "
        "random splits and perhaps other settings.",
        picked,
    )


def _published(question: Question, graph: Graph, cell: Cell) -> dict[str, float]:
    return published(question.name, graph.name, *cell)


def show_table(question: Question, graph: Graph, sources: list[Source], cells: list[Cell]) -> None:
    shown, shown_cells = [], []
    for cell in cells:
        paper = _published(question, graph, cell)
        there: list[Source | None] = [s for s in sources if len(cell.rows(s.rows))]
        for source in there or [None]:
            shown.append(_line(question, cell, source, paper))
            shown_cells.append(cell)

    def picked() -> None:
        chosen = st.session_state["reproduce_table"]["selection"]["cells"]
        if chosen:
            st.session_state.reproduce_cell = shown_cells[chosen[0][0]]

    st.dataframe(
        pd.DataFrame(shown),
        hide_index=True,
        width="stretch",
        height="content",
        key="reproduce_table",
        on_select=picked,
        selection_mode="single-cell",
        column_config={"method": st.column_config.TextColumn(width=130)},
        alt=f"{question.title}, {state.graph_label(graph.name)}",
    )
    tested = any(source.lines.p.notna().any() for source in sources)
    notes = [question.note, experiments.note_on_test(question) if tested else ""]
    notes.append(f"As measured: {experiments.shipped().origin}.")
    st.caption(escaped(" ".join(filter(None, notes))))
    rows = pd.concat([source.rows.assign(source=source.name) for source in sources])
    st.download_button(
        "Every rerun as CSV",
        csv_text(rows),
        f"{question.name}-{graph.name}.csv",
        "text/csv",
        icon=":material/download:",
        disabled=rows.empty,
    )


def _line(
    question: Question, cell: Cell, source: Source | None, paper: dict[str, float]
) -> dict[str, Any]:
    """A row of the table: a cell's figures by one origin, or that there are none yet."""
    own = cell.rows(source.rows) if source is not None else pd.DataFrame()
    lines = cell.rows(source.lines) if source is not None else own
    found = {line.quantity: line for line in lines.itertuples()}
    row: dict[str, Any] = {"per class": cell.per_class} if cell.per_class else {}
    if cell.protocol:
        row["protocol"] = cell.protocol
    row |= {"method": cell.method, "whose": source.name if source is not None else "not yet"}
    row["reruns"] = len(own)
    for word in question.words:
        text = str(own[word].iloc[0]) if len(own) else "–"
        row[word.replace("_", " ")] = text.replace("_", " ")
    for quantity in question.quantities:
        if quantity.key in found:
            text = experiments.cell_text(found[quantity.key], quantity.digits)
        else:
            text = (
                f"– ({paper[quantity.key]:.{quantity.digits}f})" if quantity.key in paper else "–"
            )
        row[quantity.title] = text
    return row


def show_cell(
    question: Question, graph: Graph, sources: list[Source], planned: list[Planned], cell: Cell
) -> None:
    """What is behind the clicked cell: its comparisons, and reruns that open as models."""
    measured, here = sources
    st.header(escaped(f"{cell.method}, {cell.group}: rerun by rerun"))
    specs = {run.spec.seed: run.spec for run in planned if Cell.of(run) == cell}
    for source in sources:
        found = [
            c
            for c in experiments.comparisons(source.rows, question.quantities, question.reference)
            if Cell(*c.cell[1:]) == cell
        ]
        if found:
            with st.expander(f"Against {escaped(question.reference)}, {source.name}", True):
                st.markdown("\n".join(f"- {escaped(c.in_words())}" for c in found))
    part = cell.rows(here.rows)
    offer_reruns(graph, list(specs.values()), set(part.seed))
    quantities = [q for q in question.quantities if any(q.key in s.rows for s in sources)]
    columns = ["seed", *(f.key for f in quantities)]
    told = pd.concat(
        [cell.rows(s.rows).reindex(columns=columns).assign(whose=s.name) for s in (here, measured)]
    )
    if told.empty:
        st.info("No rerun of this cell was measured or trained yet.")
        return
    # A rerun that was only measured elsewhere opens too: it is trained on the way.
    links = ["./?" + state.link(specs[s], graph) if s in specs else None for s in told.seed]
    column = st.column_config

    def picked() -> None:
        selected = st.session_state["reproduce_reruns"]["selection"]["cells"]
        if selected:
            st.session_state.reproduce_seed = int(told.seed.iloc[selected[0][0]])

    st.dataframe(
        told.assign(model=links),
        hide_index=True,
        width="stretch",
        key="reproduce_reruns",
        on_select=picked,
        selection_mode="single-cell",
        column_config={
            **{f.key: column.NumberColumn(f.title, format=f"%.{f.digits}f") for f in quantities},
            "model": column.LinkColumn("the model itself", display_text="Explore"),
        },
    )
    st.caption(
        graph.noun.said(
            "A rerun's seed draws its training, validation and test nodes and its initial weights; "
            "the same seed means the same nodes for every method. Click a row of a model that was "
            "trained here to see the picked node in it, on top of the page."
        )
    )
