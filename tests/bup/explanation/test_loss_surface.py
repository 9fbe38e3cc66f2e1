"""What losses make of doubt: against closed forms, and the claims that lesson 4 prints."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, logsumexp

from bup import likelihood
from bup.explanation.loss_surface import LOSSES, point, surface

margins = st.floats(-3, 3)
stds = st.floats(0.2, 3)
classes = st.integers(2, 7)


@given(margins, stds, classes)
def test_cross_entropy_and_erf_by_hand(margin, std, classes):
    by_hand = logsumexp([margin, *[0.0] * (classes - 1)]) - margin
    assert point(margin, std, classes, "cross-entropy").loss == pytest.approx(by_hand)
    by_hand = -(classes - 1) * log_ndtr(margin / (np.sqrt(2) * std))
    assert point(margin, std, classes, "erf").loss == pytest.approx(by_hand)


@given(margins, stds, classes)
def test_the_product_is_never_above_the_exact_probability(margin, std, classes):
    product, exact = (point(margin, std, classes, rule).probability for rule in ("erf", "exact"))
    assert product <= exact + 1e-6
    if classes == 2:
        assert product == pytest.approx(exact, abs=1e-6)


def test_the_product_is_a_lower_bound_for_any_message():
    random = torch.Generator().manual_seed(0)
    mean = torch.randn(400, 5, generator=random, dtype=torch.float64)
    var = torch.rand(400, 5, generator=random, dtype=torch.float64) * 4 + 0.05
    products = torch.stack(
        [likelihood.log_likelihood(mean, var, torch.full([400], c)).exp() for c in range(5)], 1
    )
    exact = likelihood.class_probabilities(mean, var)
    assert (products <= exact + 1e-8).all()
    assert (products.sum(1) < 1).all() and products.sum(1).min() < 0.7


@given(st.floats(0.1, 3), stds, classes)
def test_doubt_costs_where_right_and_pays_where_wrong(margin, std, classes):
    for rule in ("erf", "exact"):
        assert point(margin, std, classes, rule).by_std >= 0
        assert point(-margin, std, classes, rule).by_std < 0
        # At margin 0 the chances are even whatever the width.
        assert point(0.0, std, classes, rule).by_std == pytest.approx(0, abs=1e-4)
    assert point(margin, std, classes, "cross-entropy").by_std == 0
    assert point(0.0, std, classes, "exact").probability == pytest.approx(1 / classes, abs=1e-5)


@pytest.mark.parametrize("rule", LOSSES)
def test_slopes_are_those_of_the_surface(rule):
    h = 1e-4
    values = surface(np.array([0.7 - h, 0.7, 0.7 + h]), np.array([0.9 - h, 0.9, 0.9 + h]), 4, rule)
    found = point(0.7, 0.9, 4, rule)
    assert values[1, 1] == pytest.approx(found.loss, rel=1e-6)
    assert (values[1, 2] - values[1, 0]) / (2 * h) == pytest.approx(found.by_margin, abs=1e-4)
    assert (values[2, 1] - values[0, 1]) / (2 * h) == pytest.approx(found.by_std, abs=1e-4)
