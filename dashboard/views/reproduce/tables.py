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
from dashboard.figures.reproduce import Dot, beside_published
from dashboard.markdown import escaped
from dashboard.views import charts
from dashboard.views.reproduce.cells import Cell

FIRST_DRAWN = ("ece", "auroc_own")  # what a table is most looked at for


def choose_quantity(question: Question, lines: pd.DataFrame) -> Quantity:
    """Which of a table's columns is drawn; those that nothing was measured of are not offered."""
    measured = set(lines.quantity) or {f.key for f in question.quantities}
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
    question: Question, graph: Graph, lines: pd.DataFrame, cells: list[Cell], quantity: Quantity
) -> None:
    """One quantity of every cell, as points that can be compared at a glance."""
    dots = []
    for place, cell in enumerate(cells):
        paper = _published(question, graph, cell).get(quantity.key, math.nan)
        found = cell.rows(lines[lines.quantity == quantity.key])
        mean, std = (found["mean"].item(), found["std"].item()) if len(found) else (math.nan,) * 2
        dots.append(Dot(place, cell.group, cell.method, mean, std, paper))
    if all(math.isnan(dot.mean) and math.isnan(dot.published) for dot in dots):
        return
    better = {1: " (higher is better)", -1: " (lower is better)", 0: ""}[quantity.better]

    def picked(place: int) -> None:
        st.session_state.reproduce_cell = cells[place]

    chart.library()
    charts.clickable(
        beside_published(dots, quantity.title + better, state.theme()),
        "reproduce_picture",
        "Filled: the mean here, with a bar of one standard deviation to either side. Hollow: what "
        "was published, for other random splits and perhaps other settings.",
        picked,
    )


def _published(question: Question, graph: Graph, cell: Cell) -> dict[str, float]:
    return published(question.name, graph.name, *cell)


def show_table(
    question: Question, graph: Graph, rows: pd.DataFrame, lines: pd.DataFrame, cells: list[Cell]
) -> None:
    shown = []
    for cell in cells:
        paper = _published(question, graph, cell)
        own = cell.rows(rows)
        found = {line.quantity: line for line in cell.rows(lines).itertuples()}
        row: dict[str, Any] = {"per class": cell.per_class}
        if cell.protocol:
            row["never shown"] = cell.protocol
        row |= {"method": cell.method, "reruns": len(own)}
        for word in question.words:
            text = str(own[word].iloc[0]) if len(own) else "–"
            row[word.replace("_", " ")] = text.replace("_", " ")
        for quantity in question.quantities:
            if quantity.key in found:
                text = experiments.cell_text(found[quantity.key], quantity.digits)
            else:
                text = (
                    f"– ({paper[quantity.key]:.{quantity.digits}f})"
                    if quantity.key in paper
                    else "–"
                )
            row[quantity.title] = text
        shown.append(row)

    def picked() -> None:
        chosen = st.session_state["reproduce_table"]["selection"]["cells"]
        if chosen:
            st.session_state.reproduce_cell = cells[chosen[0][0]]

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
    tested = lines.p.notna().any()
    st.caption(
        escaped(question.note + (f" {experiments.note_on_test(question)}" if tested else ""))
    )
    st.download_button(
        "Every rerun as CSV",
        csv_text(rows),
        f"{question.name}-{graph.name}.csv",
        "text/csv",
        icon=":material/download:",
        disabled=rows.empty,
    )


def show_cell(
    question: Question, graph: Graph, rows: pd.DataFrame, planned: list[Planned], cell: Cell
) -> None:
    """The reruns behind the clicked cell, each with a link to its model."""
    part = cell.rows(rows)
    st.header(escaped(f"{cell.method}, {cell.group}: rerun by rerun"))
    if part.empty:
        st.info("No rerun of this cell is stored yet: start some below.")
        return
    specs = {run.spec.seed: run.spec for run in planned if Cell.of(run) == cell}
    quantities = [quantity for quantity in question.quantities if quantity.key in part]
    shown = part[["seed", *(f.key for f in quantities)]].assign(
        model=["./?" + state.link(specs[seed], graph) for seed in part.seed]
    )
    column = st.column_config
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        key="reproduce_reruns",
        column_config={
            **{f.key: column.NumberColumn(f.title, format=f"%.{f.digits}f") for f in quantities},
            "model": column.LinkColumn("the model itself", display_text="Explore"),
        },
    )
    st.caption(
        graph.noun.said(
            "A rerun's seed draws its training, validation and test nodes and its initial weights; "
            "the same seed means the same nodes for every method."
        )
    )
