"""The picked node in two lines, for every page: plain HTML, which screen readers can read."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bup.graph.noun import Noun
from dashboard.ui.numbers import counted, percent, percent_range
from dashboard.ui.theme import IN, Theme

STYLE = (Path(__file__).parent / "card.css").read_text(encoding="utf-8")


def card_html(
    name: str,
    row: pd.Series,
    score: str,
    label: str,
    rank: float,
    noun: Noun,
    theme: Theme,
    run: str = "",
    reason: str = "",
) -> str:
    """A row of the node table in words; ``rank`` is the share of nodes that are surer, ``run``
    names the run where the page does not, and ``reason`` is HTML that says why."""
    verdict, mark, colour = _verdict(row, theme)
    facts = [
        run,
        f"{label} {row[score]:.3g}: less sure than {rank:.0%} of the {noun.many}",
        counted(int(row.degree), "link"),
        "not used in this run" if row.part == "unused" else f"{row.part} {noun.one}",
        _distance(row.distance, noun),
    ]
    return (
        f'<div class="picked" role="status"><p><b>{escape(name)}</b>:'
        f" the model says <b>{escape(str(row.predicted))}</b>, "
        f"{percent(row.confidence, 0)} sure. "
        f'<span class="mark" style="color:{colour}">{mark}</span> {verdict}</p>'
        f"<p>{reason}</p>"
        f'<p class="facts">{escape(" · ".join(fact for fact in facts if fact))}</p></div>'
    )


def _verdict(row: pd.Series, theme: Theme) -> tuple[str, str, str]:
    """What is true, a mark and its colour."""
    true = f"<b>{escape(str(row.true))}</b>"
    if row.ood:
        return f"It is {true}, a class never shown.", "◆", "#E69F00" if theme.dark else "#8A5A00"
    if pd.isna(row.correct):
        return "Its true class is not known.", "○", theme.text
    if row.correct:
        return "That is right.", "✓", "#4FC3A1" if theme.dark else "#00694C"
    return f"That is wrong: it is {true}.", "✕", "#FF8A5B" if theme.dark else "#A63F00"


def _distance(distance: float, noun: Noun) -> str:
    if np.isnan(distance):
        return f"no path to a training {noun.one}"
    if distance == 0:
        return ""
    return f"{counted(round(distance), 'link')} from the nearest training {noun.one}"


class MethodAnswer(NamedTuple):
    """What one method says of a node."""

    method: str
    answer: str
    right: bool | None  # None: the true class is unknown or was left out
    confidence: float
    span: tuple[float, float] | None  # the credible interval of that probability
    score: str  # the name of the method's own uncertainty
    doubt: float
    rank: float  # the share of nodes of which it is surer


def answers_table(answers: Sequence[MethodAnswer], theme: Theme) -> str:
    """A row per method: answer, confidence with its interval, uncertainty."""
    rows = []
    for v in answers:
        mark = {True: "✓ ", False: "✕ ", None: ""}[v.right]
        bar = f'<i class="bar" style="width:{100 * v.confidence:.2f}%;background:{IN}90"></i>'
        span = "not given"
        if v.span is not None:
            low, high = v.span
            span = escape(percent_range(low, high))
            bar += (
                f'<i class="span" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%">'
                "</i>"
            )
        rows.append(
            f'<tr><th scope="row">{escape(v.method)}</th><td>{mark}<b>{escape(v.answer)}</b></td>'
            f'<td>{percent(v.confidence, 0)}</td><td class="plot"><div>{bar}</div></td>'
            f"<td>{span}</td><td>{escape(v.score)} {v.doubt:.3g}, above {v.rank:.0%}</td></tr>"
        )
    head = "".join(
        f'<th scope="col">{words}</th>'
        for words in ("Method", "Answer", "Confidence", "", "90% interval", "Uncertainty")
    )
    return (
        f'<table class="verdicts" style="--faint:{theme.faint}" '
        f'aria-label="This {theme.noun.one} under each method">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
