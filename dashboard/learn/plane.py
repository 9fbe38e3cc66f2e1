"""Papers as points of a plane: three known classes, and strangers that the student moves."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from bup import metrics
from bup.propagation.doubt import floored
from bup.propagation.topics import Scatter

CENTRES = np.array([(0.24, 0.3), (0.34, 0.74), (0.6, 0.42)])
PER_CLASS, LABELLED = 60, 10  # papers of a known class, and those of them with a label
KNOWN = PER_CLASS * len(CENTRES)
WIDTH = 0.05  # standard deviation of a group
MOST_STRANGERS = 80
COLUMNS, ROWS = 48, 32  # of the drawn ground
OUTLINE = 1.5  # standard deviations from the middle of a ring to its edge


@dataclass(frozen=True)
class Plane:
    """Papers of known classes, which never move, and strangers where the student puts them."""

    strangers: int = 40
    x: float = 0.85
    y: float = 0.14

    @property
    def groups(self) -> np.ndarray:
        """The group of every paper [n]: its class, or one more for strangers."""
        classes = len(CENTRES)
        return np.repeat(np.arange(classes + 1), [PER_CLASS] * classes + [self.strangers])

    @property
    def labelled(self) -> np.ndarray:
        return np.concatenate([c * PER_CLASS + np.arange(LABELLED) for c in range(len(CENTRES))])

    @cached_property
    def points(self) -> np.ndarray:
        """Where papers lie [n, 2]; the first stranger in the middle of its group."""
        luck = np.random.RandomState(3).standard_normal((KNOWN + MOST_STRANGERS, 2))
        luck[KNOWN] = 0
        middles = np.vstack([CENTRES, [(self.x, self.y)]])[self.groups]
        return middles + WIDTH * luck[: len(middles)]

    @cached_property
    def scatter(self) -> Scatter:
        nodes = self.labelled
        return Scatter.of(self.points, nodes, self.groups[nodes], len(CENTRES))

    def doubt(self, places: np.ndarray | None = None) -> np.ndarray:
        """Doubt of words, in nats: of the papers [n], or at other places [k]."""
        ratios = self.scatter.log_ratios(self.points if places is None else places)
        known = logsumexp(ratios, axis=1) - np.log(len(CENTRES))
        return floored(1 / (1 + np.exp(-known)))

    def ground(self) -> np.ndarray:
        """Doubt over the whole plane [rows, columns]."""
        x, y = (np.arange(COLUMNS) + 0.5) / COLUMNS, (np.arange(ROWS) + 0.5) / ROWS
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return self.doubt(places).reshape(ROWS, COLUMNS)

    def rings(self) -> list[np.ndarray]:
        """Around every class and, last, around all papers: where most of them lie [points, 2]."""
        turns = np.linspace(0, 2 * np.pi, 60)
        circle = OUTLINE * np.stack([np.cos(turns), np.sin(turns)])
        scatter = self.scatter
        middles = [(mean, scatter.inner) for mean in scatter.means]
        return [
            middle + (np.linalg.cholesky(spread) @ circle).T
            for middle, spread in [*middles, (scatter.centre, scatter.total)]
        ]

    @property
    def of_strangers(self) -> float:
        """Their mean doubt, in nats."""
        return float(self.doubt()[KNOWN:].mean())

    @property
    def surer(self) -> float:
        """The share of known papers with less doubt than a stranger: the AUROC of doubt."""
        return metrics.auroc(self.doubt(), self.groups == len(CENTRES))
