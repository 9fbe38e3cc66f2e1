"""A deep ensemble (Lakshminarayanan et al. 2017): GCNs that differ in their initial weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from bup.engine.loop import OnEpoch
from bup.graph import Graph
from bup.io.lazy import torch
from bup.methods import gcn
from bup.methods.base import Explains, Fitted, Method, TwoLayers
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores.samples import SAMPLED, sample_scores

if TYPE_CHECKING:
    from bup.results.result import Result


@dataclass(frozen=True)
class EnsembleSettings(gcn.GcnSettings):
    members: int = setting(10, "Networks that a prediction averages.", low=1, high=100)


def fit_batch(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: EnsembleSettings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    # Members train side by side like the seeds of any other run; RandomState's stream is frozen.
    member_seeds = [
        int(m) for seed in seeds for m in np.random.RandomState(seed).randint(2**31, size=s.members)
    ]
    member_splits = [split for split in splits for _ in range(s.members)]
    members = gcn.GcnNetwork.fit_batch(graph, member_splits, member_seeds, s, on_epoch)
    return [_average(members[i : i + s.members]) for i in range(0, len(members), s.members)]


def _average(members: Sequence[Fitted]) -> Fitted:
    probs, scores = sample_scores(torch.from_numpy(np.stack([m.probs for m in members])))
    history = {
        name: [
            float(np.mean([value for value in epoch if value is not None]))
            for epoch in zip_longest(*(m.history[name] for m in members))
        ]
        for name in members[0].history
    }
    return Fitted(
        probs=probs.numpy(),
        history=history,
        kept_epoch=max(m.kept_epoch for m in members),
        weights={name: np.stack([m.weights[name] for m in members]) for name in members[0].weights},
        own_scores={name: score.numpy() for name, score in scores.items()},
    )


def layers(result: Result) -> TwoLayers:
    """The networks of a run, from their weights [members, ...]."""
    return TwoLayers(result.weights["mean_1"], result.weights["mean_2"])


METHOD = Method(
    name="ensemble",
    title="Deep ensemble",
    explanation="Ten GCNs that start from different random weights and learn from the same nodes. "
    "The answer is the mean of theirs; where the ten disagree, the model does not know.",
    settings=EnsembleSettings,
    fit_batch=fit_batch,
    explains=Explains(layers=layers, remainder="the average of the members' probabilities"),
    scores=SAMPLED,
)
