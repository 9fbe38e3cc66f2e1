"""Which run is better, and by how much? Tables and overlays of several runs on one split."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bup.errors import BupError
from bup.metrics import METRICS, Interval, ReliabilityBins
from dashboard.figures.reliability import bin_points
from dashboard.figures.style import RUN_STYLES, apply_style, diagonal, percent_axis
from dashboard.ui.columns import score_title
from dashboard.ui.theme import Theme


def metrics_table(
    reports: Mapping[str, Mapping[str, Any]],
    intervals: Mapping[str, Mapping[str, Interval]] | None = None,
) -> pd.DataFrame:
    """Every metric of every run, one row each, the best run of each metric marked.

    ``reports`` are those of ``bup.results.result.evaluate`` by run, ``intervals`` those of
    ``bup.metrics.bootstrap_intervals``. Columns: ``group``, ``metric`` (its name), ``key``,
    ``run``, ``value``, ``low``, ``high`` (missing where no interval was given) and ``best``. Errors
    are fractions of 1. A run that lacks a score others have, such as a message std, has no row for
    it.
    """
    rows = []
    for run, report in reports.items():
        spans = (intervals or {}).get(run, {})
        for key, value in report["test"].items():
            if key in METRICS:
                span = spans.get(key, Interval(np.nan, np.nan))
                name = METRICS[key].label
                rows.append(("Known classes", name, key, run, value, span.low, span.high))
        for group, scores in (
            ("Finding mistakes", report["errors"]),
            ("Finding left-out classes", report.get("ood", {}).get("scores", {})),
        ):
            for score, areas in scores.items():
                name = f"AUROC: {score_title(score)}"
                rows.append((group, name, "auroc", run, areas["auroc"], np.nan, np.nan))
    columns = ["group", "metric", "key", "run", "value", "low", "high"]
    table = pd.DataFrame(rows, columns=columns)
    better = np.where([METRICS[key].higher_is_better for key in table["key"]], 1, -1)
    ranked = table["value"] * better
    rivals = ranked.groupby([table["group"], table["metric"]])
    table["best"] = (ranked == rivals.transform("max")) & (rivals.transform("count") > 1)
    return table


def wide_table(table: pd.DataFrame) -> pd.DataFrame:
    """The table of ``metrics_table`` for reading: a row per metric, a column per run.

    Percent where that is usual, intervals in brackets, a star at the best.
    """
    order = table.drop_duplicates(["group", "metric"])[["group", "metric"]]
    cells = table.assign(text=[_cell(row) for row in table.itertuples()])
    wide = cells.pivot(index=["group", "metric"], columns="run", values="text")
    wide = wide.loc[list(order.itertuples(index=False, name=None)), list(table["run"].unique())]
    return wide.fillna("").rename_axis(columns=None).reset_index()


def _cell(row: Any) -> str:
    percent = METRICS[row.key].percent
    scale, digits, unit = (100, 1, "%") if percent else (1, 3, "")
    span = (
        ""
        if np.isnan(row.low)
        else f" [{row.low * scale:.{digits}f}, {row.high * scale:.{digits}f}]"
    )
    return f"{row.value * scale:.{digits}f}{unit}{span}{' ★' if row.best else ''}"


def overlay_reliability(runs: Sequence[tuple[str, ReliabilityBins]], theme: Theme) -> go.Figure:
    """How often the nodes of each confidence are right, one line per run.

    A point carries the number of its bin, counted on from run to run.
    """
    figure = go.Figure(diagonal(theme))
    before = 0
    for (label, bins), style in zip(runs, cycle(RUN_STYLES)):
        numbers = before + np.flatnonzero(bins.count)
        line = bin_points(bins, label, style, theme)
        figure.add_trace(line.update(mode="lines+markers", customdata=numbers))
        before += len(bins.count)
    x_axis = percent_axis("confidence in the predicted class")
    y_axis = percent_axis("share that is right", high=1.02)
    return apply_style(figure, theme, 440, x=x_axis, y=y_axis)


def disagreement_table(table_a: pd.DataFrame, table_b: pd.DataFrame) -> pd.DataFrame:
    """The nodes to which two runs give different classes, the surest disagreement first.

    A disagreement is as sure as the less confident of the two. ``node`` is the index; the rest
    comes from the tables of ``bup.results.result.node_table``; both must describe one graph.
    """
    if not np.array_equal(table_a["id"], table_b["id"]):
        raise BupError(
            f"the two runs are on different graphs, of {len(table_a)} and {len(table_b)} nodes: "
            "choose two runs on the same graph"
        )
    about = [name for name in ("id", "title", "true", "part", "ood") if name in table_a]
    both = table_a[about].assign(
        predicted_a=table_a["predicted"],
        confidence_a=table_a["confidence"],
        predicted_b=table_b["predicted"],
        confidence_b=table_b["confidence"],
    )
    both.insert(0, "node", np.arange(len(both)))
    both = both[both["predicted_a"] != both["predicted_b"]]
    sure = both[["confidence_a", "confidence_b"]].min(axis=1)
    return both.loc[sure.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)
