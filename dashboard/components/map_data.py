"""What the map of a graph is sent: its places and links once, then what each node looks like.

Ids, titles and class names are untrusted: they travel as plain text, and the map shows them as
such.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from bup.errors import BupError
from bup.graph import Graph
from dashboard import columns
from dashboard.columns import Column
from dashboard.theme import PART_COLOURS, Theme, category_colours, score_colours

Limits = tuple[float, float]

FOLD = 10
"""Components of fewer nodes can be folded away."""
_STOPS = 24  # colours of a scale; the map mixes those in between


@dataclass(frozen=True)
class Parcel:
    """Bytes that a browser keeps by their digest."""

    digest: str
    content: bytes


def packed(header: dict[str, Any], **arrays: np.ndarray) -> Parcel:
    """Digest, length of the header, header as JSON, then the arrays, all little-endian."""
    kinds = [
        (name, array.dtype.newbyteorder("<").str[1:], array.size) for name, array in arrays.items()
    ]
    head = json.dumps(header | {"arrays": kinds}).encode()
    body = b"".join(
        [
            np.uint32(len(head)).astype("<u4").tobytes(),
            head,
            *(array.astype(array.dtype.newbyteorder("<")).tobytes() for array in arrays.values()),
        ]
    )
    digest = hashlib.sha256(body).hexdigest()[:16]
    return Parcel(digest, digest.encode() + body)


def graph_parcel(graph: Graph, positions: np.ndarray) -> Parcel:
    """Everything about a graph that no run changes."""
    n = graph.num_nodes
    parts = np.bincount(graph.components)[graph.components]
    header = {
        "ids": [graph.node_id(i) for i in range(n)],
        "titles": list(graph.titles) if graph.titles is not None else None,
        "classes": list(graph.class_names),
        "regions": regions(positions, graph.labels, graph.class_names),
    }
    return packed(
        header,
        places=positions.astype(np.float32),
        links=np.ascontiguousarray(graph.edges.T).astype(np.uint32),
        parts=parts.astype(np.uint32),
    )


def regions(
    positions: np.ndarray, labels: np.ndarray, class_names: Sequence[str]
) -> list[dict[str, Any]]:
    """Where to write the name of each class, that of the largest first: the middle of its nodes
    around the one that has many of its own class near it, and few others."""
    tree, found = KDTree(positions), []
    reach = 0.16 * float(np.ptp(positions, axis=0).max() or 1) / 2
    for label, name in enumerate(class_names):
        members = positions[labels == label]
        if len(members) == 0:
            continue
        own, some = KDTree(members), members[:: max(1, len(members) // 200)]
        mine, near = (t.query_ball_point(some, reach, return_length=True) for t in (own, tree))
        centre = some[int(np.argmax(mine**2 / near))]
        x, y = members[own.query_ball_point(centre, reach)].mean(axis=0).tolist()
        found.append({"name": str(name), "x": x, "y": y, "nodes": len(members)})
    return sorted(found, key=lambda region: -region["nodes"])


def layer_parcel(
    table: pd.DataFrame, colour_by: str, class_names: Sequence[str], shown: np.ndarray
) -> Parcel:
    """What each node of a run looks like: what its colour is proportional to (or the number of its
    category), the shape of its verdict, whether it is shown, its predicted and its true class."""
    column = _column(table, colour_by)
    if column.kind == "score":
        shades = column.shade(table[colour_by].to_numpy(np.float32))
    else:
        names = pd.Index(list(category_colours(colour_by, class_names)))
        shades = names.get_indexer(columns.categories(table, colour_by))
    classes = pd.Index(class_names)
    return packed(
        {},
        shades=shades.astype(np.float32),
        said=classes.get_indexer(table["predicted"]).astype(np.int16),
        truth=classes.get_indexer(table["true"]).astype(np.int16),
        shapes=columns.verdicts(table).astype(np.uint8),
        shown=np.asarray(shown).astype(np.uint8),
    )


def own_limits(table: pd.DataFrame, colour_by: str) -> Limits | None:
    """The first and last shade of the scale that fits a run; None for a category."""
    column = _column(table, colour_by)
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
    """What the colours and shapes mean, and the colours themselves."""
    column = _column(table, colour_by)
    verdicts = columns.verdicts(table)
    unlabelled = " or unlabelled" if (table["true"] == "").any() else ""
    signs = {
        columns.RIGHT: ("circle", "right" + unlabelled),
        columns.WRONG: ("cross", "wrong"),
        columns.LEFT_OUT: ("diamond", "class never shown"),
    }
    said: dict[str, Any] = {
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
        return said | {"colours": list(colours.values()), "legend": legend, "limits": None}
    low, high = limits
    ends = [(column.written(low), column.low), (column.written(high), column.high)]
    if not np.isfinite(table[colour_by]).all():
        said["shapes"].append(("circle missing", "no path to training"))
    return said | {
        "colours": score_colours(np.linspace(0, 1, _STOPS), theme, column.uncertain),
        "limits": [low, high],
        "ends": ends,
        "turn": "log" if column.log else "minus" if column.turned else "",
    }


def _column(table: pd.DataFrame, colour_by: str) -> Column:
    known = columns.of(table)
    if colour_by not in known:
        names = ", ".join(known)
        raise BupError(f"this run cannot be coloured by {colour_by!r}: choose one of {names}")
    return known[colour_by]
