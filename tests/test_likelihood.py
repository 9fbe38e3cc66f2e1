from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import log_ndtr, softmax
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
from bup.likelihood.exact import unnormalised_probabilities
from bup.likelihood.genz import gap_cholesky
from bup.likelihood.sobol import sobol_points

quick = settings(max_examples=60, deadline=None)


def messages(seed: int, nodes: int, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Means, variances and labels of ordinary size, in float64."""
    random = np.random.RandomState(seed)
    mean = torch.from_numpy(random.randn(nodes, classes))
    var = torch.from_numpy(random.uniform(0.1, 2, (nodes, classes)))
    return mean, var, torch.from_numpy(random.randint(classes, size=nodes))


def mixed_scales(seed: int, nodes: int, classes: int) -> tuple[Tensor, Tensor]:
    """Variances from 1e-6 to 1e3 within one message, in float64."""
    random = np.random.RandomState(seed)
    mean = torch.from_numpy(random.randn(nodes, classes))
    return mean, torch.from_numpy(10 ** random.uniform(-6, 3, (nodes, classes)))


def by_quad(mean: Tensor, var: Tensor, label: int) -> float:
    """The integral by adaptive quadrature between the places where a factor starts or settles."""
    m, s = mean.numpy(), var.sqrt().numpy()
    others = np.arange(len(m)) != label
    m_k, s_k = m[others], s[others]

    def integrand(t: float) -> float:
        log_cdf = log_ndtr((m[label] + s[label] * t - m_k) / s_k).sum()
        return math.exp(log_cdf - t * t / 2) / math.sqrt(2 * math.pi)

    steps = ((m_k - m[label])[:, None] + s_k[:, None] * np.array([-8, -2, 0, 2, 8])) / s[label]
    cuts = np.unique(np.concatenate([steps.ravel().clip(-9, 9), np.linspace(-9, 9, 7)]))
    return sum(quad(integrand, a, b, epsabs=1e-12)[0] for a, b in pairwise(cuts))


def log_by_grid(mean: Tensor, var: Tensor, label: int) -> float:
    """The log of the integral by a very fine trapezoid, which also works far out in the tails."""
    m, s = mean.double().numpy(), var.double().sqrt().numpy()
    t = np.linspace(-80, 80, 40001)
    others = np.arange(len(m)) != label
    z = (m[label] + s[label] * t - m[others, None]) / s[others, None]
    log_terms = log_ndtr(z).sum(axis=0) - t * t / 2 - 0.5 * math.log(2 * math.pi)
    return float(np.logaddexp.reduce(log_terms) + math.log(t[1] - t[0]))


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
    expected = [by_quad(m, v, c) for m, v, c in zip(mean, var, labels.tolist(), strict=True)]
    probs = class_probabilities(mean, var)[range(8), labels]
    assert probs.tolist() == pytest.approx(expected, abs=1e-10)
    log_lik = log_likelihood(mean, var, labels, "exact", points=128)
    assert log_lik.exp().tolist() == pytest.approx(expected, abs=1e-10)
    quickly = log_likelihood(mean, var, labels, "exact")
    assert quickly.tolist() == pytest.approx(np.log(expected), abs=1e-6)


def test_all_rules_but_softmax_agree_with_counting_the_largest_of_many_draws() -> None:
    mean, var, _ = messages(3, 3, 4)
    draws = 200_000
    noise = np.random.RandomState(0).randn(draws, 3, 4)
    winners = (mean.numpy() + var.sqrt().numpy() * noise).argmax(-1)
    share = np.stack([(winners == c).mean(0) for c in range(4)], -1)
    for rule in ("exact", "genz"):
        probs = class_probabilities(mean, var, rule).numpy()
        assert np.abs(probs - share).max() < 4 / math.sqrt(draws), rule


def test_a_wide_label_among_narrow_classes() -> None:
    """The integrand is a step: fixed quadrature answers one half."""
    var = torch.tensor([[4.0] + [1e-4] * 6], dtype=torch.float64)
    probs = class_probabilities(torch.zeros_like(var), var)[0]
    assert probs[0].item() == pytest.approx(0.49747, abs=1e-5)
    assert probs[0].item() == pytest.approx(by_quad(torch.zeros(7), var[0], 0), abs=1e-10)


@pytest.mark.parametrize("wide", [4.0, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_sharp_steps_agree_with_quadrature(wide: float, seed: int) -> None:
    mean = torch.from_numpy(np.random.RandomState(seed).randn(4, 5) * 0.5)
    var = torch.full_like(mean, 4e-4 / wide)
    var[:, 0] = wide
    labels = torch.tensor([0, 0, 1, 2])
    expected = [by_quad(m, v, c) for m, v, c in zip(mean, var, labels.tolist(), strict=True)]
    assert class_probabilities(mean, var)[range(4), labels].tolist() == pytest.approx(
        expected, abs=1e-9
    )
    log_lik = log_likelihood(mean, var, labels, "exact")
    assert log_lik.exp().tolist() == pytest.approx(expected, abs=1e-4)


def test_a_step_too_far_out_to_matter_takes_no_nodes_from_the_rest() -> None:
    mean = torch.tensor([[0.0, -4.56, -4.81]], dtype=torch.float64)
    var = torch.tensor([[1.0, 1e-8, 0.1]], dtype=torch.float64)
    log_lik = log_likelihood(mean, var, torch.tensor([0]), "exact")
    assert log_lik.item() == pytest.approx(math.log(by_quad(mean[0], var[0], 0)), abs=1e-5)


def test_mixed_scales_agree_with_quadrature() -> None:
    mean, var = mixed_scales(0, 10, 6)
    expected = [[by_quad(m, v, c) for c in range(6)] for m, v in zip(mean, var, strict=True)]
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


def test_two_classes_leave_nothing_to_approximate() -> None:
    mean, var, labels = messages(6, 200, 2)
    gap = (mean[:, 0] - mean[:, 1]) / var.sum(-1).sqrt()
    expected = torch.from_numpy(log_ndtr(torch.where(labels == 0, gap, -gap).numpy()))
    for rule in ("erf", "exact", "genz"):
        options = {"points": 128} if rule == "exact" else {}
        log_lik = log_likelihood(mean, var, labels, rule, **options)
        assert torch.allclose(log_lik, expected, atol=1e-12), rule


@pytest.mark.parametrize("ratio", [1e-6, 1e-2, 1.0, 30.0, 1e4])
def test_training_nodes_follow_a_class_that_moves_from_far_above_to_far_below(ratio: float) -> None:
    gap = torch.linspace(-12, 12, 4001, dtype=torch.float64)
    mean = torch.stack([gap * math.sqrt(1 + ratio), torch.zeros_like(gap)], -1)
    var = torch.tensor([ratio, 1.0]).double().expand_as(mean)
    log_lik = log_likelihood(mean, var, torch.zeros(4001, dtype=torch.long), "exact")
    assert log_lik.numpy() == pytest.approx(log_ndtr(gap.numpy()), abs=3e-5)


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


@pytest.mark.parametrize("rule", ["erf", "exact", "genz", "sampled"])
def test_gradients_are_those_of_finite_differences(rule: str) -> None:
    points = {"erf": None, "exact": 128, "genz": 32, "sampled": 16}[rule]
    mean, var, labels = messages(11, 4, 4)
    inputs = mean.requires_grad_(), var.requires_grad_()

    def log_lik(mean: Tensor, var: Tensor) -> Tensor:
        return log_likelihood(mean, var, labels, rule, points=points)

    assert torch.autograd.gradcheck(log_lik, inputs)


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
