"""The network around one node: chosen and coloured here, drawn by vis-network in the browser.

vis-network is the copy that pyvis carries, so nothing is fetched from anywhere. Ids, titles and
class names are untrusted: they travel as plain text, and nothing here turns text into HTML.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyvis.network
import streamlit as st
from plotly.colors import unlabel_rgb

from bup.errors import BupError
from bup.graph import Graph
from dashboard import columns
from dashboard.columns import Column, colour_limits
from dashboard.theme import IN, OUT, WRONG, Theme, score_colours

Link = tuple[int, int]

HINT = "Click a node to walk on. Ctrl + scroll zooms, a double-click shows everything again."

HERE = Path(__file__).parent
LABEL_LENGTH = 14
NAMED = 60  # with more nodes than this, names at text size would hide the picture
SETTLING = {
    "enabled": True,
    "solver": "forceAtlas2Based",
    "forceAtlas2Based": {
        "gravitationalConstant": -90,
        "centralGravity": 0.006,
        "springLength": 70,
        "springConstant": 0.1,
        "damping": 0.6,
        "avoidOverlap": 0.4,
    },
    "stabilization": {"enabled": True, "iterations": 150, "fit": True},
}


@dataclass(frozen=True, eq=False)
class EgoNetwork:
    """Nodes and links as vis-network takes them, nearest nodes first."""

    centre: int
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    hidden: int  # nodes within reach that the limit cut off
    score: str  # what the colours mean, in words
    low: float  # the value of the first colour
    high: float  # and of the last
    theme: Theme


def legend(ego: EgoNetwork) -> str:
    """What the shapes mean, as far as they occur, and how much is left out."""
    kinds = {edge["kind"] for edge in ego.edges}
    parts = {
        "★ picked": True,
        "● known class": True,
        "◆ left-out class": any(node["ood"] for node in ego.nodes),
        "✕ predicted wrongly": any(node["cross"] for node in ego.nodes),
        "larger: more links": True,
        "dashed: removed link": "removed" in kinds,
        "thick: added link": "added" in kinds,
        f"{ego.hidden:,} more nodes within reach are not drawn": ego.hidden > 0,
    }
    return " · ".join(part for part, occurs in parts.items() if occurs)


def ego_network(
    graph: Graph,
    table: pd.DataFrame,
    node: int,
    hops: int,
    score: str,
    theme: Theme,
    limit: int = 150,
    removed: Iterable[Link] = (),
    added: Iterable[Link] = (),
    values: np.ndarray | None = None,
    limits: tuple[float, float] | None = None,
) -> EgoNetwork:
    """The nodes within ``hops`` links of ``node``, at most ``limit`` of them, nearest first.

    ``table`` is that of ``bup.results.node_table``. ``removed`` and ``added`` links are both drawn
    and both count as links here, whether or not ``graph`` has them. Colours show the column
    ``score``; or ``values`` [n], missing where not finite, which ``score`` then merely names.
    ``limits`` keeps the colours comparable between several such arrays; else they are those of all
    nodes of the graph.
    """
    if not 0 <= node < graph.num_nodes:
        raise BupError(f"there is no node {node}: choose one of 0 to {graph.num_nodes - 1}")
    if hops < 1 or limit < 1:
        raise BupError(f"hops and limit must be at least 1, got {hops} and {limit}")
    values = _numbers(table, score) if values is None else np.asarray(values, dtype=float)
    words = score.replace("_", " ")
    column = columns.of(table).get(score, Column(words, ""))
    shades = column.shade(values)
    low, high = limits or colour_limits(shades)
    removed, added = _pairs(removed), _pairs(added)
    changed = removed | added

    distance = _distances(graph, node, hops, changed)
    touched = {end for link in changed for end in link}
    reach = sorted(distance, key=lambda i: (distance[i], i not in touched, i))
    shown = reach[:limit]
    links = sorted(_links_among(graph, shown) | {link for link in changed if {*link} <= {*shown}})
    places = _rings(shown, distance, links)
    colours = _colours(shades[shown], low, high, theme)
    rows = table.iloc[shown].to_dict("records")
    nodes = [
        _node(row, i, distance[i], places[i], float(values[i]), colour, words, theme)
        for i, row, colour in zip(shown, rows, colours, strict=True)
    ]
    edges = [_edge(link, node in link, link in removed, link in added) for link in links]
    low, high = column.value(low), column.value(high)
    return EgoNetwork(node, nodes, edges, len(reach) - len(shown), words, low, high, theme)


def _numbers(table: pd.DataFrame, score: str) -> np.ndarray:
    numeric = table.select_dtypes("number").columns
    if score not in numeric:
        raise BupError(f"cannot colour by {score!r}: choose one of {', '.join(numeric)}")
    return table[score].to_numpy(dtype=float)


def _pairs(links: Iterable[Link]) -> set[Link]:
    return {(min(a, b), max(a, b)) for a, b in links}


def _distances(graph: Graph, node: int, hops: int, extra: set[Link]) -> dict[int, int]:
    """Links from ``node`` to every node within reach; itself at 0."""
    beside: dict[int, list[int]] = {}
    for a, b in extra:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    distance = {node: 0}
    frontier = {node}
    for hop in range(1, hops + 1):
        near = {j for i in frontier for j in [*graph.neighbours(i).tolist(), *beside.get(i, [])]}
        frontier = near - distance.keys()
        distance |= dict.fromkeys(frontier, hop)
    return distance


def _links_among(graph: Graph, nodes: list[int]) -> set[Link]:
    shown = np.zeros(graph.num_nodes, dtype=bool)
    shown[nodes] = True
    return {(a, b) for a, b in graph.edges[:, shown[graph.edges].all(axis=0)].T.tolist()}


def _rings(
    nodes: list[int], distance: dict[int, int], links: list[Link]
) -> dict[int, tuple[float, float]]:
    """Starting places: one ring per hop, every node in the sector of its parent, no crossings.

    Every node's parent is there, for nearer nodes are never cut off before farther ones.
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


