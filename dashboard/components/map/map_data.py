"""The data of a map: places and links once per graph, then colours and shapes of its nodes.

Ids, titles and class names are untrusted: they are sent and shown as plain text.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from bup.graph import Graph
from dashboard.components.map.excerpts import Excerpt, excerpt
from dashboard.components.map.parcels import Parcel, delta_varint, pack, quantise
from dashboard.ui import columns
from dashboard.ui.theme import PART_COLOURS, Theme, category_colours, score_colours

Limits = tuple[float, float]
Point = tuple[float, float]

FOLD = 10
"""Components of fewer nodes can be folded away."""
MOST_NAMES = 25_000
"""Maps of more nodes are not sent the ids, until the visitor zooms in."""
_STEPS = 32767  # layouts are stored in such steps, so nothing is lost
_SAMPLE = 30_000  # a sample of nodes that is large enough to place class names
_STOPS = 24  # colours of a scale; the map interpolates between them


def graph_parcel(graph: Graph, positions: np.ndarray, part: Excerpt | None = None) -> Parcel:
    """The part of the data of a graph, or of its excerpt, that is the same for every run."""
    part = part or excerpt(graph, positions)
    nodes = np.arange(graph.num_nodes) if part.nodes is None else part.nodes
    named = len(nodes) <= MOST_NAMES
    small = np.bincount(graph.components)[graph.components] < FOLD
    header = {
        "ids": [graph.node_id(i) for i in nodes.tolist()] if named else None,
        "noun": [graph.noun.one, graph.noun.many],
        "named": graph.names and ("ids" if graph.names is graph.ids else "titles"),
        "titles": [graph.titles[i] for i in nodes.tolist()] if named and graph.titles else None,
        "classes": list(graph.class_names),
        "regions": regions(positions, graph.labels, graph.class_names),
        "all": [graph.num_nodes, graph.num_edges],
        "box": [*positions.min(axis=0).tolist(), *positions.max(axis=0).tolist()],
        "window": part.window,
        "thinned": part.thinned,
        "count": len(nodes),
    }
    return pack(
        header,
        numbers=delta_varint(nodes) if part.nodes is not None else np.zeros(0, np.uint8),
        places=np.round(part.of(positions) * _STEPS).astype(np.int16),
        links=delta_varint(part.links[0].astype(np.int64) * len(nodes) + part.links[1]),
        small=np.packbits(part.of(small), bitorder="little"),
    )


def regions(
    positions: np.ndarray, labels: np.ndarray, class_names: Sequence[str]
) -> list[dict[str, Any]]:
    """Where to write the name of each class, the largest class first: the mean place of its nodes
    around the node that has many nodes of its class near it, and few others."""
    if len(labels) > _SAMPLE:  # of very many, some tell where the others are
        some = np.random.RandomState(0).choice(len(labels), _SAMPLE, replace=False)
        positions, labels = positions[some], labels[some]
    tree, places = KDTree(positions), []
    reach = 0.16 * float(np.ptp(positions, axis=0).max() or 1) / 2
    for label, name in enumerate(class_names):
        members = positions[labels == label]
        if len(members) == 0:
            continue
        class_tree, sample = KDTree(members), members[:: max(1, len(members) // 200)]
        same, near = (
            t.query_ball_point(sample, reach, return_length=True) for t in (class_tree, tree)
        )
        centre = sample[int(np.argmax(same**2 / near))]
        x, y = members[class_tree.query_ball_point(centre, reach)].mean(axis=0).tolist()
        places.append({"name": str(name), "x": x, "y": y, "nodes": len(members)})
    return sorted(places, key=lambda region: -region["nodes"])


def inside(positions: np.ndarray, corners: Sequence[Point]) -> np.ndarray:
    """Which nodes [n] are inside a polygon: a line to the right crosses its sides an odd number of
    times. nodesInPolygon in scene.js does the same with the same numbers."""
    x, y = positions.astype(np.float32).astype(float).T
    odd = np.zeros(len(positions), dtype=bool)
    for (ax, ay), (bx, by) in pairwise([corners[-1], *corners]):
        if ay != by:
            odd ^= ((ay > y) != (by > y)) & (x < bx + (y - by) / (ay - by) * (ax - bx))
    return odd


def layer_parcel(
    table: pd.DataFrame,
    colour_by: str,
    class_names: Sequence[str],
    shown: np.ndarray,
    part: Excerpt | None = None,
) -> Parcel:
    """Each node of a run: the value of its colour (or the number of its category), the shape of its
    verdict, whether it is shown, its predicted and its true class."""
    if part is not None and part.nodes is not None:
        table, shown = table.iloc[part.nodes], shown[part.nodes]
    shades, scale = shades_of(table, colour_by, class_names)
    classes = pd.Index(class_names)
    code = np.int8 if len(class_names) < 127 else np.int16
    return pack(
        {"scale": scale},
        shades=shades,
        said=classes.get_indexer(table["predicted"]).astype(code),
        truth=classes.get_indexer(table["true"]).astype(code),
        shapes=columns.verdicts(table).astype(np.uint8),
        shown=np.packbits(shown, bitorder="little"),
    )


def shades_of(
    table: pd.DataFrame, colour_by: str, class_names: Sequence[str]
) -> tuple[np.ndarray, list[float]]:
    """The value of each node's colour, or the number of its category, as 16-bit steps [n]; and
    [first value, size of a step]."""
    column = columns.column_of(table, colour_by)
    if column.kind == "score":
        return quantise(column.shade(table[colour_by].to_numpy(np.float32)))
    names = pd.Index(list(category_colours(colour_by, class_names)))
    codes = names.get_indexer(columns.categories(table, colour_by))
    return codes.astype(np.uint16), [0, 1]


def own_limits(table: pd.DataFrame, colour_by: str) -> Limits | None:
    """The first and last shade of the scale that fits a run; None for a category."""
    column = columns.column_of(table, colour_by)
    if column.kind != "score":
        return None
    return columns.colour_limits(column.shade(table[colour_by].to_numpy(np.float32)))


def look(
    table: pd.DataFrame,
    colour_by: str,
    class_names: Sequence[str],
    theme: Theme,
    limits: Limits | None,
) -> dict[str, Any]:
    """The colours of a map, and what its colours and shapes mean."""
    column = columns.column_of(table, colour_by)
    verdicts = columns.verdicts(table)
    unlabelled = " or unlabelled" if (table["true"] == "").any() else ""
    signs = {
        columns.RIGHT: ("circle", "right" + unlabelled),
        columns.WRONG: ("cross", "wrong"),
        columns.LEFT_OUT: ("diamond", "class never shown"),
    }
    appearance: dict[str, Any] = {
        "colour": colour_by,
        "label": column.label,
        "meaning": column.meaning,
        "shapes": [sign for verdict, sign in signs.items() if (verdicts == verdict).any()],
        "missing": PART_COLOURS["unused"],
        "text": theme.text,
        "paper": theme.background,
        "ink": theme.ink,
        "accent": "#56B4E9" if theme.dark else "#0072B2",
        "dark": theme.dark,
        "font": theme.font_size + 1,
        "enlarge": 1.1 if theme.large else 1,
        "fold": FOLD,
        "doubt": column.uncertain,
        "legend": [],
    }
    if limits is None:
        colours = category_colours(colour_by, class_names)
        present = set(columns.categories(table, colour_by))
        legend = [(name or "unlabelled", c) for name, c in colours.items() if name in present]
        return appearance | {"colours": list(colours.values()), "legend": legend, "limits": None}
    low, high = limits
    ends = [(column.format_shade(low), column.low), (column.format_shade(high), column.high)]
    if not np.isfinite(table[colour_by]).all():
        appearance["shapes"].append(("circle missing", "no path to training"))
    return appearance | {
        "colours": score_colours(np.linspace(0, 1, _STOPS), theme, column.uncertain),
        "limits": [low, high],
        "ends": ends,
        "turn": "log" if column.log else "minus" if column.reverse else "",
    }
