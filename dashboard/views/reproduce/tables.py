"""A table of the paper as a chart and as numbers; a click on a cell shows its reruns."""

import math
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bup import experiments
from bup.experiments import Quantity, ResearchQuestion
from bup.experiments.published import published_figures
from bup.io.csv import csv_text
from dashboard.cache.maps import cached_figure
from dashboard.cache.shared_cache import cached
from dashboard.components import chart
from dashboard.figures.reproduce import ComparisonRow, MeanInterval, comparison_figure
from dashboard.session import run_link
from dashboard.session.view import current_theme
from dashboard.ui.markdown import escaped
from dashboard.views import charts
from dashboard.views.reproduce.cells import Cell, Plan, RerunSet
from dashboard.views.reproduce.training import offer_reruns
from dashboard.views.tables import clickable_table

DEFAULT_QUANTITIES = ("ece", "auroc_own")


def choose_quantity(question: ResearchQuestion, sources: list[RerunSet]) -> Quantity:
    """The widget for the column of the table that the chart shows; columns with results only."""
    measured = {key for source in sources for key in source.lines.quantity}
    measured = measured or {f.key for f in question.quantities}
    quantities = {f.key: f for f in question.quantities if f.key in measured}
    usual = next((i for i, key in enumerate(quantities) if key in DEFAULT_QUANTITIES), 0)
    # Every table has a widget of its own, because its columns are others.
    key = st.selectbox(
        "Quantity",
        list(quantities),
        usual,
        format_func=lambda key: quantities[key].title,
        key=f"{question.name}_quantity",
    )
    return quantities[key]


def show_picture(plan: Plan, sources: list[RerunSet], quantity: Quantity) -> None:
    """One quantity of every cell as points of a chart."""
    dots = []
    for place, cell in enumerate(plan.cells):
        paper = _published(plan, cell).get(quantity.key, math.nan)
        estimates = []
        for source in sources:
            line = source.lines_of(cell).get(quantity.key)
            estimates.append(
                MeanInterval() if line is None else MeanInterval(line.mean, line.low, line.high)
            )
        dots.append(ComparisonRow(place, cell.group, cell.method, paper, *estimates))
    if not any(dot.has_values for dot in dots):
        return
    better = {1: " (higher is better)", -1: " (lower is better)", 0: ""}[quantity.better]

    def choose_cell(number: int) -> None:
        st.session_state.reproduce_cell = plan.cells[number]

    chart.library()
    charts.clickable(
        cached_figure(comparison_figure, dots, quantity.title + better, current_theme()),
        "reproduce_picture",
        "Dots: means as we measured them; upright strokes: what was trained on this machine. Bars: "
        "where the mean over all possible reruns lies (95%). Hollow: what was published, for other "
        "random splits and perhaps other settings.",
        choose_cell,
    )


def _published(plan: Plan, cell: Cell) -> dict[str, float]:
    return published_figures(plan.question.name, plan.graph.name, *cell)


class Table(NamedTuple):
    rows: pd.DataFrame
    cells: list[Cell]  # of each row
    csv: str  # every rerun


@cached(by=lambda plan, sources: (plan.key, *(source.key for source in sources)))
def _table(plan: Plan, sources: list[RerunSet]) -> Table:
    rows, cells = [], []
    for cell in plan.cells:
        paper = _published(plan, cell)
        there: list[RerunSet | None] = [s for s in sources if len(s.of(cell))]
        for source in there or [None]:
            rows.append(_line(plan.question, cell, source, paper))
            cells.append(cell)
    reruns = pd.concat([source.rows.assign(source=source.name) for source in sources])
    return Table(pd.DataFrame(rows), cells, csv_text(reruns))