def _colours(values: np.ndarray, low: float, high: float, theme: Theme) -> list[str]:
    known = np.isfinite(values)
    share = np.clip((np.where(known, values, low) - low) / ((high - low) or 1), 0, 1)
    return [
        c if k else theme.background
        for c, k in zip(score_colours(share, theme), known, strict=True)
    ]


def _node(
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
    name = str(row["id"])
    size = 8 + 4 * float(np.log2(row["degree"]))
    verdict = " (a left-out class)" if ood else " (wrong)" if wrong else ""
    links = row["degree"] - 1  # the degree counts the self-loop
    lines = [
        f"{name}: {row['title']}" if "title" in row else name,
        f"class: {row['true'] or 'unknown'}",
        f"predicted: {row['predicted']}{verdict}",
        f"{score}: {value:.4g}" if np.isfinite(value) else f"{score}: no value",
        f"{links} link{'s'[: links != 1]}, {row['part']} node",
    ]
    label = name if len(name) <= LABEL_LENGTH else f"{name[: LABEL_LENGTH - 1]}…"
    return {
        "id": index,
        "label": f"{label} ◆" if ood and hop == 0 else label,  # the star took the diamond's place
        "x": place[0],
        "y": place[1],
        "shape": "star" if hop == 0 else "diamond" if ood else "dot",
        "size": round(size + 8 if hop == 0 else size, 1),
        "color": {
            "background": colour,
            "border": WRONG if wrong else OUT if ood else theme.text,
        },
        "borderWidth": 3 if wrong or ood else 1,
        "ood": ood,
        "cross": _contrast(colour) if wrong else None,
        "title": "\n".join(lines),
    }


def _contrast(colour: str) -> str:
    """Black or white, whichever stands out from an ``rgb(...)`` or ``#rrggbb`` colour."""
    if colour.startswith("#"):
        r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    else:
        r, g, b = unlabel_rgb(colour)
    return "#000000" if 0.299 * r + 0.587 * g + 0.114 * b > 128 else "#FFFFFF"


def _edge(link: Link, central: bool, removed: bool, added: bool) -> dict[str, Any]:
    kind = "removed" if removed else "added" if added else "link"
    looks: dict[str, dict[str, Any]] = {
        "removed": {"width": 2, "dashes": [8, 6], "color": {"color": WRONG, "opacity": 1}},
        "added": {"width": 5, "color": {"color": IN, "opacity": 1}},
        "link": {"width": 2 if central else 1},
    }
    name = f"{link[0]}-{link[1]}"
    return {"id": name, "from": link[0], "to": link[1], "kind": kind} | looks[kind]


def _options(theme: Theme) -> dict[str, Any]:
    """How vis-network draws; text, links and background take the page's colours in the app."""
    return {
        "physics": False,
        "layout": {"improvedLayout": False, "randomSeed": 1},
        "nodes": {
            "borderWidthSelected": 4,
            "font": {
                "size": theme.font_size,
                "color": theme.text,
                "strokeWidth": 3,
                "strokeColor": theme.background,
            },
            # Labels that would come out smaller than this are left out: they are in the hover.
            "scaling": {"label": {"drawThreshold": 9, "maxVisible": 1.6 * theme.font_size}},
            "chosen": False,
        },
        "edges": {
            "smooth": False,
            "color": {"color": "#6B7280" if theme.dark else "#9AA1AD", "inherit": False},
            "chosen": False,
        },
        "interaction": {"hover": True, "tooltipDelay": 80, "selectConnectedEdges": False},
    }


@cache
def _template() -> Any:
    """pyvis's page, which takes long to compile.

    We fill it in ourselves, because pyvis shows every hover text as HTML as soon as one of them
    contains "href".
    """
    net = pyvis.network.Network(cdn_resources="in_line")
    return net.templateEnv.get_template(net.path)


@cache
def _library() -> str:
    """The source of vis-network."""
    folder = Path(pyvis.network.__file__).parent / "lib" / "vis-9.1.2"
    return (folder / "vis-network.min.js").read_text(encoding="utf-8")


def _source(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


# Two components: the half megabyte of vis-network is sent to a browser once, because its message
# never changes; the view's message, which changes with every pick, stays small.
_vis = st.components.v2.component(
    "bup_vis_network", js=f"{_library()}\nexport default function () {{}}\n"
)
_view = st.components.v2.component(
    "bup_ego_network",
    html='<div class="ego"><div class="canvas"></div><p class="said" aria-live="polite"></p></div>',
    css=_source("network.css"),
    js=_source("crosses.js") + _source("network.js"),
)


def network(ego: EgoNetwork, key: str, on_pick: Callable[[], None], height: int = 480) -> None:
    """Draw the network; a click on a node calls ``on_pick``, in which ``picked(key)`` tells which.

    Also with the keyboard: arrows go from node to node, Enter picks, + and - zoom, 0 fits. Nodes
    that stay from one call to the next keep their places, and new colours leave the camera alone.
    """
    with st.container(gap=None):
        _vis(key=f"{key}-library")
        _view(
            key=key,
            data={
                "centre": ego.centre,
                "nodes": ego.nodes,
                "edges": ego.edges,
                "options": _options(ego.theme),
                "settling": SETTLING,
                "named": len(ego.nodes) <= NAMED,
                "height": height,
            },
            on_pick_change=on_pick,
        )


def picked(key: str) -> int | None:
    """The node that was just clicked, inside ``on_pick``; None in a run that no click caused."""
    value = st.session_state.get(key, {}).get("pick")
    return value if type(value) is int else None


def standalone_html(ego: EgoNetwork) -> str:
    """The network as one file that loads nothing from anywhere."""
    theme = ego.theme
    page = _template().render(
        nodes=ego.nodes,
        edges=ego.edges,
        options=json.dumps(_options(theme) | {"physics": SETTLING}),
        heading="",
        width="100%",
        height="calc(100vh - 5rem)",
        bgcolor=theme.background,
        cdn_resources="in_line",
        tooltip_link=False,
    )
    name = html.escape(ego.nodes[0]["label"])
    # Between two empty headings the template loads bootstrap from the internet.
    page, found = re.subn("<center>.*</center>", "", page, count=1, flags=re.DOTALL)
    assert found, "pyvis has another template: check what it loads"
    scale = ", ".join(score_colours(np.linspace(0, 1, 9), theme))
    head = f"""<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>The network around {name}</title>
<style>
 body {{ margin: 0; background: {theme.background}; color: {theme.text};
  font: {theme.font_size}px/1.5 sans-serif; }}
 #mynetwork {{ border: 0 !important; }}
 .vis-tooltip {{ white-space: pre-line !important; }}
 .legend {{ clear: both; margin: 0; padding: .5rem 1rem; }}
 .legend i {{ display: inline-block; width: 8rem; height: .8em; margin: 0 .4em;
  background: linear-gradient(90deg, {scale}); }}
</style>"""
    foot = f"""<p class="legend">The network around {name}, coloured by {html.escape(ego.score)}:
 {ego.low:.3g}<i></i>{ego.high:.3g}<br>{legend(ego)} · scroll: zoom, double-click: fit</p>
<script>{_source("crosses.js")}
drawCrosses(network);
network.once("stabilizationIterationsDone", () => {{
  const size = {theme.font_size} / (nodes.length <= {NAMED} ? network.getScale() : 1);
  network.setOptions({{ physics: false, nodes: {{ font: {{ size }} }} }});
}});
network.on("doubleClick", () => network.fit());
</script>
</body>"""
    page = page.replace('<meta charset="utf-8">', head, 1).replace("</body>", foot)
    return f"<!DOCTYPE html>\n{page}"
