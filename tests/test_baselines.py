"""The pieces that the paper's baselines are made of, against slow and obvious arithmetic."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from bup.scores import SAMPLED, sample_scores


def test_sampled_scores_split_the_entropy_of_the_mean():
    probs = torch.rand(5, 4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    probs /= probs.sum(-1, keepdim=True)
    probs[:, 0] = torch.tensor([1.0, 0.0, 0.0])  # all draws certain, and of the same class
    mean, scores = sample_scores(probs)
    assert set(scores) == {score.name for score in SAMPLED}
    assert torch.allclose(mean, sum(probs) / 5)
    for node in range(4):
        draws = probs[:, node].numpy()
        divergences = [entropy(draw, draws.mean(axis=0)) for draw in draws]
        assert scores["mutual_information"][node].item() == pytest.approx(np.mean(divergences))
        entropies = [entropy(draw) for draw in draws]
        assert scores["expected_entropy"][node].item() == pytest.approx(np.mean(entropies))
