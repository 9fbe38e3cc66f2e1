"""A small picture that says where on the map the picked node is."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from dashboard.theme import OUT, Theme


def locator(
    positions: np.ndarray, node: int, near: np.ndarray, theme: Theme, width: int = 440
) -> Image.Image:
    """All nodes as dust, the neighbours as dots, the picked node ringed; twice the shown size."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    span = np.maximum(high - low, 1e-6)
    height = max(80, round(width * float(span[1] / span[0])))
    margin = 12
    size = np.array([width, height]) - 2 * margin
    places = margin + (positions - low) / span * size
    places[:, 1] = height - places[:, 1]
    dust = np.zeros((height, width), dtype=np.uint8)
    columns, rows = places.round().astype(int).T
    for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
        dust[(rows + down).clip(0, height - 1), (columns + right).clip(0, width - 1)] = 130
    picture = Image.new("RGB", (width, height), theme.background)
    picture.paste(Image.new("RGB", (width, height), theme.text), mask=Image.fromarray(dust))
    draw = ImageDraw.Draw(picture)
    for x, y in places[near]:
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill="#56B4E9")
    x, y = places[node]
    draw.ellipse((x - 12, y - 12, x + 12, y + 12), outline=OUT, width=4)
    draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=OUT)
    return picture
