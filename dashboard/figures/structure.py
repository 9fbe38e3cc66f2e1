"""Does uncertainty follow the graph? Charts of scores against a node's place in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bup.errors import BupError
from dashboard.figures.style import LOG_AXIS, apply_style, error_bars, escape_markup, line, marker
from dashboard.ui.theme import IN, OUT, Theme

MOST_POINTS = 20_000
"""For more nodes a chart shows their density instead of a point for each."""
_ACROSS, _UP = 60, 60  # cells


@dataclass(frozen=True, eq=False)
class BinnedMedians:
    """The median of y among nodes of similar x; every bin holds a node."""

    x: np.ndarray  # [b] median
    first: np.ndarray  # [b] smallest x
    last: np.ndarray  # [b] largest x
    count: np.ndarray  # [b]
    median: np.ndarray  # [b]
    low: np.ndarray  # [b] 95 % bootstrap interval of the median
    high: np.ndarray  # [b]


def binned_medians(x: np.ndarray, y: np.ndarray, bins: int = 20) -> BinnedMedians:
    """Cut the nodes at the quantiles of x, equal x always together, and take medians of y.

    Pairs of which a member is not a finite number are left out.
    """
    x, y = _finite(x, y)
    cuts = np.unique(np.quantile(x, np.arange(1, bins) / bins))
    member = np.searchsorted(cuts, x, side="right")
    # RandomState: NumPy promises that its stream never changes, so an interval stays what it was.
    random = np.random.RandomState(0)
    rows = []
    for b in np.unique(member):
        of_x, of_y = x[member == b], np.sort(y[member == b])
        low, high = np.quantile(_resampled_medians(of_y, 1000, random), [0.025, 0.975])
        spread = (np.median(of_x), of_x.min(), of_x.max(), len(of_x))
        rows.append((*spread, np.median(of_y), low, high))
    return BinnedMedians(*np.array(rows).T)


def _resampled_medians(
    ordered: np.ndarray, resamples: int, random: np.random.RandomState
) -> np.ndarray:
    """Medians [resamples] of bootstrap resamples of sorted values, without drawing the resamples.

    A resample draws n places uniformly; the k-th smallest of n uniform numbers is Beta(k, n-k+1),
    and the next one is the smallest of the n-k numbers above it.
    """
    n = len(ordered)
    k = (n + 1) // 2
    place = random.beta(k, n - k + 1, resamples)
    middle = ordered[(n * place).astype(int).clip(max=n - 1)]
    if n % 2:
        return middle
    place = 1 - (1 - place) * random.random_sample(resamples) ** (1 / (n - k))
    return (middle + ordered[(n * place).astype(int).clip(max=n - 1)]) / 2


def place_and_score(table: pd.DataFrame, axis: str, score: str) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of a node table; a degree counts the node itself, because logs have no zero."""
    return table[axis].to_numpy(float) + (axis == "degree"), table[score].to_numpy()


def against_figure(
    x: np.ndarray,
    y: np.ndarray,
    nodes: np.ndarray,
    ids: Sequence[str],
    theme: Theme,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    binned: BinnedMedians | None = None,
) -> go.Figure:
    """A score of every node against its place in the graph, with medians of similar nodes."""
    figure = go.Figure()
    _add_points(figure, x, y, nodes, ids, (x_label.partition(" (")[0], y_label), theme)
    if binned is not None:
        _add_medians(figure, binned, theme)
    x_axis = {"title": escape_markup(x_label)} | (LOG_AXIS if log_x else {})
    y_axis = {"title": escape_markup(y_label)}
    return apply_style(figure, theme, 420, x=x_axis, y=y_axis)


def factor_figure(
    degree: np.ndarray,
    factor: np.ndarray,
    std: np.ndarray | None,
    nodes: np.ndarray,
    ids: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """What a rule multiplies a node's variance by, above the std of its message."""
    if std is None:
        raise BupError("this method gives its messages no variance to compare: choose bup")
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07)
    for row, values in enumerate((factor, std), start=1):
        place = {"row": row, "col": 1, "showlegend": row == 1}
        words = ("degree", "factor" if row == 1 else "message uncertainty")
        _add_points(figure, degree, values, nodes, ids, words, theme, **place)
        _add_medians(figure, binned_medians(degree, values), theme, **place)
    apply_style(figure, theme, 560, x=LOG_AXIS)
    figure.update_xaxes(title=theme.noun.apply_to("degree (linked nodes + 1)"), row=2)
    figure.update_yaxes(title="factor of the rule", row=1)
    return figure.update_yaxes(title="message uncertainty", row=2)


