"""Papers as points of a plane: three known classes, and strangers that are put somewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bup import metrics
from bup.propagation.doubt import floored
from bup.propagation.topics import class_log_ratios

CENTRES = np.array([(0.24, 0.3), (0.34, 0.74), (0.6, 0.42)])
PER_CLASS, LABELLED = 60, 10  # papers of a known class, and those of them with a label
WIDTH = 0.075
LINKS = 4
COLUMNS, ROWS = 48, 32  # of the drawn density


@dataclass(frozen=True)
class Plane:
    """What there is to see; the same luck for every setting, so that only what is moved moves."""

    strangers: int = 40
    x: float = 0.85
    y: float = 0.14
    homophily: float = 0.9  # the share of links that stay inside a group

    @property
    def groups(self) -> np.ndarray:
        """The group of every paper [n]: its class, or one more for strangers."""
        classes = len(CENTRES)
        return np.repeat(np.arange(classes + 1), [PER_CLASS] * classes + [self.strangers])

    @property
    def labelled(self) -> np.ndarray:
        return np.concatenate([c * PER_CLASS + np.arange(LABELLED) for c in range(len(CENTRES))])

    def points(self) -> np.ndarray:
        """Where papers lie [n, 2]: their own words, averaged twice over their links."""
        groups = self.groups
        random = np.random.RandomState(3)
        places = np.vstack([CENTRES, [(self.x, self.y)]])[groups]
        spots = places + 2 * WIDTH * random.standard_normal((400, 2))[: len(groups)]
        near = self._neighbours(groups)
        for _ in range(2):
            spots = (spots + spots[near].sum(axis=1)) / (LINKS + 1)
        return spots

    def _neighbours(self, groups: np.ndarray) -> np.ndarray:
        """Four links per paper [n, 4]."""
        random = np.random.RandomState(5)
        inside = random.random_sample((400, LINKS))[: len(groups)] < self.homophily
        luck = random.random_sample((400, LINKS))[: len(groups)]
        starts, counts = np.searchsorted(groups, groups), np.bincount(groups)[groups]
        own = starts[:, None] + (luck * counts[:, None]).astype(int)
        return np.where(inside, own, (luck * len(groups)).astype(int))

    def doubt(self, places: np.ndarray | None = None) -> np.ndarray:
        """Doubt of words, in nats: of the papers [n], or at other places [k]."""
        classes, nodes = len(CENTRES), self.labelled
        labels = self.groups[nodes]
        ratios = class_log_ratios(self.points(), nodes, labels, classes, places)
        known = logsumexp(ratios, axis=1) - np.log(classes)
        return floored(1 / (1 + np.exp(-known)))

    def density(self) -> np.ndarray:
        """Doubt over the whole plane [rows, columns]."""
        x, y = (np.arange(COLUMNS) + 0.5) / COLUMNS, (np.arange(ROWS) + 0.5) / ROWS
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return self.doubt(places).reshape(ROWS, COLUMNS)

    def found(self) -> float:
        """AUROC of doubt: do strangers rank above the papers of known classes?"""
        return metrics.auroc(self.doubt(), self.groups == len(CENTRES))
