"""Tables beside the paper's, with a test against the reference."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from bup.experiments.comparisons import Comparison, comparisons
from bup.experiments.published import published_figures
from bup.experiments.question import CELL, Quantity, ResearchQuestion
from bup.metrics.comparison import LEVEL, paired

MEASURED = ["quantity", "reruns", "mean", "std", "low", "high", "paper", "difference"]
MEASURED += ["p", "verdict"]


def summary(question: ResearchQuestion, rows: pd.DataFrame) -> pd.DataFrame:
    """One line per cell and quantity: mean, spread, the published figure, and the test."""
    tests = {
        (c.cell, c.quantity.key): c
        for c in comparisons(rows, question.quantities, question.reference)
    }
    lines = []
    for cell, part in rows.groupby(CELL, sort=False):
        paper = published_figures(question.name, *cell)
        for quantity in question.quantities:
            values = part.get(quantity.key, pd.Series(dtype=float)).dropna()
            if values.empty:
                continue
            test = tests.get((cell, quantity.key))
            interval, published = paired(values.to_numpy()).interval, paper.get(quantity.key)
            line = {
                "quantity": quantity.key,
                "reruns": len(values),
                "mean": values.mean(),
                "std": values.std(ddof=1),
                "low": interval.low,
                "high": interval.high,
                "paper": math.nan if published is None else published,
                "p": math.nan if test is None else test.corrected,
                "verdict": 0 if test is None else test.verdict,
            }
            line["difference"] = line["mean"] - line["paper"]
            lines.append(dict(zip(CELL, cell, strict=True)) | line)
    return pd.DataFrame(lines, columns=[*CELL, *MEASURED])


VERDICTS = {1: " ▲", -1: " ▼", 0: ""}


def note_on_test(question: ResearchQuestion) -> str:
    """What the marks in a question's table mean."""
    return (
        f"▲ better, ▼ worse than {question.reference} on the same splits: Student's paired t test, "
        f"two-sided, p < {LEVEL} after Holm's correction for all comparisons of the column on the "
        "same graph. No mark: open, which is not the same as equal."
    )


def format_tests(question: ResearchQuestion, rows: pd.DataFrame) -> str:
    """Every comparison of a question's table in a sentence of its own."""
    text = f"## {question.title}: every comparison\n"
    by_cell: dict[tuple, list[Comparison]] = {}
    for comparison in comparisons(rows, question.quantities, question.reference):
        by_cell.setdefault(comparison.cell[:3], []).append(comparison)
    for (graph, per_class, protocol), here in by_cell.items():
        where = ", ".join(filter(None, (graph, per_class and f"{per_class} per class", protocol)))
        text += f"\n### {where}\n\n" + "".join(f"- {c.in_words()}\n" for c in here)
    return text


def format_cell(line: Any, digits: int) -> str:
    """A line of ``summary`` in words: ``69.98 ± 4.84 (69.41, +0.57) ▼``."""
    text = f"{line.mean:.{digits}f}"
    if not math.isnan(line.std):
        text += f" ± {line.std:.{digits}f}"
    if not math.isnan(line.paper):
        text += f" ({line.paper:.{digits}f}, {line.difference:+.{digits}f})"
    return text + VERDICTS[line.verdict]


def format_markdown(question: ResearchQuestion, rows: pd.DataFrame) -> str:
    """The question's table: ours, the paper's figure, the difference, the test."""
    head = f"## {question.title}\n\n"
    if rows.empty:
        return head + "No run of it is there.\n"
    lines = summary(question, rows)
    notes = [f"Mean ± standard deviation over {_reruns(lines)} reruns.", question.note]
    if question.pooled:
        return head + _pooled_table(question, rows) + _paragraph(question.note)
    if lines.paper.notna().any():
        notes.insert(1, "In brackets: the published figure, and ours minus it.")
    if lines.p.notna().any():
        notes.append(note_on_test(question))
    places = [c for c in CELL if c in ("graph", "method") or rows[c].any()]
    table = _head([c.replace("_", " ") for c in (*places, *question.words)], question.quantities)
    for cell, part in lines.groupby(CELL, sort=False):
        where = dict(zip(CELL, cell, strict=True))
        of_cell = (rows[list(where)] == pd.Series(where)).all(axis=1)
        words = [str(rows.loc[of_cell, word].iloc[0]).replace("_", " ") for word in question.words]
        by_key = {line.quantity: line for line in part.itertuples()}
        texts = (
            format_cell(by_key[f.key], f.digits) if f.key in by_key else ""
            for f in question.quantities
        )
        table += _row(*(where[c] for c in places), *words, *texts)
    return head + table + _paragraph(" ".join(filter(None, notes)))


def _pooled_table(question: ResearchQuestion, rows: pd.DataFrame) -> str:
    keys = [f.key for f in question.quantities]
    means = rows.groupby("method")[keys].mean().sort_values(keys[1])
    table = _head(["settings"], question.quantities)
    for label, row in means.iterrows():
        texts = (
            "" if math.isnan(row[f.key]) else f"{row[f.key]:.{f.digits}f}"
            for f in question.quantities
        )
        table += _row(label, *texts)
    return table


def _head(places: Sequence[str], quantities: Sequence[Quantity]) -> str:
    names = [*places, *(f.title for f in quantities)]
    return _row(*names) + "|" + "---|" * len(names) + "\n"


def _row(*cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _reruns(lines: pd.DataFrame) -> str:
    low, high = lines.reruns.min(), lines.reruns.max()
    return str(low) if low == high else f"{low} to {high}"


def _paragraph(text: str) -> str:
    return f"\n{text}\n" if text else ""
