from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bup.errors import BupError
from bup.explanation.inspection import inspect
from bup.propagation import Shares
from dashboard.figures import class_tables, node
from dashboard.ui.numbers import percent_range
from dashboard.ui.theme import Theme
from tests.support.figures import LIGHT, NASTY

TWO = np.array([0.5, 0.6])


def rows(table):
    """The rows of a table of classes: name, number, and left and right end of every mark in %."""
    found = []
    for row in ElementTree.fromstring(table).findall("tbody/tr"):
        marks = {}
        for mark in row.findall("td/div/i"):
            style = dict(part.split(":", 1) for part in mark.get("style").split(";"))
            left = float(style.get("left", "0%")[:-1])
            marks[mark.get("class")] = (left, left + float(style.get("width", "0%")[:-1]))
        found.append((row.find("th").text, row.find("td[@class='number']").text, marks, row.attrib))
    return found


@pytest.mark.parametrize("number", [1, 3, 20])
@pytest.mark.parametrize("theme", [LIGHT, Theme(dark=True, large=True)])
def test_probabilities_are_shown_with_interval_prediction_and_truth(number, theme):
    probs = np.random.RandomState(0).dirichlet(np.ones(number))
    low, high = probs / 2, (1 + probs) / 2
    names = [f"class {i}" for i in range(number)]
    found = rows(class_tables.probability_table(probs, low, high, names, number - 1, theme))
    top = int(probs.argmax())
    for i, (name, text, marks, about) in enumerate(found):
        assert name == names[i] + (" ★" if i == number - 1 else "")
        assert text == ("<0.1%" if probs[i] < 0.0005 else f"{probs[i]:.1%}")
        assert marks["bar"] == pytest.approx((0, 100 * probs[i]), abs=0.006)
        assert marks["span"] == pytest.approx((100 * low[i], 100 * high[i]), abs=0.011)
        assert (about.get("class") == "predicted") == (i == top)
        assert about["title"] == percent_range(low[i], high[i])


def test_probabilities_do_without_interval_and_truth():
    found = rows(
        class_tables.probability_table(np.array([0.5, 0.5]), None, None, ["a", "a"], None, LIGHT)
    )
    assert [list(marks) for *_, marks, _ in found] == [["bar"], ["bar"]]
    assert [name for name, *_ in found] == ["a", "a"]
    assert [a.get("class") for *_, a in found] == ["predicted", None]  # a tie: the lower number


@given(
    arrays.arrays(float, 4, elements=st.floats(-1e4, 1e4)),
    arrays.arrays(float, 4, elements=st.floats(1e-3, 1e3)),
)
def test_a_ridge_spans_three_std_around_its_mean_on_one_scale(mean, std):
    table = class_tables.message_table(mean, std, list("abcd"), LIGHT)
    left, right = (mean - 3 * std).min(), (mean + 3 * std).max()

    def share(value):
        return 100 * (value - left) / (right - left)

    for i, (_, text, marks, _) in enumerate(rows(table)):
        for name, reach in (("ridge", 3), ("span", 1), ("mean", 0)):
            ends = (share(mean[i] - reach * std[i]), share(mean[i] + reach * std[i]))
            assert marks[name] == pytest.approx(ends, abs=0.02)
        assert text == f"{mean[i]:z.2f} ± {std[i]:.2f}"
    for tick in ElementTree.fromstring(table).findall("tfoot/tr/td/div/span"):
        place = float(tick.get("style").removeprefix("left:")[:-1])
        assert 0 <= place <= 100
        assert place == pytest.approx(share(float(tick.text)), abs=0.02)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_round(low, width):
    ticks = class_tables._round_numbers(low, low + width)
    assert len(ticks) <= 6
    steps = np.diff(ticks)
    if len(steps):
        assert np.allclose(steps, steps[0], rtol=1e-3)
        assert f"{steps[0]:.0e}"[0] in "125"


def waterfall(figure, steps):
    """Bars of each step from top to bottom, as (row, start, change), and its two marks."""
    found = []
    for column in range(steps):
        axis = "x" if column == 0 else f"x{column + 1}"
        mine = [t for t in figure.data if (t.xaxis or "x") == axis]
        bars = [b for t in mine if t.type == "bar" for b in zip(t.y, t.base, t.x, strict=True)]
        (marks,) = [t for t in mine if t.type == "scatter"]
        found.append((sorted(bars), marks))
    return found


