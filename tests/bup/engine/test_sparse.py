import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch.autograd import gradcheck

from bup.engine.sparse import Csr


def random_matrix(rows: int, cols: int, density: float, seed: int) -> sparse.csr_array:
    generator = np.random.default_rng(seed)
    return sparse.csr_array(sparse.random_array((rows, cols), density=density, rng=generator))


@given(
    st.integers(1, 8), st.integers(1, 8), st.floats(0, 1), st.integers(0, 1000), st.integers(1, 5)
)
@settings(max_examples=60, deadline=None)
def test_the_product_and_its_gradient_are_those_of_a_dense_matrix(rows, cols, density, seed, width):
    matrix = random_matrix(rows, cols, density, seed)
    fast = Csr.from_scipy(matrix, dtype=torch.float64)
    dense = torch.from_numpy(matrix.toarray())
    right = torch.randn(cols, width, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(fast.matmul(right), dense @ right)
    weights = torch.randn(rows, width, dtype=torch.float64)
    (fast_gradient,) = torch.autograd.grad((fast.matmul(right) * weights).sum(), right)
    assert torch.allclose(fast_gradient, dense.T @ weights)


def test_gradcheck():
    fast = Csr.from_scipy(random_matrix(5, 4, 0.5, 1), dtype=torch.float64)
    assert gradcheck(fast.matmul, torch.randn(4, 3, dtype=torch.float64, requires_grad=True))


def test_entries_can_be_replaced_for_one_product():
    matrix = random_matrix(6, 5, 0.6, 2)
    fast = Csr.from_scipy(matrix, dtype=torch.float64)
    right = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    doubled = fast.matmul(right, 2 * fast.values)
    assert torch.allclose(doubled, 2 * fast.matmul(right))
    (gradient,) = torch.autograd.grad(doubled.sum(), right)
    assert torch.allclose(
        gradient, 2 * torch.from_numpy(matrix.toarray()).sum(0)[:, None].expand(5, 2)
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_thinned_is_the_product_with_zeros_in_place_of_the_rest(share):
    matrix = random_matrix(9, 7, 0.5, 5)
    fast = Csr.from_scipy(matrix, dtype=torch.float64)
    kept = np.random.default_rng(0).random(matrix.nnz) < share
    zeroed = matrix.copy()
    zeroed.data = zeroed.data * kept * 2.5
    thin = fast.mask_entries(kept, 2.5)
    assert len(thin.values) == kept.sum()
    right = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(thin.matmul(right), torch.from_numpy(zeroed.toarray()) @ right)
    (gradient,) = torch.autograd.grad(thin.matmul(right).sum(), right)
    expected = torch.from_numpy(zeroed.toarray()).sum(0)[:, None].expand(7, 3)
    assert torch.allclose(gradient, expected)
    assert torch.allclose(fast.matmul(right), torch.from_numpy(matrix.toarray()) @ right)


def test_leaving_out_zeros_changes_no_bit(cora):
    """A zero adds nothing: dropping words by leaving them out trains the very same network."""
    words = Csr.from_scipy(cora.features)
    kept = np.random.default_rng(1).random(len(words.values)) < 0.2
    weights, gradient = torch.randn(cora.num_features, 64), torch.randn(cora.num_nodes, 64)
    weights.requires_grad_(True)
    zeroed = words.matmul(weights, words.values * torch.from_numpy(kept * np.float32(5)))
    left_out = words.mask_entries(kept, 5).matmul(weights)
    assert torch.equal(left_out, zeroed)
    slow, fast = (torch.autograd.grad(out, weights, gradient)[0] for out in (zeroed, left_out))
    assert torch.equal(slow, fast)


def test_blocks_stand_on_the_diagonal():
    parts = [random_matrix(2, 3, 0.7, 3), random_matrix(4, 1, 0.7, 4)]
    fast = Csr.block_diagonal(parts, dtype=torch.float64)
    assert fast.shape == (6, 4) and fast.blocks == tuple(p.nnz for p in parts)
    assert torch.allclose(
        fast.matmul(torch.eye(4, dtype=torch.float64)),
        torch.from_numpy(sparse.block_diag(parts).toarray()),
    )


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_on_real_words(name, request):
    features = request.getfixturevalue(name).features
    right = torch.randn(features.shape[1], 8)
    expected = features @ right.numpy()
    assert np.allclose(Csr.from_scipy(features).matmul(right).numpy(), expected, atol=1e-4)
