from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from bup.likelihood import (
    class_probabilities,
    log_likelihood,
)
from bup.likelihood.genz import gap_cholesky
from bup.likelihood.sobol import sobol_points
from tests.support.likelihood import messages

quick = settings(max_examples=60, deadline=None)


@quick
@given(seed=st.integers(0, 2**31), classes=st.integers(2, 8), spread=st.floats(0.01, 10))
def test_erf_is_a_lower_bound_of_exact(seed: int, classes: int, spread: float) -> None:
    mean, var, labels = messages(seed, 20, classes)
    erf = log_likelihood(spread * mean, var, labels, "erf")
    exact = log_likelihood(spread * mean, var, labels, "exact", points=96)
    assert (erf <= exact + 1e-9).all()


def test_erf_is_the_product_that_the_paper_writes() -> None:
    mean, var, labels = messages(4, 30, 5)
    for row, log_lik in enumerate(log_likelihood(mean, var, labels, "erf")):
        c, product = labels[row].item(), 1.0
        for k in set(range(5)) - {c}:
            gap = (mean[row, c] - mean[row, k]) / (2 * (var[row, k] + var[row, c])).sqrt()
            product *= 0.5 * (1 + math.erf(gap))
        assert log_lik.exp().item() == pytest.approx(product)


def test_erf_does_not_sum_to_one_but_its_predictions_do() -> None:
    mean, var, _ = messages(5, 50, 7)
    every = torch.arange(7)[:, None].expand(7, 50)
    log_lik = log_likelihood(mean.expand(7, 50, 7), var.expand(7, 50, 7), every).T
    assert log_lik.exp().sum(-1).max() < 0.95
    probs = class_probabilities(mean, var, "erf")
    assert torch.allclose(probs, log_lik.exp() / log_lik.exp().sum(-1, keepdim=True))


def test_genz_agrees_with_exact() -> None:
    mean, var, labels = messages(7, 100, 7)
    exact, genz = (log_likelihood(mean, var, labels, rule).exp() for rule in ("exact", "genz"))
    assert (exact - genz).abs().max() < 1e-3
    corner = torch.tensor([[4.0, 1e-4, 1e-4, 1e-4]])
    exact, genz = (class_probabilities(0 * corner, corner, rule) for rule in ("exact", "genz"))
    assert (exact - genz).abs().max() < 1e-3


def test_gaps_vary_alone_and_with_the_label_they_share() -> None:
    _, var, _ = messages(3, 6, 5)
    others, label_var = var[:, 1:], var[:, :1]
    diagonal, below = gap_cholesky(others, label_var)
    for row in range(6):
        chol = below[row].expand(4, 4).tril(-1) + diagonal[row].diag()
        gap_cov = label_var[row].expand(4, 4) + others[row].diag()
        assert torch.allclose(chol @ chol.T, gap_cov)


def test_genz_in_closed_form_is_genz_by_cholesky() -> None:
    mean, var, labels = messages(8, 20, 5)
    uniform = sobol_points(64, 3, seed=1)
    found = log_likelihood(mean, var, labels, "genz", points=64, seed=1)
    for row in range(20):
        label = labels[row].item()
        others = torch.arange(5) != label
        gap_mean = mean[row, others] - mean[row, label]
        chol = torch.linalg.cholesky(var[row, others].diag() + var[row, label])
        likelihoods, xi = torch.ones(64).double(), torch.zeros(64, 4).double()
        for j in range(4):
            mass = torch.special.ndtr((-gap_mean[j] - xi @ chol[j]) / chol[j, j])
            likelihoods = likelihoods * mass
            if j < 3:
                xi[:, j] = torch.special.ndtri(uniform[:, j] * mass)
        assert found[row].item() == pytest.approx(likelihoods.mean().log().item(), abs=1e-9)


def test_sampled_converges_to_the_mean_softmax() -> None:
    mean, var, labels = messages(9, 4, 5)
    draws = 200_000
    noise = np.random.RandomState(1).randn(draws, 4, 5)
    expected = softmax(mean.numpy() + var.sqrt().numpy() * noise, axis=-1).mean(0)
    probs = class_probabilities(mean, var, "sampled", points=4096).numpy()
    assert np.abs(probs - expected).max() < 4 / math.sqrt(draws)
    log_lik = log_likelihood(mean, var, labels, "sampled", points=4096)
    assert log_lik.exp().numpy() == pytest.approx(probs[range(4), labels], abs=1e-12)