@settings(max_examples=12, deadline=None)
@example(k=0, steps=2, with_own=False, seed=0)
@example(k=13, steps=1, with_own=False, seed=0)
@example(k=14, steps=2, with_own=True, seed=0)
@given(st.integers(0, 30), st.integers(1, 3), st.booleans(), st.integers(0, 2**31))
def test_the_waterfall_runs_from_before_to_after_without_a_gap(k, steps, with_own, seed):
    random = np.random.RandomState(seed)
    neighbours = random.permutation(100)[:k]
    shares = []
    for _ in range(steps):
        before, change = 1 + random.rand(5), random.randn(k, 5) / 10
        own = random.randn(5) / 10 if with_own else np.zeros(5)
        shares.append(Shares(neighbours, change, own, before, before + own + change.sum(axis=0)))
    figure = node.shares_figure(tuple(shares), [f"n{i}" for i in neighbours], LIGHT)
    names = list(figure.layout.yaxis.ticktext)
    assert names[0] == "before" and names[-1] == "after"
    assert ("the node itself" in names) == with_own
    assert len(names) <= 2 + node.MOST_NEIGHBOURS + 1 + with_own
    clickable = set()
    for step, (bars, marks) in zip(shares, waterfall(figure, steps), strict=True):
        at = step.before.mean()
        for row, (place, start, change) in enumerate(bars, start=1):
            assert place == row and start == pytest.approx(at, abs=1e-12)
            at += change
        assert at == pytest.approx(step.after.mean(), abs=1e-12)
        assert marks.x[0] == step.before.mean() and marks.x[1] == step.after.mean()
        assert marks.y[1] == len(bars) + 1
    for trace in figure.data:
        if trace.customdata is not None:
            for row, neighbour in zip(trace.y, trace.customdata, strict=True):
                assert names[row] == f"n{neighbour}"
                clickable.add(neighbour)
    assert len(clickable) == (k if k <= node.MOST_NEIGHBOURS + 1 else node.MOST_NEIGHBOURS)
    assert (f"{k - node.MOST_NEIGHBOURS} others" in names) == (k > node.MOST_NEIGHBOURS + 1)


def test_the_waterfall_of_a_real_node_names_those_who_matter_most(run, cora):
    hub = int(cora.degree.argmax())
    steps = inspect(cora, run, hub).steps
    ids = [cora.node_id(i) for i in cora.neighbours(hub)]
    figure = node.shares_figure(steps, ids, LIGHT)
    total = np.abs(sum(step.change.mean(axis=1) for step in steps))
    names = figure.layout.yaxis.ticktext[1 : node.MOST_NEIGHBOURS + 1]
    least_shown = min(total[ids.index(name)] for name in names)
    assert np.sum(total > least_shown) <= node.MOST_NEIGHBOURS
    assert figure.layout.yaxis.ticktext[node.MOST_NEIGHBOURS + 1] == (
        f"{len(ids) - node.MOST_NEIGHBOURS} others"
    )
    with pytest.raises(BupError, match="give one each"):
        node.shares_figure(steps, ids[:-1], LIGHT)


def test_what_adds_variance_is_hatched():
    one = np.ones((1, 1))
    steps = (Shares(np.array([7]), one, np.zeros(1), one[0], one[0] * 2),)
    (bar,) = [t for t in node.shares_figure(steps, ["x"], LIGHT).data if t.type == "bar"]
    assert bar.name == "added" and bar.marker.pattern.shape and bar.text == ("+1.000",)


def test_text_from_the_data_is_never_markup_in_a_table_of_classes():
    for table in (
        class_tables.probability_table(TWO, TWO, TWO, [NASTY, "b"], 0, LIGHT),
        class_tables.message_table(TWO, TWO + 1, [NASTY, "b"], LIGHT),
    ):
        assert "<img" not in table and "<b>" not in table
        assert rows(table)[0][0].startswith(NASTY)
