from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bup.calibrators import Outputs, spread
from bup.likelihood import (
    DISTRIBUTIONS,
    class_probabilities,
    probability_density,
    probability_distribution,
)
from tests.support.likelihood import messages


def test_the_mean_of_the_distribution_is_the_class_probability() -> None:
    mean, var, _ = messages(17, 20, 5)
    std = var.sqrt()
    t = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    x = mean[..., None] + std[..., None] * t  # [n, c, t]
    z = (x[:, :, None] - mean[:, None, :, None]) / std[:, None, :, None]
    cdf = torch.special.ndtr(z)
    cdf[:, range(5), range(5)] = 1
    expected = torch.trapezoid(cdf.prod(2) * (-t * t / 2).exp() / math.sqrt(2 * math.pi), t)
    found = probability_distribution(mean, var)
    assert torch.allclose(found.mean, expected, atol=1e-6)
    assert torch.equal(found.mean, class_probabilities(mean, var))


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_intervals_hold_their_share_of_the_draws(rule: str) -> None:
    mean, var, _ = messages(18, 6, 4)
    std, noise = var.sqrt(), torch.from_numpy(np.random.RandomState(2).randn(40_000, 6, 4))
    draws = mean + std * noise
    if rule == "sampled":
        probs = draws.softmax(-1)
    else:
        z = (draws[..., None] - mean[:, None]) / std[:, None]  # [draws, n, c, k]
        log_cdf = torch.special.log_ndtr(z)
        log_cdf[:, :, range(4), range(4)] = 0
        probs = log_cdf.sum(-1).exp()
    found = probability_distribution(mean, var, 0.8, rule)
    inside = ((found.low <= probs) & (probs <= found.high)).double().mean(0)
    assert (inside - 0.8).abs().max() < 4 / math.sqrt(40_000)
    assert (found.mean - probs.mean(0)).abs().max() < 4 / math.sqrt(40_000)
    assert torch.equal(found.mean, class_probabilities(mean, var, rule))


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_higher_levels_nest_lower_ones(rule: str) -> None:
    mean, var, _ = messages(19, 30, 4)
    narrow, middle, wide = (
        probability_distribution(mean, var, level, rule) for level in (1e-9, 0.5, 0.95)
    )
    assert torch.allclose(narrow.low, narrow.high, atol=1e-6)  # both are the median
    for inner, outer in ((narrow, middle), (middle, wide)):
        assert (outer.low <= inner.low).all() and (inner.high <= outer.high).all()
    assert ((wide.low >= 0) & (wide.high <= 1)).all()


@pytest.mark.parametrize("rule", ["exact", "sampled"])
def test_a_more_uncertain_message_is_a_wider_interval(rule: str) -> None:
    mean = torch.zeros(3, 2, dtype=torch.float64)
    var = torch.tensor([[0.1, 1.0], [0.5, 1.0], [2.0, 1.0]], dtype=torch.float64)
    found = probability_distribution(mean, var, rule=rule)
    width = (found.high - found.low)[:, 0]
    assert width[0] < width[1] < width[2]
    assert found.mean[:, 0].tolist() == pytest.approx([0.5] * 3, abs=1e-3)


@pytest.mark.parametrize("label", range(3))
def test_the_density_belongs_to_the_distribution(label: int) -> None:
    mean, var, _ = messages(20, 1, 3)
    log_odds = torch.linspace(-60, 36, 20_001, dtype=torch.float64)
    grid = log_odds.sigmoid()
    density = probability_density(mean[0], var[0], label, grid)
    per_log_odds = density * grid * (-log_odds).sigmoid()
    assert torch.trapezoid(per_log_odds, log_odds).item() == pytest.approx(1, abs=1e-6)
    average = torch.trapezoid(per_log_odds * grid, log_odds).item()
    assert average == pytest.approx(class_probabilities(mean, var)[0, label].item(), abs=1e-6)
    share = torch.cumulative_trapezoid(per_log_odds, log_odds)
    found = probability_distribution(mean, var, 0.9)
    for end, tail in ((found.low, 0.05), (found.high, 0.95)):
        p = end[0, label].clamp(grid[0], grid[-1])
        below = share[torch.searchsorted(grid, p) - 1]
        assert below.item() == pytest.approx(tail, abs=2e-3)


