"""A small picture for every word of the glossary, drawn from a few shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from urllib.parse import quote

BLUE, ORANGE, RED, GREEN = "#56B4E9", "#E69F00", "#D55E00", "#009E73"
GREY = "#8C8C8C"  # seen on light and dark pages
Place = tuple[float, float]
HUB: Place = (36, 22)
AROUND: tuple[Place, ...] = ((12, 10), (14, 36), (60, 8), (60, 36))


def _dot(at: Place, colour: str = BLUE, radius: float = 5) -> str:
    return f'<circle cx="{at[0]}" cy="{at[1]}" r="{radius}" fill="{colour}"/>'


def _ring(at: Place, radius: float, colour: str = ORANGE) -> str:
    return (
        f'<circle cx="{at[0]}" cy="{at[1]}" r="{radius}" fill="none" stroke="{colour}" '
        'stroke-width="2" stroke-dasharray="3 2"/>'
    )


def _line(a: Place, b: Place, colour: str = GREY, width: float = 1.5) -> str:
    return (
        f'<line x1="{a[0]}" y1="{a[1]}" x2="{b[0]}" y2="{b[1]}" stroke="{colour}" '
        f'stroke-width="{width}"/>'
    )


def _path(points: Sequence[Place], colour: str = BLUE, fill: str = "none") -> str:
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{way}" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def _bell(middle: float, width: float, colour: str = BLUE, height: float = 30) -> str:
    steps = [middle + width * z / 4 for z in range(-12, 13)]
    points = [(x, 40 - height * math.exp(-(((x - middle) / width) ** 2) / 2)) for x in steps]
    return _path(points, colour, colour + "40")


def _bars(heights: Sequence[float], colours: Sequence[str] = (BLUE,)) -> str:
    wide = 60 / len(heights)
    return "".join(
        f'<rect x="{6 + i * wide:.1f}" y="{40 - 34 * h:.1f}" width="{wide - 3:.1f}" '
        f'height="{34 * h:.1f}" fill="{colours[i % len(colours)]}"/>'
        for i, h in enumerate(heights)
    )


def _star(colours: Sequence[str] = (BLUE,) * 4, hub: str = ORANGE, width: float = 1.5) -> str:
    lines = "".join(_line(HUB, at, width=width) for at in AROUND)
    dots = "".join(_dot(at, colour) for at, colour in zip(AROUND, colours, strict=True))
    return lines + dots + _dot(HUB, hub, 6)


def _cloud(at: Place, colour: str, count: int = 7) -> str:
    turns = [2.4 * k for k in range(count)]
    spots = [(at[0] + 2.6 * k**0.5 * math.cos(t), at[1] + 2.6 * k**0.5 * math.sin(t)) for k, t in
             enumerate(turns)]  # fmt: skip
    return "".join(_dot(spot, colour, 2) for spot in spots)


DIAGONAL = _line((8, 40), (66, 4))
RISING = _path([(8, 40), (12, 24), (22, 13), (40, 7), (66, 4)], BLUE)
SHAPES = {
    "node": _dot(HUB, ORANGE, 9),
    "link": _line((16, 22), (56, 22), ORANGE, 3) + _dot((16, 22)) + _dot((56, 22)),
    "neighbours": _star((ORANGE,) * 4, BLUE),
    "degree": _star(width=3),
    "homophily": _star((BLUE, BLUE, BLUE, RED), BLUE),
    "class": _dot((18, 22), BLUE, 8) + _dot((36, 22), ORANGE, 8) + _dot((54, 22), GREEN, 8),
    "GCN": _star() + _ring(HUB, 12, GREY),
    "BUP": _star() + "".join(_ring(at, 8) for at in (HUB, *AROUND)),
    "message": _bell(26, 6) + _bell(46, 9, ORANGE, 24),
    "mean": _bell(36, 9) + _line((36, 42), (36, 8), RED, 2.5),
    "variance": _bell(36, 11) + _line((18, 26), (54, 26), RED, 2.5),
    "standard deviation": _bell(36, 11) + _line((36, 22), (47, 22), RED, 2.5),
    "propagation": _line((16, 22), (56, 22), RED, 3) + _dot((16, 22)) + _ring((16, 22), 10)
    + _dot((56, 22)) + _ring((56, 22), 7),
    "lam": _line((14, 12), (58, 12), BLUE, 5) + _line((14, 32), (58, 32), BLUE, 1.5),
    "correlation": _path([(10, 32), (24, 12), (40, 34), (62, 14)], BLUE)
    + _path([(10, 36), (24, 18), (40, 38), (62, 20)], ORANGE),
    "evidence propagation": _star(width=3) + _ring(HUB, 9, GREEN),
    "doubt": _star() + _ring(HUB, 11) + _ring(HUB, 16),
    "margin": _bell(24, 7, ORANGE, 26) + _bell(48, 7) + _line((24, 8), (48, 8), RED, 2.5),
    "likelihood": _bell(26, 7, ORANGE, 24) + _bell(44, 9, BLUE),
    "cross-entropy": _path([(8, 4), (14, 20), (26, 31), (44, 37), (66, 40)], RED),
    "softmax": _bars((0.2, 0.9, 0.35), (ORANGE, BLUE, GREEN)),
    "erf product": _path([(8, 39), (24, 36), (36, 22), (48, 8), (66, 5)], BLUE),
    "confidence": _bars((0.15, 0.95, 0.2), ("#9A9A9A", BLUE, "#9A9A9A")),
    "credible interval": _bell(36, 10) + _line((20, 40), (52, 40), RED, 4),
    "calibrated": DIAGONAL + "".join(_dot((x, 45 - 0.62 * x), BLUE, 3) for x in (16, 30, 44, 58)),
    "reliability diagram": _bars((0.2, 0.35, 0.6, 0.85)) + DIAGONAL,
    "ECE": _bars((0.35, 0.5, 0.8, 0.95)) + DIAGONAL,
    "ACE": _bars((0.4, 0.5, 0.6, 0.7)) + DIAGONAL,
    "temperature": _bars((0.3, 0.5, 0.3), (ORANGE,)) + _bars((0.1, 0.9, 0.1), (BLUE + "80",)),
    "out of distribution": _cloud((22, 24), BLUE) + _cloud((56, 14), ORANGE, 4),
    "ROC curve": DIAGONAL + RISING,
    "AUROC": DIAGONAL
    + _path([(8, 40), (12, 24), (22, 13), (40, 7), (66, 4), (66, 40)], BLUE, BLUE + "50"),
    "aleatoric": _cloud((30, 22), BLUE, 9) + _cloud((38, 24), ORANGE, 9),
    "epistemic": _cloud((18, 24), BLUE, 3) + _ring((52, 20), 12, RED),
    "mutual information": _path([(8, 34), (36, 20), (66, 8)], BLUE)
    + _path([(8, 30), (36, 22), (66, 34)], ORANGE),
    "density": _ring((36, 22), 16, BLUE) + _ring((36, 22), 10, BLUE) + _cloud((36, 22), BLUE),
    "prediction set": _dot((20, 22), BLUE, 7) + _dot((38, 22), ORANGE, 7)
    + _dot((60, 22), "#9A9A9A", 6) + _ring((29, 22), 19, GREY),
    "coverage": _bars((0.95, 0.9, 0.6), (BLUE, BLUE, RED)) + _line((4, 9), (68, 9)),
    "posterior": _bars((0.7, 0.25, 0.1), (BLUE, ORANGE, GREEN)),
}  # fmt: skip


def drawing(word: str) -> str:
    """As SVG."""
    frame = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 44" width="72" height="44"'
    return f"<svg {frame}>{SHAPES[word]}</svg>"


def picture(word: str) -> str:
    """As an image, because pages are rid of any SVG between their words.

    Without a name: the words beside it say the same to whoever does not see it.
    """
    return f'<img class="word" alt="" src="data:image/svg+xml,{quote(drawing(word))}">'
