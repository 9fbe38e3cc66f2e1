"""Tables with bars about one node, class by class: plain HTML, which screen readers can read."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from bup.propagation import Breakdown
from dashboard.ui.numbers import percent, percent_range
from dashboard.ui.theme import IN, OUT, Theme, score_colours

# The bell of a Gaussian from three standard deviations below its mean to three above.
_Z = np.linspace(-3, 3, 41)
_BELL = ", ".join(
    f"{x:.1f}% {y:.1f}%"
    for x, y in zip(100 * (_Z + 3) / 6, 100 * (1 - np.exp(-(_Z**2) / 2)), strict=True)
)

_PERCENT_TICKS = {0.0: "0%", 25.0: "", 50.0: "50%", 75.0: "", 100.0: "100%"}

_SHEET = (Path(__file__).parent / "class_tables.css").read_text(encoding="utf-8")
STYLE = Template(_SHEET).substitute(known=IN, other=OUT, bell=_BELL)


def probability_table(
    probs: np.ndarray,
    low: np.ndarray | None,
    high: np.ndarray | None,
    class_names: Sequence[str],
    true_index: int | None,
    theme: Theme,
) -> str:
    """The probability of each class with its credible interval, prediction and truth marked.

    ``low`` and ``high`` are None for methods that give no interval.
    """
    predicted = int(np.argmax(probs))
    rows = []
    for i, (name, p) in enumerate(zip(class_names, probs, strict=True)):
        marks = f'<i class="bar" style="width:{100 * p:.2f}%"></i>'
        span = ""
        if low is not None and high is not None:
            marks += _span(100 * low[i], 100 * high[i])
            span = percent_range(low[i], high[i])
        star = " ★" if i == true_index else ""
        rows.append(_row(name, star, marks, percent(p), span, i == predicted))
    paler = IN + ("A0" if theme.dark else "70")
    return _table("Probability of each class", rows, _PERCENT_TICKS, theme, paler)


def compared_table(
    probs: Sequence[np.ndarray] | np.ndarray,
    labels: tuple[str, str],
    class_names: Sequence[str],
    theme: Theme,
    joint: str = "→",
) -> str:
    """Two answers, class by class: a bar for each; ``joint`` stands between their percentages."""
    pale, strong = OUT, IN
    rows = []
    for name, one, two in zip(class_names, *probs, strict=True):
        marks = (
            f'<i class="first" style="width:{100 * one:.2f}%;background:{pale}"></i>'
            f'<i class="second" style="width:{100 * two:.2f}%;background:{strong}"></i>'
        )
        leads = name in (class_names[int(np.argmax(p))] for p in probs)
        rows.append(_row(name, "", marks, f"{percent(one)} {joint} {percent(two)}", "", leads))
    legend = " &nbsp; ".join(
        f'<i class="swatch" style="background:{colour}"></i> {escape(label)}'
        for label, colour in zip(labels, (pale, strong), strict=True)
    )
    table = _table("Probability of each class, twice", rows, _PERCENT_TICKS, theme)
    return f'<div class="classes">{legend}</div>{table}'


def facts_table(labels: tuple[str, str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The same facts about two things, as text."""
    titles = "".join(f'<th scope="col">{escape(label)}</th>' for label in labels)
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(value)}</td>" for value in values)
        + "</tr>"
        for name, values in rows
    )
    return (
        '<table class="classes facts"><thead><tr><td></td>'
        f"{titles}</tr></thead><tbody>{lines}</tbody></table>"
    )


