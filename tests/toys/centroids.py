"""A method with variances as docs/extending.md has it: the nearest mean of a class's words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bup import likelihood
from bup.graph.operators import unit_rows
from bup.io.lazy import torch
from bup.methods.base import (
    Explains,
    Fitted,
    Method,
    MethodSettings,
    ProbabilityIntervals,
)
from bup.run.settings import setting
from bup.scores.messages import MESSAGE_ENTROPY, MESSAGE_STD


@dataclass(frozen=True)
class Settings(MethodSettings):
    width: float = setting(0.1, "Standard deviation of a message without neighbours.", 0.01, 10)


def probabilities(result, mean, var, level):
    found = likelihood.probability_distribution(*map(torch.from_numpy, (mean, var)), level=level)
    return ProbabilityIntervals(*(part.numpy() for part in (found.mean, found.low, found.high)))


def fit_one(graph, split, seed, s, on_epoch):
    words, labels = unit_rows(graph.features), split.targets(graph.labels)
    train = split.train
    means = [words[train[labels[train] == c]].mean(axis=0) for c in range(len(split.classes))]
    mean = np.asarray(words @ np.stack(means).T).astype(np.float32)
    var = np.tile((s.width**2 / graph.looped_degree)[:, None], mean.shape[1]).astype(np.float32)
    probs = likelihood.class_probabilities(torch.from_numpy(mean), torch.from_numpy(var))
    curves = {name: [0.0] for name in ("loss", "validation_nll", "validation_accuracy")}
    return Fitted(probs.numpy(), curves, 1, mean, var)


METHOD = Method(
    name="centroids",
    title="Nearest mean of words (MEANS)",
    explanation="A message says how like the mean of a class a node's words are. It is the surer, "
    "the more links a node has.",
    settings=Settings,
    fit_one=fit_one,
    scores=(MESSAGE_STD, MESSAGE_ENTROPY),
    explains=Explains(variance=True, probabilities=probabilities),
)
