from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr
from torch import Tensor

from bup.errors import BupError
from bup.likelihood import (
    RULES,
    class_probabilities,
    log_likelihood,
    probability_density,
    probability_distribution,
    rows,
)
from tests.support.likelihood import log_by_grid, messages, mixed_scales

quick = settings(max_examples=60, deadline=None)


def test_all_rules_but_softmax_agree_with_counting_the_largest_of_many_draws() -> None:
    mean, var, _ = messages(3, 3, 4)
    draws = 200_000
    noise = np.random.RandomState(0).randn(draws, 3, 4)
    winners = (mean.numpy() + var.sqrt().numpy() * noise).argmax(-1)
    share = np.stack([(winners == c).mean(0) for c in range(4)], -1)
    for rule in ("exact", "genz"):
        probs = class_probabilities(mean, var, rule).numpy()
        assert np.abs(probs - share).max() < 4 / math.sqrt(draws), rule


def test_two_classes_leave_nothing_to_approximate() -> None:
    mean, var, labels = messages(6, 200, 2)
    gap = (mean[:, 0] - mean[:, 1]) / var.sum(-1).sqrt()
    expected = torch.from_numpy(log_ndtr(torch.where(labels == 0, gap, -gap).numpy()))
    for rule in ("erf", "exact", "genz"):
        options = {"points": 128} if rule == "exact" else {}
        log_lik = log_likelihood(mean, var, labels, rule, **options)
        assert torch.allclose(log_lik, expected, atol=1e-12), rule


@pytest.mark.parametrize("rule", ["erf", "exact", "genz", "sampled"])
def test_gradients_are_those_of_finite_differences(rule: str) -> None:
    points = {"erf": None, "exact": 128, "genz": 32, "sampled": 16}[rule]
    mean, var, labels = messages(11, 4, 4)
    inputs = mean.requires_grad_(), var.requires_grad_()

    def log_lik(mean: Tensor, var: Tensor) -> Tensor:
        return log_likelihood(mean, var, labels, rule, points=points)

    assert torch.autograd.gradcheck(log_lik, inputs)


@pytest.mark.parametrize("rule", ["erf", "exact"])
@pytest.mark.parametrize("margin", [-50.0, -20.0, 20.0, 50.0])
def test_margins_of_many_deviations_in_single_precision(rule: str, margin: float) -> None:
    var = torch.tensor([[0.5, 0.5, 2.0, 0.1], [0.01, 0.5, 0.5, 0.5], [3.0, 0.2, 0.1, 0.1]])
    mean = torch.zeros(3, 4)
    mean[:, 0] = margin * (var[:, 0] + var[:, 1]).sqrt()
    labels = torch.zeros(3, dtype=torch.long)
    inputs = mean.requires_grad_(), var.requires_grad_()
    log_lik = log_likelihood(*inputs, labels, rule)
    gradients = torch.autograd.grad(log_lik.sum(), inputs)
    assert log_lik.isfinite().all() and all(g.isfinite().all() for g in gradients)

    # the same in double precision, by other means, and its gradient by central differences
    def reference(mean: Tensor, var: Tensor) -> np.ndarray:
        if rule == "exact":
            return np.array([log_by_grid(m, v, 0) for m, v in zip(mean, var, strict=True)])
        z = (mean[:, :1] - mean[:, 1:]) / (var[:, :1] + var[:, 1:]).sqrt()
        return log_ndtr(z.numpy()).sum(-1)

    exactly = [x.detach().double() for x in inputs]
    assert log_lik.tolist() == pytest.approx(reference(*exactly), rel=1e-3, abs=1e-6)
    step = torch.zeros(3, 4).double()
    step[:, 0] = 1e-3
    for which, gradient in enumerate(gradients):
        up, down = (
            [x + sign * step * (i == which) for i, x in enumerate(exactly)] for sign in (1, -1)
        )
        slope = (reference(*up) - reference(*down)) / 2e-3
        assert gradient[:, 0].tolist() == pytest.approx(slope, rel=2e-2, abs=1e-6)


