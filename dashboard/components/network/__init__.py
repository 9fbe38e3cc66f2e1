"""The network around one node, drawn by vis-network in the browser.

vis-network is the copy that pyvis carries, so nothing is fetched from anywhere.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyvis.network

from dashboard.components import static_files
from dashboard.components.network.ego import EgoNetwork
from dashboard.components.shared.component import component
from dashboard.ui.theme import Theme

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


def options(theme: Theme) -> dict[str, Any]:
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


def _library() -> bytes:
    """The source of vis-network, half a megabyte, which the browser fetches once."""
    folder = Path(pyvis.network.__file__).parent / "lib" / "vis-9.1.2"
    return (folder / "vis-network.min.js").read_bytes()


_LIBRARY = _library()
_view = component(
    "network",
    html='<div class="ego"><div class="canvas"></div><p class="said" aria-live="polite"></p></div>',
)


def network(ego: EgoNetwork, key: str, on_pick: Callable[[], None], height: int = 480) -> None:
    """Draw the network; in ``on_pick``, ``st.session_state[key]["pick"]`` is the clicked node.

    Also with the keyboard: arrows go from node to node, Enter picks, + and - zoom, 0 fits. Nodes
    that stay from one call to the next keep their places, and new colours leave the camera alone.
    """
    _view(
        key=key,
        data={
            "library": static_files.url(_LIBRARY, "js"),
            "centre": ego.centre,
            "nodes": ego.nodes,
            "edges": ego.edges,
            "options": options(ego.theme),
            "settling": SETTLING,
            "named": len(ego.nodes) <= NAMED,
            "height": height,
        },
        on_pick_change=on_pick,
    )
