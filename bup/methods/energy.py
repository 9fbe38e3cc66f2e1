"""GNNSafe (Wu et al. 2023): the free energy of a GCN's outputs, spread along the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bup.engine.loop import OnEpoch, Trained
from bup.engine.receptive_field import ReceptiveField
from bup.graph import Graph
from bup.graph.operators import neighbour_mean
from bup.io.lazy import torch
from bup.methods import gcn
from bup.methods.base import Fitted, Method
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score

STEPS = 2
KEEP = 0.5


@dataclass(frozen=True)
class EnergySettings(gcn.GcnSettings):
    hidden: int = setting(64, "Width of the hidden layer.", low=1, high=1024)


def spread(energy: np.ndarray, graph: Graph) -> np.ndarray:
    """e <- e / 2 + D^-1 A e / 2, twice."""
    mean = neighbour_mean(graph)
    for _ in range(STEPS):
        energy = KEEP * energy + (1 - KEEP) * (mean @ energy)
    return energy


def fit(
    graph: Graph,
    splits: Sequence[Split],
    seeds: Sequence[int],
    s: EnergySettings,
    on_epoch: OnEpoch | None,
) -> list[Fitted]:
    def finish(trained: Trained, everything: ReceptiveField, split: Split, seed: int) -> Fitted:
        output = gcn.gcn_output(trained.parameters, everything)
        alone = -output.logsumexp(-1)
        scores = {"energy": torch.from_numpy(spread(alone.numpy(), graph)), "own_energy": alone}
        return Fitted.of(trained, output.softmax(-1), mean=output, scores=scores)

    return gcn.fit_classifier(graph, splits, seeds, s, on_epoch, finish)


METHOD = Method(
    name="energy",
    title="Energy of a GCN (GNNSafe)",
    explanation="A plain GCN, whose outputs are also read as an energy: low where some class has "
    "much evidence, high where no class has any. The energy is averaged along links, so a node "
    "among strangers counts as one.",
    settings=EnergySettings,
    fit=fit,
    scores=(
        Score(
            "energy",
            "Energy",
            "epistemic",
            "Minus the log of the summed exponentials of the outputs, averaged along links.",
        ),
        Score(
            "own_energy",
            "Energy without links",
            "epistemic",
            "The same before it is averaged along links.",
        ),
    ),
)