def show_table(plan: Plan, sources: list[RerunSet]) -> None:
    question, table = plan.question, _table(plan, sources)

    def choose_cell(row: int) -> None:
        st.session_state.reproduce_cell = table.cells[row]

    clickable_table(
        table.rows,
        "reproduce_table",
        f"{question.title}, {run_link.graph_title(plan.graph.name)}",
        choose_cell,
        height="content",
        column_config={"method": st.column_config.TextColumn(width=130)},
    )
    tested = any(source.lines.p.notna().any() for source in sources)
    notes = [question.note, experiments.note_on_test(question) if tested else ""]
    notes.append(f"As measured: {experiments.load_shipped().origin}.")
    st.caption(escaped(" ".join(filter(None, notes))))
    st.download_button(
        "Every rerun as CSV",
        table.csv,
        f"{question.name}-{plan.graph.name}.csv",
        "text/csv",
        icon=":material/download:",
        disabled=not any(len(source.rows) for source in sources),
    )


def _line(
    question: ResearchQuestion, cell: Cell, source: RerunSet | None, paper: dict[str, float]
) -> dict[str, Any]:
    """A row of the table: the results of a cell from one source, or that there are none yet."""
    own = source.of(cell) if source is not None else pd.DataFrame()
    lines = source.lines_of(cell) if source is not None else {}
    row: dict[str, Any] = {"per class": cell.per_class} if cell.per_class else {}
    if cell.protocol:
        row["protocol"] = cell.protocol
    row |= {"method": cell.method, "whose": source.name if source is not None else "not yet"}
    row["reruns"] = len(own)
    for word in question.words:
        text = str(own[word].iloc[0]) if len(own) else "–"
        row[word.replace("_", " ")] = text.replace("_", " ")
    for quantity in question.quantities:
        if quantity.key in lines:
            text = experiments.format_cell(lines[quantity.key], quantity.digits)
        else:
            text = (
                f"– ({paper[quantity.key]:.{quantity.digits}f})" if quantity.key in paper else "–"
            )
        row[quantity.title] = text
    return row


def show_cell(plan: Plan, sources: list[RerunSet], cell: Cell) -> None:
    """The clicked cell: its comparisons, and its reruns, which open as models."""
    question, graph, (measured, here) = plan.question, plan.graph, sources
    st.header(escaped(f"{cell.method}, {cell.group}: rerun by rerun"))
    specs = plan.specs_of(cell)
    for source in sources:
        comparisons = [c for c in source.comparisons if Cell(*c.cell[1:]) == cell]
        if comparisons:
            with st.expander(f"Against {escaped(question.reference)}, {source.name}", True):
                st.markdown("\n".join(f"- {escaped(c.in_words())}" for c in comparisons))
    offer_reruns(graph, list(specs.values()), set(here.of(cell).seed))
    quantities = [q for q in question.quantities if any(q.key in s.rows for s in sources)]
    columns = ["seed", *(f.key for f in quantities)]
    reruns = pd.concat(
        [s.of(cell).reindex(columns=columns).assign(whose=s.name) for s in (here, measured)]
    )
    if reruns.empty:
        st.info("No rerun of this cell has been measured or trained yet.")
        return
    # The link of a rerun that was measured elsewhere trains it first.
    links = ["./?" + run_link.query(specs[s], graph) if s in specs else None for s in reruns.seed]
    column = st.column_config

    def choose_rerun(row: int) -> None:
        st.session_state.reproduce_seed = int(reruns.seed.iloc[row])

    clickable_table(
        reruns.assign(model=links),
        "reproduce_reruns",
        "Reruns of the cell: click a row to see the picked node in it",
        choose_rerun,
        column_config={
            **{f.key: column.NumberColumn(f.title, format=f"%.{f.digits}f") for f in quantities},
            "model": column.LinkColumn("the model itself", display_text="Explore"),
        },
    )
    st.caption(
        graph.noun.apply_to(
            "A rerun's seed draws its training, validation and test nodes and its initial weights; "
            "the same seed means the same nodes for every method. Click a row of a model that was "
            "trained here to see the picked node in it, on top of the page."
        )
    )
