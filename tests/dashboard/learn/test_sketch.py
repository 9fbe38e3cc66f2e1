"""The graph that a student draws: every edit, and what the lesson says about the rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bup
from dashboard.learn.sketch import MOST_NODES, PRESETS, Sketch, rules

PAIR = PRESETS["Hub of leaves"]


def after(sketch: Sketch, node: int, rule: str) -> float:
    return float(sketch.shares(node, rule).after[0])


def test_edits_leave_the_old_sketch_alone():
    linked = PAIR.with_link(2, 0)
    assert (0, 2) in linked.links and (0, 2) not in PAIR.links
    assert linked.without_link(0, 2) == PAIR == PAIR.with_link(1, 1)
    assert linked.neighbours(0) == [1, 2]
    assert PAIR.with_neighbours(0, [3, 4]).neighbours(0) == [3, 4]
    assert PAIR.with_variance(1, 4.0).variances[1] == 4.0 and PAIR.variances[1] == 1.0


def test_a_removed_node_takes_its_links_along():
    smaller = PAIR.with_selected(1).without_node(1)
    assert smaller.names == ("A", *PAIR.names[2:])
    assert len(smaller.links) == len(PAIR.links) - 1
    assert smaller.neighbours(smaller.names.index("C")) == list(range(2, 9))
    assert smaller.names[smaller.selected] == "A"  # its neighbour is looked at instead
    assert smaller.with_node(0).names[-1] == "B"  # a letter that is free again


def test_a_new_node_is_linked_and_inside_the_drawing():
    for place in (None, (-3.0, 0.5), (0.4, 7.0)):
        grown = PAIR.with_node(0, place)
        assert grown.neighbours(len(PAIR.names)) == [0]
        assert all(0 <= v <= 1 for v in grown.places[-1])


def test_limits_are_explained():
    full = PAIR
    while len(full.names) < MOST_NODES:
        full = full.with_node(0)
    with pytest.raises(bup.BupError, match="remove one"):
        full.with_node(0)
    with pytest.raises(bup.BupError, match="no node 99"):
        PAIR.with_selected(99)
    lonely = Sketch(("A",), ((0.5, 0.5),), (1.0,), frozenset())
    with pytest.raises(bup.BupError, match="at least one node"):
        lonely.without_node(0)
    assert lonely.after("paper").tolist() == [1.0]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("rule", rules())
def test_presets_are_sound_under_every_rule(name, rule):
    values = PRESETS[name].after(rule)
    assert np.isfinite(values).all() and (values > 0).all()
    if rule == "paper":
        np.testing.assert_allclose(values, PRESETS[name].under("paper").factor)


@given(st.floats(0.1, 5))
def test_the_neighbours_variance_cancels_under_the_papers_rule_only(variance):
    changed = PAIR.with_variance(1, variance)
    assert after(changed, 0, "paper") == after(PAIR, 0, "paper") == 0.75
    assert after(changed, 0, "evidence") == pytest.approx(1 / (1 + 1 / (variance + 1)))


def test_a_link_to_the_hub_adds_variance_under_the_papers_rule_only():
    linked = PAIR.with_link(0, 2)
    assert after(linked, 0, "paper") == pytest.approx(1 - (1 / 2 + 1 / 9) / 3)
    assert after(linked, 0, "paper") > after(PAIR, 0, "paper")
    assert after(linked, 0, "evidence") == pytest.approx(1 / 2)
    assert after(linked, 0, "evidence") < after(PAIR, 0, "evidence")


def test_averaging_can_leave_a_hub_less_sure_than_all_its_neighbours():
    hub = 2
    assert PAIR.after("gcn")[hub] > max(PAIR.variances)
