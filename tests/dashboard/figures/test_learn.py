"""The lessons' charts: what they draw is what was computed."""

import numpy as np
import pytest
import torch

from bup import likelihood, metrics
from bup.explanation import loss_surface
from dashboard.figures.learn.dots import MOST_DOTS, dots_figure
from dashboard.figures.learn.landscape import HIGHEST_LOSS, landscape_figure
from dashboard.figures.learn.messages import (
    DENSEST,
    densities_figure,
    messages_figure,
    wins_figure,
)
from dashboard.figures.learn.networks import NetworkAnswers, networks_figure
from dashboard.figures.learn.rules import rule_figures
from dashboard.figures.learn.thresholds import answers_figure, drawn_roc_figure, threshold_figure
from dashboard.figures.learn.truth import truth_figure
from dashboard.learn import loss as loss_lesson
from dashboard.learn.loss import MARGINS, STDS
from dashboard.learn.message import GRID
from dashboard.learn.sketch import PRESETS, RULES
from dashboard.ui.theme import Theme

THEMES = [Theme(), Theme(dark=True, large=True)]


@pytest.mark.parametrize("theme", THEMES)
def test_rules_share_one_scale_and_end_where_they_should(theme):
    sketch = PRESETS["Two communities"].with_variance(0, 3.0)
    steps = {rule: sketch.shares(1, rule) for rule in RULES}
    drawn = rule_figures(steps, [sketch.names[j] for j in sketch.neighbours(1)], theme)
    assert len({tuple(figure.layout.xaxis.range) for figure in drawn.values()}) == 1
    for rule, figure in drawn.items():
        (bars,) = figure.data
        assert (bars.x[0], bars.x[-1]) == (1.0, pytest.approx(float(steps[rule].after[0])))
        assert sum(bars.x[:-1]) == pytest.approx(bars.x[-1])
        assert len(figure.layout.yaxis.ticktext) == len(bars.x) == len(bars.text)


