"""The graph as a map that owns its window: see map.js for what one can do with it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dashboard.components import static_files
from dashboard.components.map.map_data import Point
from dashboard.components.map.parcels import Parcel
from dashboard.components.shared.component import component, reported
from dashboard.components.shared.modules import bundle

_HERE = Path(__file__).parent
STYLE = (_HERE / "map.css").read_text(encoding="utf-8")
# A component's script and data travel with each of its messages. So the library, the graph and the
# looks of its nodes are files that the browser fetches; only the view, which is small, is sent.
LIBRARY = f"""
const sheet = document.head.appendChild(document.createElement("style"));
sheet.textContent = {json.dumps(STYLE)};
{bundle(_HERE / "library.js")}"""
_view = component("map", script="view", html='<div class="bup-map"></div>', isolate_styles=False)


def graph_map(
    graph: Parcel,
    layer: Parcel,
    look: dict[str, Any],
    node: int,
    key: str,
    on_pick: Callable[[], None],
    on_group: Callable[[], None],
    on_range: Callable[[], None],
    on_window: Callable[[], None] = lambda: None,
    of: str = "",
    focus: list[list[float]] | None = None,
    span: Sequence[float | None] | None = None,
    lasso: Sequence[Point] | None = None,
    **more: Any,
) -> None:
    """Draw a graph with its picked node, -1 for none; ``look`` is ``map_data.look``, ``span`` the
    range shown, and what is inside ``lasso`` is marked.

    In ``on_pick``, ``st.session_state[key]`` has the clicked ``pick``; in ``on_group``,
    ``lasso_corners`` returns the corners of the lasso; in ``on_range``, ``["range"]`` says of which
    colouring which range was dragged, and in ``on_window``, ``["window"]`` which part of a thinned
    map is in sight. ``of`` names the graph whose excerpt it is; ``focus`` is where the picked node
    of a thinned map is, and then its neighbours, drawn or not.

    ``more``: ``address`` keeps in the page's address where one looks, and offers to copy the link;
    ``hold`` lights the picked node; ``together`` moves with the other such map of the graph;
    ``plain`` draws as browsers without WebGL2 do. The links of the picked node to those in ``cut``
    are drawn as removed, and links to those in ``joined`` as added; ``linking``, a click leaves the
    picked one lit. ``reasons`` are lit as long as the picked node is: see MapData in types.js.
    """
    _view(
        key=key,
        data={
            "key": key,
            "look": static_files.url(json.dumps(look).encode(), "json"),
            "library": static_files.url(LIBRARY.encode(), "js"),
            "of": of or graph.digest,
            "focus": focus,
            "graph": static_files.url(graph.content, "bin"),
            "layer": static_files.url(layer.content, "bin"),
            "node": node,
            "range": span,
            "lasso": lasso,
            **more,
        },
        on_pick_change=on_pick,
        on_group_change=on_group,
        on_range_change=on_range,
        on_window_change=on_window,
    )


def lasso_corners(key: str) -> list[Point] | None:
    """The corners of what was just drawn around, in places of the layout, inside ``on_group``."""
    value = reported(key, "group")
    return [(float(x), float(y)) for x, y in value] if value else None