@pytest.mark.parametrize("rule", ["erf", "exact", "genz"])
def test_the_gradient_still_points_home_from_a_hundred_thousand_deviations(rule: str) -> None:
    """Far left, log Phi(z) is close to -z^2 / 2; the derivative of torch's own log_ndtr is lost."""
    mean = torch.tensor([[-1e5, 0.0]], requires_grad=True)
    log_lik = log_likelihood(mean, torch.full((1, 2), 0.5), torch.tensor([0]), rule)
    log_lik.sum().backward()
    assert log_lik.item() == pytest.approx(-5e9, rel=1e-4)
    assert mean.grad is not None
    assert mean.grad[0].tolist() == pytest.approx([1e5, -1e5], rel=1e-4)


@quick
@given(seed=st.integers(0, 2**31), classes=st.integers(2, 7), mixed=st.booleans())
def test_renaming_the_classes_renames_the_probabilities(
    seed: int, classes: int, mixed: bool
) -> None:
    mean, var, labels = messages(seed, 5, classes)
    if mixed:
        mean, var = mixed_scales(seed, 5, classes)
    order = torch.from_numpy(np.random.RandomState(seed).permutation(classes))
    for rule in ("erf", "exact"):
        probs = class_probabilities(mean, var, rule)
        renamed = class_probabilities(mean[:, order], var[:, order], rule)
        assert torch.allclose(renamed, probs[:, order], atol=1e-9)
        log_lik = log_likelihood(mean, var, labels, rule)
        renamed = log_likelihood(mean[:, order], var[:, order], order.argsort()[labels], rule)
        assert torch.allclose(renamed, log_lik, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_leading_dimensions_are_a_loop(rule: str) -> None:
    mean, var, labels = messages(13, 2 * 3 * 5, 4)
    mean, var, labels = mean.view(2, 3, 5, 4), var.view(2, 3, 5, 4), labels.view(2, 3, 5)
    own, shared = (log_likelihood(mean, var, y, rule) for y in (labels, labels[0, 0]))
    probs = class_probabilities(mean, var, rule)
    assert own.shape == (2, 3, 5) and probs.shape == mean.shape
    for i in range(2):
        for j in range(3):
            alone = mean[i, j], var[i, j]
            assert torch.allclose(own[i, j], log_likelihood(*alone, labels[i, j], rule))
            assert torch.allclose(shared[i, j], log_likelihood(*alone, labels[0, 0], rule))
            assert torch.allclose(probs[i, j], class_probabilities(*alone, rule))


@pytest.mark.parametrize("rule", RULES)
def test_chunks_and_their_size_change_nothing(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large and small inputs also take different roads to the same Gaussian tail."""
    mean, var, labels = messages(14, 400, 4)
    options = {"points": 64} if rule in ("genz", "sampled") else {}

    def everything(nodes: slice) -> list[Tensor]:
        inputs = mean[nodes].clone().requires_grad_(), var[nodes].clone().requires_grad_()
        log_lik = log_likelihood(*inputs, labels[nodes], rule, **options)
        probs = class_probabilities(*inputs, rule, **options)
        return [log_lik, probs, *torch.autograd.grad(log_lik.sum(), inputs)]

    at_once = everything(slice(None))
    monkeypatch.setattr(rows, "IN_FLIGHT", 1)
    for whole, part in zip(at_once, everything(slice(40)), strict=True):
        assert torch.allclose(whole[:40], part, atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_types_are_kept_rows_sum_to_one_and_no_nodes_are_fine(rule: str) -> None:
    for dtype in (torch.float32, torch.float64):
        mean, var, labels = (
            x if x.dtype == torch.long else x.to(dtype) for x in messages(15, 9, 3)
        )
        log_lik, probs = (
            log_likelihood(mean, var, labels, rule),
            class_probabilities(mean, var, rule),
        )
        assert log_lik.dtype == probs.dtype == dtype
        assert torch.allclose(probs.sum(-1), torch.ones(9, dtype=dtype), atol=1e-6)
        assert class_probabilities(mean[:0], var[:0], rule).shape == (0, 3)
        assert log_likelihood(mean[:0], var[:0], labels[:0], rule).shape == (0,)


@pytest.mark.parametrize("rule", ["genz", "sampled"])
def test_randomness_is_the_seed_and_nothing_else(rule: str) -> None:
    mean, var, labels = messages(16, 6, 4)
    state = torch.get_rng_state()
    once, again, other = (
        log_likelihood(mean, var, labels, rule, points=32, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(once, again) and not torch.equal(once, other)
    assert torch.equal(torch.get_rng_state(), state)


def test_skipping_the_checks_skips_only_the_values() -> None:
    mean, var, labels = messages(22, 5, 3)
    assert torch.equal(
        log_likelihood(mean, var, labels, check=False), log_likelihood(mean, var, labels)
    )
    assert log_likelihood(mean * math.nan, var, labels, check=False).isnan().all()
    with pytest.raises(BupError):
        log_likelihood(mean, var[:4], labels, check=False)


MEAN, VAR, LABELS = torch.zeros(4, 3), torch.ones(4, 3), torch.tensor([0, 1, 2, 0])


@pytest.mark.parametrize(
    ("mean", "var", "labels", "complaint"),
    [
        (MEAN, VAR[:, :2], LABELS, r"of one shape, got torch.float32 \[4, 3\]"),
        (MEAN[0], VAR[0], LABELS[0], "tables"),
        (MEAN.long(), VAR.long(), LABELS, "floating-point"),
        (MEAN[:, :1], VAR[:, :1], LABELS * 0, "at least 2 classes to choose from, got 1"),
        (MEAN + math.nan, VAR, LABELS, "mean must be finite, got nan"),
        (MEAN, VAR * math.inf, LABELS, "var must be finite, got inf"),
        (MEAN, VAR * 0, LABELS, "every variance must be positive, got 0.0"),
        (MEAN, -VAR, LABELS, "every variance must be positive, got -1.0"),
        (MEAN, VAR, LABELS + 1, "labels must be between 0 and 2, got 1 to 3"),
        (MEAN, VAR, LABELS - 1, "labels must be between 0 and 2, got -1 to 1"),
        (MEAN, VAR, LABELS[:3], r"shape \[4\], got torch.int64 \[3\]"),
        (MEAN, VAR, LABELS.float(), "one whole number per node"),
    ],
)
def test_bad_messages_and_labels_are_refused(
    mean: Tensor, var: Tensor, labels: Tensor, complaint: str
) -> None:
    with pytest.raises(BupError, match=complaint):
        log_likelihood(mean, var, labels)
    if labels is LABELS:
        for function in (class_probabilities, probability_distribution):
            with pytest.raises(BupError, match=complaint):
                function(mean, var)


def test_bad_options_are_refused() -> None:
    unknown = "'probit': use one of erf, exact, genz, sampled"
    with pytest.raises(BupError, match=unknown):
        log_likelihood(MEAN, VAR, LABELS, "probit")
    with pytest.raises(BupError, match=unknown):
        class_probabilities(MEAN, VAR, "probit")
    with pytest.raises(BupError, match="points must be at least 1, got 0"):
        log_likelihood(MEAN, VAR, LABELS, "exact", points=0)
    for level in (0, 1, 90, math.nan):
        with pytest.raises(BupError, match="level must lie between 0 and 1"):
            probability_distribution(MEAN, VAR, level)
    for rule in ("erf", "probit"):
        with pytest.raises(BupError, match="use exact or sampled"):
            probability_distribution(MEAN, VAR, rule=rule)
    with pytest.raises(BupError, match="labels must be between 0 and 2, got 3"):
        probability_density(MEAN[0], VAR[0], 3, torch.tensor([0.5]))
    for p in (0.0, 1.0, math.nan):
        with pytest.raises(BupError, match=r"outside \(0, 1\)"):
            probability_density(MEAN[0], VAR[0], 0, torch.tensor([0.5, p]))