def test_areas_of_messages_are_equal_and_their_axes_stay():
    draw, areas = np.zeros(3), []
    frames = []
    for stds in ([0.05, 0.5, 3.0], [1.0, 1.0, 1.0]):
        figure = messages_figure([1, 0, -1], stds, "abc", draw, Theme())
        areas += [np.trapezoid(t.y, t.x) for t in figure.data if t.mode == "lines"]
        frames.append((figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert areas == pytest.approx([1] * 6, abs=1e-3) and frames[0] == frames[1]


def test_a_narrow_density_is_no_triangle():
    rows = torch.tensor([1.0, 0.9, 0.8]).double(), torch.tensor([0.05, 3.0, 3.0]).double() ** 2
    density = np.stack([likelihood.probability_density(*rows, c, GRID) for c in range(3)])
    chances = likelihood.probability_distribution(rows[0][None], rows[1][None])
    figure = densities_figure(GRID.numpy(), density, chances, "abc", Theme())
    outline = figure.data[0]
    assert len(outline.x) / 2 > 20 and max(np.diff(outline.x[: len(outline.x) // 2])) < 0.003
    assert np.trapezoid(density[0], GRID.numpy()) == pytest.approx(1, abs=0.01)


def test_messages_peak_at_their_means_and_mark_the_draw():
    draw = np.array([0.2, 1.5, -1.0])
    figure = messages_figure([1, 0, -1], [0.5, 1, 2], "abc", draw, Theme())
    curves = [trace for trace in figure.data if trace.mode == "lines"]
    assert [curve.x[np.argmax(curve.y)] for curve in curves] == pytest.approx([1, 0, -1])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [mark.x[0] for mark in marks] == draw.tolist()
    assert max(marks, key=lambda mark: mark.marker.size).x[0] == 1.5


def test_wins_count_every_draw_once():
    draws = np.array([[3.0, 0, 0, 5], [1, 2, 0, 1], [0, 0, 9, 4]])
    figure = wins_figure(draws, np.array([0.5, 0.25, 0.25]), "abc", Theme())
    assert np.bincount(np.array(figure.data[0].y)).tolist() == [2, 1, 1]
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5, 0.25, 0.25]


def test_densities_show_interval_and_mean():
    rows = torch.tensor([[1.0, 0.2, -0.5]]), torch.tensor([[0.3, 0.3, 1.0]])
    chances = likelihood.probability_distribution(*rows)
    grid = torch.linspace(0.01, 0.99, 99)
    density = np.stack(
        [likelihood.probability_density(rows[0][0], rows[1][0], c, grid) for c in range(3)]
    )
    figure = densities_figure(grid.numpy(), density, chances, "abc", Theme())
    spans = [trace.x for trace in figure.data if trace.mode == "lines" and len(trace.x) == 2]
    assert np.allclose(spans, np.stack([chances.low[0], chances.high[0]], 1))
    means = [trace.x[0] for trace in figure.data if trace.mode == "markers"]
    assert np.allclose(means, chances.mean[0])
    ridges = [trace for trace in figure.data if trace.fill == "toself"]
    for row, ridge in enumerate(ridges):
        height = 0.75 * min(density[row].max() / DENSEST, 1)
        assert max(ridge.y) - min(ridge.y) == pytest.approx(height)


@pytest.mark.parametrize("theme", THEMES)
def test_answers_and_flags_are_counted_at_the_threshold(theme):
    random = np.random.RandomState(0)
    values, unseen = random.random_sample(200), np.arange(200) < 50
    figure = answers_figure(
        {"a": (values[~unseen], False), "b": (values[unseen], True)}, 0.5, theme
    )
    solid = [trace for trace in figure.data if trace.marker.opacity == 1]
    shares = [(values[~unseen] >= 0.5).mean(), (values[unseen] >= 0.5).mean()]
    assert [sum(trace.y) for trace in solid] == pytest.approx(shares)
    figure = threshold_figure(values, unseen, 0.5, "doubt", theme)
    solid = [trace for trace in figure.data if trace.marker.opacity == 1]
    assert [sum(trace.y) for trace in solid] == pytest.approx(shares)


def test_the_roc_curve_is_drawn_as_far_as_the_threshold():
    random = np.random.RandomState(1)
    unseen = np.arange(300) < 100
    doubt = random.standard_normal(300) + unseen
    for threshold in (9.0, 0.5, -9.0):
        figure = drawn_roc_figure(doubt, unseen, threshold, Theme())
        drawn, here = figure.data[1], figure.data[2]
        flagged = doubt >= threshold
        assert (here.x[0], here.y[0]) == (flagged[~unseen].mean(), flagged[unseen].mean())
        assert (drawn.x[-1], drawn.y[-1]) == (here.x[0], here.y[0])
        assert (np.diff(drawn.x) >= 0).all() and (np.diff(drawn.y) >= 0).all()


def test_dots_fill_only_the_bins_that_were_swept():
    random = np.random.RandomState(2)
    probs = random.dirichlet([1, 1, 1], 900)
    labels = random.randint(3, size=900)
    bins = metrics.reliability_bins(probs, labels, 10)
    sure, right = metrics.confidence(probs), metrics.hits(probs, labels)
    for sweep in (0.0, 0.55, 1.0):
        figure = dots_figure(bins, sure, right, sweep, Theme())
        bars = figure.data[0]
        swept = (bins.edges[1:] <= sweep) & (bins.count > 0)
        np.testing.assert_allclose(bars.y, bins.accuracy[swept])
        dots = [trace for trace in figure.data if trace.name in ("right", "wrong")]
        assert sum(len(trace.x) for trace in dots) == MOST_DOTS


def test_the_arrow_points_downhill():
    margins, stds = np.linspace(-3, 3, 7), np.linspace(0.2, 3, 5)
    for margin in (1.0, -1.0):
        point = loss_surface.point(margin, 1.0, 3, "exact")
        values = loss_surface.surface(margins, stds, 3, "exact")
        figure = landscape_figure(margins, stds, values, point, (margin, 1.0), Theme())
        arrow = figure.layout.annotations[0]
        assert np.max(figure.data[0].z) <= HIGHEST_LOSS
        end = loss_surface.point(arrow.x, max(arrow.y, 0.05), 3, "exact")
        assert end.loss < point.loss
        assert np.sign(arrow.y - 1.0) == -np.sign(margin)  # doubt pays only where wrong


@pytest.mark.parametrize("theme", THEMES)
def test_networks_stay_at_their_height_and_the_axis_where_it_is(theme):
    few = [NetworkAnswers("a", [0.1, 0.9, 0.5], 0.8), NetworkAnswers("b", [0.4, 0.6, 0.2], None)]
    many = [paper._replace(values=[0.7, 0.72, 0.75]) for paper in few]
    drawn = [networks_figure(rows, ("A", "B"), theme) for rows in (few, many)]
    assert drawn[0].data[0].y == drawn[1].data[0].y
    assert drawn[0].layout.xaxis == drawn[1].layout.xaxis
    assert list(drawn[0].data[0].x) == [0.1, 0.9, 0.5, 0.4, 0.6, 0.2]
    assert list(drawn[0].data[1].x) == [0.8], "a stranger has no truth on this axis"
    said = {note.text for note in drawn[0].layout.annotations}
    assert {"<b>10% to 90%</b>", "<b>20% to 60%</b>"} <= said


def test_a_click_and_a_hover_are_of_the_loss_at_that_place(monkeypatch):
    point = loss_surface.point(1.0, 1.0, 3, "exact")
    values = loss_surface.surface(MARGINS, STDS, 3, "exact")
    figure = landscape_figure(MARGINS, STDS, values, point, (1.0, 1.0), Theme())
    (places,) = [trace for trace in figure.data if trace.name == "places"]
    for x, y, loss in list(zip(places.x, places.y, places.customdata, strict=True))[::40]:
        assert loss == pytest.approx(loss_surface.point(x, y, 3, "exact").loss, abs=6e-3)
    (here,) = np.flatnonzero((places.x == 1.0) & (places.y == 1.0))
    assert f"{places.customdata[here]:.2f}" == f"{point.loss:.2f}"
    state = {"landscape_exact": {"selection": {"points": [{"x": -1.0, "y": 2.2}]}}, "margin": 1.0}
    monkeypatch.setattr(loss_lesson.st, "session_state", state)
    loss_lesson._moved("landscape_exact")
    assert (state["margin"], state["std"]) == (-1.0, 2.2)
    state["landscape_exact"]["selection"]["points"] = []  # clicked once more
    loss_lesson._moved("landscape_exact")
    assert (state["margin"], state["std"]) == (-1.0, 2.2)


def test_truth_splits_right_and_wrong():
    correct = np.array([True, False, True])
    figure = truth_figure(np.array([0.9, 0.6, 0.4]), np.ones(3), correct, Theme())
    assert list(figure.data[0].x) == [0.9, 0.4] and list(figure.data[1].x) == [0.6]
