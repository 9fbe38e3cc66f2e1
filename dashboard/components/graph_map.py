"""The graph as a map that owns its window: see graph_map.js for what one can do with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.components.map_data import Parcel

_HERE = Path(__file__).parent
_PARTS = ("scene", "gl", "plain", "above", "bar", "hands")


def _library() -> str:
    """What draws: several files, which share their names as one module."""
    files = [*(f"graph_map_{part}.js" for part in _PARTS), "graph_map.js"]
    source = "\n".join((_HERE / file).read_text(encoding="utf-8") for file in files)
    offered = "globalThis.bupGraphMap = { createMap, parcel };"
    return f"{source}\n{offered}\nexport default function () {{}}\n"


# A component's source and data travel with each of its messages, unless they are what the browser
# has already. So there are four: the library, the graph and the looks of its nodes stay as they
# are while one clicks about; only the view, which is small, is sent again.
_KEEP = """
export default function ({ data }) {
  const kept = (globalThis.bupMapParcels ??= new Map());
  const digest = new TextDecoder().decode(data.subarray(0, 16));
  kept.delete(digest);
  kept.set(digest, data);
  for (const old of [...kept.keys()].slice(0, -24)) kept.delete(old);
}
"""
_code = st.components.v2.component(
    "bup_map_library",
    css=(_HERE / "graph_map.css").read_text(encoding="utf-8"),
    js=_library(),
    isolate_styles=False,
)
_graph = st.components.v2.component("bup_map_graph", js=_KEEP)
_layer = st.components.v2.component("bup_map_layer", js=_KEEP)
_view = st.components.v2.component(
    "bup_map",
    html='<div class="bup-map"></div>',
    js=(_HERE / "graph_map_view.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def graph_map(
    graph: Parcel,
    layer: Parcel,
    look: dict[str, Any],
    node: int,
    key: str,
    on_pick: Callable[[], None],
    on_group: Callable[[], None],
    on_range: Callable[[], None],
    span: list[float | None] | None = None,
    grouped: bool = False,
    plain: bool = False,
) -> None:
    """Draw a graph with its picked node; ``look`` is ``map_data.look``, ``span`` the range shown,
    and ``grouped`` marks those last enclosed.

    In ``on_pick`` and ``on_group``, ``st.session_state[key]`` has the clicked ``pick`` and the
    enclosed ``group``; in ``on_range``, ``["range"]`` says of which colouring which range was
    dragged. ``plain`` draws as browsers without WebGL2 do.
    """
    with st.container(gap=None):
        _code(key=f"{key}-library")
        _graph(key=f"{key}-graph", data=graph.content)
        _layer(key=f"{key}-layer", data=layer.content)
        _view(
            key=key,
            data={
                **look,
                "key": key,
                "graph": graph.digest,
                "layer": layer.digest,
                "node": node,
                "range": span,
                "grouped": grouped,
                "plain": plain,
            },
            on_pick_change=on_pick,
            on_group_change=on_group,
            on_range_change=on_range,
        )