def message_table(
    mean: np.ndarray, std: np.ndarray, class_names: Sequence[str], theme: Theme
) -> str:
    """The Gaussian of each class's message: a ridge with its mean and one std either way.

    Ridges are equally high: their width is the uncertainty.
    """
    left, right = float((mean - 3 * std).min()), float((mean + 3 * std).max())
    scale = 100 / ((right - left) or 1.0)
    rows = []
    for name, m, s in zip(class_names, mean, std, strict=True):
        at = scale * (m - left)
        marks = (
            f'<i class="ridge" style="left:{at - 3 * scale * s:.2f}%;width:{6 * scale * s:.2f}%">'
            "</i>"
            + _span(at - scale * s, at + scale * s)
            + f'<i class="mean" style="left:{at:.2f}%"></i>'
        )
        rows.append(_row(name, "", marks, f"{m:z.2f} ± {s:.2f}", "", False))
    ticks = {scale * (tick - left): f"{tick:.10g}" for tick in _round_numbers(left, right)}
    return _table("Message of each class, mean and standard deviation", rows, ticks, theme)


def breakdown_table(breakdown: Breakdown, theme: Theme) -> str:
    """Numbers that add up to something, as bars; a line marks what is usual on this graph."""
    longest = max(*breakdown.values, *breakdown.usual, 1e-9)
    rows = []
    for name, value, usual in zip(breakdown.names, breakdown.values, breakdown.usual, strict=True):
        marks = (
            f'<i class="bar" style="width:{100 * value / longest:.2f}%"></i>'
            f'<i class="usual" style="left:{100 * usual / longest:.2f}%"></i>'
        )
        rows.append(_row(name, "", marks, f"{value:.2f}", f"usual: {usual:.2f}", False))
    ticks = {100 * t / longest: f"{t:.10g}" for t in _round_numbers(0.0, longest)}
    return _table(escape(breakdown.title), rows, ticks, theme)


def score_bar(label: str, low: float, high: float, doubt: bool, theme: Theme) -> str:
    """The legend of a score's colours."""
    colours = ", ".join(score_colours(np.linspace(0, 1, 12), theme, doubt))
    label = escape(label)
    return (
        f'<div class="score-bar" role="img" aria-label="Colours: {label}, from {low:.3g} to '
        f'{high:.3g}"><span>{low:.3g}</span>'
        f'<i style="background:linear-gradient(to right, {colours})"></i>'
        f"<span>{high:.3g}</span> <b>{label}</b></div>"
    )


def _span(start: float, end: float) -> str:
    return f'<i class="span" style="left:{start:.2f}%;width:{end - start:.2f}%"></i>'


def _row(name: str, star: str, marks: str, number: str, hover: str, predicted: bool) -> str:
    kind = ' class="predicted"' if predicted else ""
    title = f' title="{escape(hover)}"' if hover else ""
    return (
        f'<tr{kind}{title}><th scope="row">{escape(name)}{star}</th>'
        f'<td class="plot"><div>{marks}</div></td><td class="number">{escape(number)}</td></tr>'
    )


def _table(
    label: str, rows: Iterable[str], ticks: dict[float, str], theme: Theme, others: str = IN
) -> str:
    """``others`` is the colour of bars of classes that are not predicted."""
    grid = ",".join(
        f"linear-gradient({theme.faint} 0 0) {at:.2f}% 0/1px 100% no-repeat" for at in ticks
    )
    axis = "".join(f'<span style="left:{at:.2f}%">{text}</span>' for at, text in ticks.items())
    return (
        f'<table class="classes" aria-label="{label}" style="--grid:{grid};--others:{others}">'
        f"<tbody>{''.join(rows)}</tbody>"
        '<tfoot aria-hidden="true"><tr><td></td><td class="plot ticks">'
        f"<div>{axis}</div></td><td></td></tr></tfoot></table>"
    )


def _round_numbers(low: float, high: float) -> list[float]:
    """At most five multiples of 1, 2 or 5 times a power of ten between two numbers."""
    if high <= low:
        return [low]
    power = 10.0 ** np.floor(np.log10((high - low) / 5))
    step = next(s * power for s in (1, 2, 5, 10) if (high - low) / (s * power) <= 5)
    count = np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return [round(float(k * step), 10) for k in count]
