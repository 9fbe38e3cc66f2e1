"""Components around the largest, as near as they have room."""

from collections.abc import Sequence

import numpy as np
from scipy import ndimage

_ASPECT = 1.25  # width to height of a map with many small components
_FINE = {50_000: 2.0, 500_000: 1.0}  # cells in the distance that nodes keep, up to so many nodes
_COARSE = 0.5  # and for more


def pack(components: Sequence[np.ndarray], gap: float = 0.8) -> list[np.ndarray]:
    """The components [k, 2] around the first, each along its rim, as near as it has room.

    Given the largest first, in units of the distance that nodes keep. Nearness is measured by an
    ellipse, for pages are wider than high. Each component but the first takes the room of a disc,
    twice ``gap`` away from the next, and no nearer to the first than nodes are to each other.
    """
    first, *others = [
        points - (points.min(axis=0) + points.max(axis=0)) / 2 for points in components
    ]
    cells = next((fine for most, fine in _FINE.items() if len(first) < most), _COARSE)
    radii = [np.hypot(*points.T).max() + gap for points in others]
    # Discs are laid by size, and sizes rounded up, so that one search serves all of a size.
    radii = [np.ceil(radius * cells) / cells for radius in radii]
    area = np.abs(first).max() + np.sqrt(sum((2 * radius) ** 2 for radius in radii)) + 4
    half = int(area * np.sqrt(_ASPECT) * cells)
    room = _room_around(first, half, cells)
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    nearest = np.argsort(((x / _ASPECT) ** 2 + y**2).ravel(), kind="stable")
    placed: dict[int, np.ndarray] = {}
    by_size = sorted(range(len(others)), key=lambda k: -radii[k])
    free = iter(nearest)
    for number, k in enumerate(by_size):
        reach = radii[k] * cells
        if number == 0 or radii[k] < radii[by_size[number - 1]]:
            free = iter(nearest[room.ravel()[nearest] > reach])
        # A place too near for one disc is too near for all of its size: continue from there.
        row, column = divmod(int(next(at for at in free if room.flat[at] > reach)), 2 * half + 1)
        _take(room, row, column, reach)
        centre = np.array([column - half, row - half]) / cells
        along = np.arctan2(centre[1] * _ASPECT, centre[0] / _ASPECT) + np.pi / 2
        turn = np.array([[np.cos(along), np.sin(along)], [-np.sin(along), np.cos(along)]])
        placed[k] = others[k] @ turn + centre
    return [first, *(placed[k] for k in range(len(others)))]


def _room_around(points: np.ndarray, half: int, cells: float) -> np.ndarray:
    """Distance in cells [2 half + 1, 2 half + 1] to what a component covers, its bays included."""
    bare = np.ones((2 * half + 1, 2 * half + 1), dtype=bool)
    column, row = np.rint(points * cells).astype(int).T + half
    bare[row, column] = False
    covered = ndimage.distance_transform_edt(bare) <= 4 * cells
    covered = ndimage.distance_transform_edt(covered) > 3 * cells
    return ndimage.distance_transform_edt(~ndimage.binary_fill_holes(covered))


def _take(room: np.ndarray, row: int, column: int, radius: float) -> None:
    """Lay a disc: only cells where no disc of its size or smaller fits any more are changed."""
    wide = int(2 * radius) + 2
    top, left = max(0, row - wide), max(0, column - wide)
    near = room[top : row + wide + 1, left : column + wide + 1]
    y, x = np.ogrid[: near.shape[0], : near.shape[1]]
    np.minimum(near, np.hypot(y + top - row, x + left - column) - radius, out=near)
