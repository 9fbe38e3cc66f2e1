"""The links of a graph as one faint picture."""

import numpy as np
from PIL import Image, ImageColor

from dashboard.ui.theme import Theme

_MARGIN = 0.03  # around the outermost nodes, in units of the map
_LEVELS = 16  # of the links' opacity: four bits a pixel
_SAMPLES = 500_000  # along links, at a time
_MAX_LINKS = 200_000


def bounds(positions: np.ndarray) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the map, of its picture too."""
    (left, bottom), (right, top) = positions.min(axis=0), positions.max(axis=0)
    return (
        float(left) - _MARGIN,
        float(right) + _MARGIN,
        float(bottom) - _MARGIN,
        float(top) + _MARGIN,
    )


def edge_image(
    positions: np.ndarray, edges: np.ndarray, theme: Theme, width: int = 2400
) -> Image.Image:
    """All links as thin translucent lines, the long ones fainter, to lie below the points.

    A palette image whose colours differ in opacity alone. Of more than 200,000 links it shows an
    even sample.
    """
    edges = edges[:, :: -(-edges.shape[1] // _MAX_LINKS) or 1]
    left, right, bottom, top = bounds(positions)
    height = max(1, round((top - bottom) / (right - left) * width))
    scale = [width / (right - left), height / (bottom - top)]
    pixels = ((positions - [left, top]) * scale - 0.5).astype(np.float32)
    ink = _ink(pixels[edges[0]], pixels[edges[1]], width, height)
    level = np.round((_LEVELS - 1) * (1 - np.exp(-0.8 * ink))).astype(np.uint8)
    picture = Image.fromarray(level).convert("P")
    picture.putpalette(ImageColor.getrgb(theme.text) * _LEVELS)
    most = 110 if theme.dark else 130
    picture.info["transparency"] = bytes(round(most * k / (_LEVELS - 1)) for k in range(_LEVELS))
    return picture


def _ink(start: np.ndarray, end: np.ndarray, width: int, height: int) -> np.ndarray:
    """How much the lines between points [m, 2] darken each pixel [height, width]."""
    reach = np.abs(end - start)
    length = reach.max(axis=1, initial=0)
    strength = np.minimum(1, width / 20 / np.maximum(length, 1)) ** 0.7
    # A line has one sample per pixel along its longer extent; across it, the two nearest pixels
    # share the ink, which makes it smooth.
    steep = reach[:, 1] > reach[:, 0]
    start, end = (np.where(steep[:, None], p[:, ::-1], p) for p in (start, end))
    onward, aside = np.where(steep, [[width], [1]], [[1], [width]])
    steps = np.ceil(length).astype(np.int64) + 1
    slope = (end - start) / steps[:, None]
    ink = np.zeros(width * height)
    portion = np.cumsum(steps) // _SAMPLES
    for number in np.unique(portion):
        few = np.flatnonzero(portion == number)
        line = np.repeat(few, steps[few])
        step = np.arange(len(line)) - np.repeat(np.cumsum(steps[few]) - steps[few], steps[few])
        along, across = (start[line] + (step + 0.5)[:, None] * slope[line]).T
        low = across.astype(np.int64)
        pixel = np.rint(along).astype(np.int64) * onward[line] + low * aside[line]
        beyond = (across - low) * strength[line]
        ink += np.bincount(pixel, strength[line] - beyond, len(ink))
        ink += np.bincount(pixel + aside[line], beyond, len(ink))
    return ink.reshape(height, width)
