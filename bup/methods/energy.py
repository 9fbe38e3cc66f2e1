"""GNNSafe (Wu et al. 2023): the free energy of a GCN's outputs, spread along the links."""

from collections.abc import Mapping

import numpy as np

from bup.engine.loop import Trained
from bup.graph import Graph
from bup.graph.operators import neighbour_mean
from bup.io.lazy import Tensor, torch
from bup.methods import gcn
from bup.methods.base import Explains, Method
from bup.run.splits import Split
from bup.scores import Score

STEPS = 2
KEEP = 0.5


def spread(energy: np.ndarray, graph: Graph) -> np.ndarray:
    """e <- e / 2 + D^-1 A e / 2, twice."""
    mean = neighbour_mean(graph)
    for _ in range(STEPS):
        energy = KEEP * energy + (1 - KEEP) * (mean @ energy)
    return energy


class EnergyNetwork(gcn.GcnNetwork):
    def scores(self, trained: Trained, logits: Tensor, split: Split) -> Mapping[str, Tensor]:
        energy = -logits.logsumexp(-1)
        return {
            "energy": torch.from_numpy(spread(energy.numpy(), self.graph)),
            "own_energy": energy,
        }


METHOD = Method(
    name="energy",
    title="Energy of a GCN (GNNSafe)",
    explanation="A plain GCN, whose outputs are also read as an energy: low where some class has "
    "much evidence, high where no class has any. The energy is averaged along links, so a node "
    "among strangers counts as one.",
    settings=gcn.WideGcnSettings,
    fit_batch=EnergyNetwork.fit_batch,
    explains=Explains(layers=gcn.layers),
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