def test_the_density_is_the_histogram_of_draws() -> None:
    mean, var = torch.tensor([0.0, 0.3, 0.5, -0.2]), torch.tensor([0.1, 0.2, 0.3, 0.05])
    noise = torch.from_numpy(np.random.RandomState(3).randn(200_000))
    draws = mean[2] + var[2].sqrt() * noise
    z = (draws[:, None] - mean) / var.sqrt()
    z[:, 2] = math.inf
    counts, _ = np.histogram(torch.special.ndtr(z).prod(-1), np.linspace(0.05, 0.95, 10))
    fine = torch.linspace(0.05, 0.95, 9 * 200 + 1, dtype=torch.float64)
    below = torch.cumulative_trapezoid(probability_density(mean, var, 2, fine), fine)[199::200]
    mass = below.diff(prepend=torch.zeros(1)).numpy()
    assert mass.sum() > 0.5
    assert (np.abs(mass - counts / 200_000) < 4 * np.sqrt(mass / 200_000)).all()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    classes=st.integers(2, 20),
    scale=st.floats(0.01, 10),
    width=st.one_of(st.just(0.0), st.floats(0.05, 4)),
    rule=st.sampled_from(DISTRIBUTIONS),
)
def test_the_probability_is_the_mean_of_the_distribution_whose_interval_is_drawn(
    seed: int, classes: int, scale: float, width: float, rule: str
) -> None:
    mean, var, _ = messages(seed, 4, classes)
    var = scale * var
    factors, weights = spread.factors(width)
    found = probability_distribution(mean, var, 0.9, rule, factors=factors, weights=weights)
    link = partial(class_probabilities, rule=rule)
    shown = spread.mix_probabilities(Outputs(mean, mean, var, link), slice(None), 1.0, width)
    assert torch.allclose(found.mean, shown, atol=1e-6)
    # No bar is impossible given its interval: 5% of the cases lie below it, 5% above.
    assert (shown >= 0.9 * found.low + 0.05 * found.high - 1e-3).all()
    assert (shown <= 0.05 * found.low + 0.9 * found.high + 0.05 + 1e-3).all()


def test_a_mixture_holds_its_share_of_the_draws() -> None:
    mean, var, _ = messages(21, 6, 4)
    draws, (factors, weights) = 200_000, spread.factors(1.3)
    random = np.random.RandomState(4)
    factor = torch.from_numpy(random.choice(factors, draws, p=weights))[:, None, None]
    std = (factor * var).sqrt()  # [draws, n, c]
    message = mean + std * torch.from_numpy(random.randn(draws, 6, 4))
    probs = torch.ones_like(message)
    for c, k in itertools.permutations(range(4), 2):
        probs[..., c] *= torch.special.ndtr((message[..., c] - mean[:, k]) / std[..., k])
    found = probability_distribution(mean, var, 0.9, factors=factors, weights=weights)
    assert (found.mean - probs.mean(0)).abs().max() < 4 / math.sqrt(draws)
    for end, tail in ((found.low, 0.05), (found.high, 0.95)):
        assert ((probs <= end).double().mean(0) - tail).abs().max() < 5e-3


@pytest.mark.parametrize("width", [0.05, 1.0, 1.5, 2.5, 4.0])
def test_a_mixture_stands_for_every_factor(width: float) -> None:
    """Against a much finer sum over e^(width q), q ~ N(0, 1)."""
    mean, var, _ = messages(5, 40, 7)
    q = torch.arange(-6, 6.01, 0.05, dtype=torch.float64)
    weights = (-(q**2) / 2).exp() / (-(q**2) / 2).exp().sum()
    each = [class_probabilities(mean, var * (width * x).exp()) for x in q]
    fine = (torch.stack(each) * weights[:, None, None]).sum(0)
    factors, shares = spread.factors(width)
    found = probability_distribution(mean, var, factors=factors, weights=shares)
    assert torch.allclose(found.mean, fine, atol=4e-4)
