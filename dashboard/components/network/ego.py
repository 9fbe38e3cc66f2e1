"""The network around one node: its nodes and links, their first places and their look.

Ids, titles and class names are untrusted: they are sent as plain text and never become HTML.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from plotly.colors import hex_to_rgb, unlabel_rgb

from bup.errors import BupError
from bup.graph import Graph
from dashboard.ui import columns
from dashboard.ui.columns import Column, colour_limits
from dashboard.ui.numbers import counted
from dashboard.ui.theme import OUT, WRONG, Theme, score_colours

Link = tuple[int, int]

LABEL_LENGTH = 18


@dataclass(frozen=True, eq=False)
class EgoNetwork:
    """Nodes and links as vis-network takes them, nearest nodes first."""

    centre: int
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    hidden: int  # nodes within reach that the limit cut off
    hidden_near: int  # those of them that are linked to the centre itself
    score: str  # what the colours mean, in words
    low: float  # the value of the first colour
    high: float  # and of the last
    doubt: bool  # the colours show doubt
    theme: Theme


def legend(ego: EgoNetwork) -> str:
    """The meaning of the shapes that occur, and how many nodes are not drawn."""
    parts = {
        "★ picked": True,
        "● known class": True,
        "◆ left-out class": any(node["ood"] for node in ego.nodes),
        "✕ predicted wrongly": any(node["cross"] for node in ego.nodes),
        "larger: more links": True,
        not_drawn(ego): ego.hidden > 0,
    }
    return " · ".join(part for part, occurs in parts.items() if occurs)


def not_drawn(ego: EgoNetwork) -> str:
    """How many nodes the limit left out, and how many of them are linked to the centre."""
    near, further = ego.hidden_near, ego.hidden - ego.hidden_near
    parts = [f"{near:,} of its own links"] if near else []
    parts += [f"{further:,} further out"] if further else []
    return f"not drawn: {' and '.join(parts)}"


def ego_network(
    graph: Graph,
    table: pd.DataFrame,
    node: int,
    hops: int,
    score: str,
    theme: Theme,
    limit: int = 150,
    values: np.ndarray | None = None,
    limits: tuple[float, float] | None = None,
) -> EgoNetwork:
    """The nodes within ``hops`` links of ``node``, at most ``limit`` of them, nearest first.

    ``table`` is that of ``bup.results.result.node_table``. Colours show the column ``score``; or
    ``values`` [n], missing where not finite, which ``score`` then merely names. ``limits`` keeps
    the colours comparable between several such arrays; else they are those of all nodes of the
    graph.
    """
    if not 0 <= node < graph.num_nodes:
        raise BupError(f"there is no node {node}: choose one of 0 to {graph.num_nodes - 1}")
    if hops < 1 or limit < 1:
        raise BupError(f"hops and limit must be at least 1, got {hops} and {limit}")
    values = _numbers(table, score) if values is None else np.asarray(values, dtype=float)
    words = score.replace("_", " ")
    column = columns.all_columns(table).get(score, Column(words, "", uncertain=True))
    shades = column.shade(values)
    low, high = limits or colour_limits(shades)

    distance = _distances(graph, node, hops)
    reach = sorted(distance, key=lambda i: (distance[i], i))
    shown = reach[:limit]
    links = _links_among(graph, shown)
    places = _rings(shown, distance, links)
    colours = _colours(shades[shown], low, high, theme, column.uncertain)
    rows = table.iloc[shown].to_dict("records")
    nodes = [
        _node(
            (graph.name_of(i), graph.about(i)),
            row,
            i,
            distance[i],
            places[i],
            float(values[i]),
            colour,
            column.label,
            theme,
        )
        for i, row, colour in zip(shown, rows, colours, strict=True)
    ]
    edges = [
        {"id": f"{a}-{b}", "from": a, "to": b, "width": 2 if node in (a, b) else 1}
        for a, b in links
    ]
    low, high = column.value(low), column.value(high)
    near = sum(distance[i] == 1 for i in reach[limit:])
    hidden, label = len(reach) - len(shown), column.label
    return EgoNetwork(node, nodes, edges, hidden, near, label, low, high, column.uncertain, theme)


def _numbers(table: pd.DataFrame, score: str) -> np.ndarray:
    numeric = table.select_dtypes("number").columns
    if score not in numeric:
        raise BupError(f"cannot colour by {score!r}: choose one of {', '.join(numeric)}")
    return table[score].to_numpy(dtype=float)


def _distances(graph: Graph, node: int, hops: int) -> dict[int, int]:
    """Links from ``node`` to every node within reach; itself at 0."""
    distance = {node: 0}
    frontier = {node}
    for hop in range(1, hops + 1):
        near = {j for i in frontier for j in graph.neighbours(i).tolist()}
        frontier = near - distance.keys()
        distance |= dict.fromkeys(frontier, hop)
    return distance


def _links_among(graph: Graph, nodes: list[int]) -> list[Link]:
    shown = np.zeros(graph.num_nodes, dtype=bool)
    shown[nodes] = True
    return [(a, b) for a, b in graph.edges[:, shown[graph.edges].all(axis=0)].T.tolist()]


def _rings(
    nodes: list[int], distance: dict[int, int], links: list[Link]
) -> dict[int, tuple[float, float]]:
    """First places: one ring per hop, every node in the sector of its parent, no crossings.

    Every parent is among the nodes, because the limit cuts off the farthest ones.
    """
    parent: dict[int, int] = {}
    for near, far in sorted([*links, *((b, a) for a, b in links)]):
        if distance[far] == distance[near] + 1:
            parent.setdefault(far, near)
    width = dict.fromkeys(nodes, 0)
    for i in reversed(nodes):
        width[i] = max(width[i], 1)
        if i in parent:
            width[parent[i]] += width[i]
    sizes = np.bincount([distance[i] for i in nodes])
    radius = [0.0]
    for size in sizes[1:]:
        radius.append(max(radius[-1] + 110, size * 36 / (2 * np.pi)))
    begin = dict.fromkeys(nodes, 0.0)  # where the next child's sector starts, in shares of a turn
    places = {nodes[0]: (0.0, 0.0)}
    for i in nodes[1:]:
        share = width[i] / width[nodes[0]]
        begin[i] = begin[parent[i]]
        begin[parent[i]] += share
        angle = 2 * np.pi * (begin[i] + share / 2)
        r = radius[distance[i]]
        places[i] = (round(float(r * np.cos(angle)), 1), round(float(r * np.sin(angle)), 1))
    return places


def _colours(values: np.ndarray, low: float, high: float, theme: Theme, doubt: bool) -> list[str]:
    known = np.isfinite(values)
    share = np.clip((np.where(known, values, low) - low) / ((high - low) or 1), 0, 1)
    return [
        c if k else theme.background
        for c, k in zip(score_colours(share, theme, doubt), known, strict=True)
    ]


def _node(
    names: tuple[str, str],
    row: dict[str, Any],
    index: int,
    hop: int,
    place: tuple[float, float],
    value: float,
    colour: str,
    score: str,
    theme: Theme,
) -> dict[str, Any]:
    ood, correct = bool(row["ood"]), row["correct"]
    wrong = not pd.isna(correct) and not correct
    name, about = names
    size = 8 + 4 * float(np.log2(row["degree"] + 1))
    verdict = " (a left-out class)" if ood else " (wrong)" if wrong else ""
    lines = [
        f"{name}: {about}" if about else name,
        f"class: {row['true'] or 'unknown'}",
        f"predicted: {row['predicted']}{verdict}",
        f"{score}: {value:.4g}" if np.isfinite(value) else f"{score}: no value",
        f"{counted(row['degree'], 'link')}, {row['part']} node",
    ]
    label = name if len(name) <= LABEL_LENGTH else f"{name[: LABEL_LENGTH - 1]}…"
    return {
        "id": index,
        "label": f"{label} ◆" if ood and hop == 0 else label,  # the star took the diamond's place
        "x": place[0],
        "y": place[1],
        "shape": "star" if hop == 0 else "diamond" if ood else "dot",
        "size": round(size + 8 if hop == 0 else size, 1),
        "color": {"background": colour, "border": WRONG if wrong else OUT if ood else theme.text},
        "borderWidth": 3 if wrong or ood else 1,
        "ood": ood,
        "cross": _contrast(colour) if wrong else None,
        "title": "\n".join(lines),
    }


def _contrast(colour: str) -> str:
    """Black or white, whichever stands out from an ``rgb(...)`` or ``#rrggbb`` colour."""
    r, g, b = hex_to_rgb(colour) if colour.startswith("#") else unlabel_rgb(colour)
    return "#000000" if 0.299 * r + 0.587 * g + 0.114 * b > 128 else "#FFFFFF"
