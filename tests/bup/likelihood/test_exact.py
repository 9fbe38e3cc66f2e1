from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import log_ndtr
from torch import Tensor

from bup.likelihood import (
    class_probabilities,
    log_likelihood,
)
from bup.likelihood.exact import unnormalised_probabilities
from tests.support.likelihood import messages, mixed_scales, probability_by_quadrature


@pytest.mark.parametrize("classes", range(2, 8))
def test_exact_probabilities_are_those_of_the_gaussian_gaps(classes: int) -> None:
    mean, var, _ = messages(classes, 2, classes)
    probs = class_probabilities(mean, var)
    for row in range(2):
        for label in range(classes):
            others = np.arange(classes) != label
            gap_mean = (mean[row, others] - mean[row, label]).numpy()
            gap_cov = np.diag(var[row, others].numpy()) + var[row, label].item()
            gaps = stats.multivariate_normal(gap_mean, gap_cov, seed=np.random.RandomState(0))
            gaps.abseps, gaps.releps, gaps.maxpts = 2e-6, 0, 10**6
            assert probs[row, label].item() == pytest.approx(
                gaps.cdf(np.zeros(classes - 1)), abs=1e-5
            )


@pytest.mark.parametrize("classes", [2, 3, 5, 7])
def test_exact_agrees_with_adaptive_quadrature(classes: int) -> None:
    mean, var, labels = messages(10 + classes, 8, classes)
    expected = [
        probability_by_quadrature(m, v, c)
        for m, v, c in zip(mean, var, labels.tolist(), strict=True)
    ]
    probs = class_probabilities(mean, var)[range(8), labels]
    assert probs.tolist() == pytest.approx(expected, abs=1e-10)
    log_lik = log_likelihood(mean, var, labels, "exact", points=128)
    assert log_lik.exp().tolist() == pytest.approx(expected, abs=1e-10)
    quickly = log_likelihood(mean, var, labels, "exact")
    assert quickly.tolist() == pytest.approx(np.log(expected), abs=1e-6)


def test_a_wide_label_among_narrow_classes() -> None:
    """The integrand is a step: fixed quadrature answers one half."""
    var = torch.tensor([[4.0] + [1e-4] * 6], dtype=torch.float64)
    probs = class_probabilities(torch.zeros_like(var), var)[0]
    assert probs[0].item() == pytest.approx(0.49747, abs=1e-5)
    assert probs[0].item() == pytest.approx(
        probability_by_quadrature(torch.zeros(7), var[0], 0), abs=1e-10
    )


@pytest.mark.parametrize("wide", [4.0, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_sharp_steps_agree_with_quadrature(wide: float, seed: int) -> None:
    mean = torch.from_numpy(np.random.RandomState(seed).randn(4, 5) * 0.5)
    var = torch.full_like(mean, 4e-4 / wide)
    var[:, 0] = wide
    labels = torch.tensor([0, 0, 1, 2])
    expected = [
        probability_by_quadrature(m, v, c)
        for m, v, c in zip(mean, var, labels.tolist(), strict=True)
    ]
    assert class_probabilities(mean, var)[range(4), labels].tolist() == pytest.approx(
        expected, abs=1e-9
    )
    log_lik = log_likelihood(mean, var, labels, "exact")
    assert log_lik.exp().tolist() == pytest.approx(expected, abs=1e-4)


def test_a_step_too_far_out_to_matter_takes_no_nodes_from_the_rest() -> None:
    mean = torch.tensor([[0.0, -4.56, -4.81]], dtype=torch.float64)
    var = torch.tensor([[1.0, 1e-8, 0.1]], dtype=torch.float64)
    log_lik = log_likelihood(mean, var, torch.tensor([0]), "exact")
    assert log_lik.item() == pytest.approx(
        math.log(probability_by_quadrature(mean[0], var[0], 0)), abs=1e-5
    )


def test_mixed_scales_agree_with_quadrature() -> None:
    mean, var = mixed_scales(0, 10, 6)
    expected = [
        [probability_by_quadrature(m, v, c) for c in range(6)]
        for m, v in zip(mean, var, strict=True)
    ]
    assert class_probabilities(mean, var).numpy() == pytest.approx(np.array(expected), abs=1e-9)
    label = torch.tensor(expected).argmax(-1)
    log_lik = log_likelihood(mean, var, label, "exact", points=128)
    assert log_lik.exp().tolist() == pytest.approx(np.max(expected, -1), abs=1e-6)


@pytest.mark.parametrize("classes", [2, 7, 30])
def test_exact_probabilities_sum_to_one_before_they_are_normalised(classes: int) -> None:
    """Also for equal messages, whose largest has a sharper distribution than each."""
    one = torch.ones(1, classes, dtype=torch.float64)
    for mean, var in (messages(0, 100, classes)[:2], mixed_scales(1, 100, classes), (one, one)):
        raw = unnormalised_probabilities(mean, var)
        assert (raw.sum(-1) - 1).abs().max() < 1e-7


@pytest.mark.parametrize("ratio", [1e-6, 1e-2, 1.0, 30.0, 1e4])
def test_training_nodes_follow_a_class_that_moves_from_far_above_to_far_below(ratio: float) -> None:
    gap = torch.linspace(-12, 12, 4001, dtype=torch.float64)
    mean = torch.stack([gap * math.sqrt(1 + ratio), torch.zeros_like(gap)], -1)
    var = torch.tensor([ratio, 1.0]).double().expand_as(mean)
    log_lik = log_likelihood(mean, var, torch.zeros(4001, dtype=torch.long), "exact")
    assert log_lik.numpy() == pytest.approx(log_ndtr(gap.numpy()), abs=3e-5)


@pytest.mark.parametrize("wide", [4.0, 1e-4])
def test_training_nodes_are_enough_for_the_gradient_even_at_a_step(wide: float) -> None:
    mean, var, labels = messages(12, 200, 7)
    var[:, :3] = 4e-4 / wide
    var[:, 3:] = wide
    inputs = mean.requires_grad_(), var.requires_grad_()

    def gradient(points: int | None) -> Tensor:
        log_lik = log_likelihood(mean, var, labels, "exact", points=points)
        return torch.cat(torch.autograd.grad(log_lik.sum(), inputs), -1)

    scale = torch.cat([var.sqrt(), var], -1)  # per standard deviation, and per doubling
    assert ((gradient(None) - gradient(512)) * scale).abs().max() < 2e-3