def points_caption(count: int, theme: Theme) -> str:
    """What a chart of this many nodes says of its points."""
    if count <= MOST_POINTS:
        return theme.noun.apply_to("Click a point to pick its node.")
    return theme.noun.apply_to(
        f"Of more than {MOST_POINTS:,} nodes the chart shows how many are where: the stronger the "
        "colour, the more, on a log scale."
    )


def _add_points(
    figure: go.Figure,
    x: np.ndarray,
    y: np.ndarray,
    nodes: np.ndarray,
    ids: Sequence[str],
    words: tuple[str, str],
    theme: Theme,
    **place: object,
) -> None:
    if len(x) > MOST_POINTS:
        return _add_density(figure, x, y, theme, **place)
    x, y, nodes, names = _finite(x, y, nodes, np.array(ids, dtype=object))
    across, up = (escape_markup(word[0].lower() + word[1:]) for word in words)
    figure.add_scattergl(
        x=x,
        y=y,
        customdata=nodes,
        text=[escape_markup(name) for name in names],
        mode="markers",
        marker=marker(IN, 6, opacity=0.6 if theme.dark else 0.35),
        selected={"marker": marker(OUT, 12, opacity=1)},
        unselected={"marker": {"opacity": 0.25}},
        hovertemplate=f"{theme.noun.one} %{{text}}<br>{across} %{{x:.3g}}<br>{up} %{{y:.3g}}"
        "<extra></extra>",
        name=theme.noun.many,
        **place,
    )


def _add_density(
    figure: go.Figure, x: np.ndarray, y: np.ndarray, theme: Theme, **place: object
) -> None:
    """The number of nodes in each cell of a grid; the more, the stronger the colour."""
    x, y = _finite(x, y)
    few = np.unique(x)
    if len(few) > _ACROSS:  # as many cells as fit, each with about as many distinct values
        few = few[np.linspace(0, len(few) - 1, _ACROSS).astype(int)]
    edges = np.concatenate([few[:1] * 0.95, (few[1:] + few[:-1]) / 2, few[-1:] * 1.05])
    counts, _, heights = np.histogram2d(x, y, bins=(edges, _UP))
    shade = np.where(counts > 0, np.log10(np.maximum(counts, 1)) + 0.3, np.nan)
    figure.add_heatmap(
        x=edges,
        y=heights,
        z=shade.T,
        text=counts.astype(int).T,
        colorscale=[[0, theme.background], [1, IN]],
        zmin=0,
        showscale=False,
        hoverongaps=False,
        hovertemplate=f"%{{text:,}} {theme.noun.many}<extra></extra>",
        name=theme.noun.many,
        **{key: value for key, value in place.items() if key != "showlegend"},
    )


def _add_medians(figure: go.Figure, b: BinnedMedians, theme: Theme, **place: object) -> None:
    # In WebGL like the points, which would cover it otherwise; a density needs no WebGL.
    add = figure.add_scatter if b.count.sum() > MOST_POINTS else figure.add_scattergl
    add(
        x=b.x,
        y=b.median,
        mode="lines+markers",
        line=line(theme.text, 2),
        marker=marker(OUT, 9, "diamond", line(theme.text, 1.5)),
        unselected={"marker": {"opacity": 1}},
        error_y=error_bars(b.median, b.low, b.high, theme.text),
        text=[
            f"{theme.noun.count(int(count))} from {first:.3g} to {last:.3g}<br>"
            f"median {median:.3g} ({low:.3g} to {high:.3g})"
            for count, first, last, median, low, high in zip(
                b.count, b.first, b.last, b.median, b.low, b.high, strict=True
            )
        ],
        hovertemplate="%{text}<extra></extra>",
        name=theme.noun.apply_to("median of similar nodes, 95% interval"),
        **place,
    )


def _finite(x: np.ndarray, y: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
    """The pairs without a masked, missing or infinite member, and what belongs to them."""
    x, y = (np.ma.filled(np.ma.asarray(v, dtype=float), np.nan) for v in (x, y))
    finite = np.isfinite(x) & np.isfinite(y)
    if not finite.any():
        raise BupError("no node has both values: there is nothing to draw; choose another axis")
    return tuple(np.asarray(v)[finite] for v in (x, y, *others))
