"""The map of a run with its inspector in a cell of a notebook: ``bup.show``."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from bup.errors import BupError
from bup.graph import Graph
from bup.results.result import Result
from bup.training.fitting import run_of
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.shared.modules import bundle
from dashboard.export.page import page


class MapWidget(anywidget.AnyWidget):
    """A run's map and inspector; ``selection`` is what is picked in it.

    ``selection["node"]`` is the index of the picked node or None, ``selection["lasso"]`` the
    indices of the nodes that were drawn around. Setting it picks in the map.
    """

    _esm = bundle(Path(__file__).parent / "widget.js")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)
    selection: traitlets.Dict[str, Any] = traitlets.Dict({"node": None, "lasso": []}).tag(sync=True)

    def __init__(self, graph: Graph, page: str, height: int) -> None:
        self._graph = graph
        super().__init__(page=page, height=height)

    @traitlets.validate("selection")
    def _selection_on_graph(self, proposal: Any) -> dict[str, Any]:
        given = {"node": None, "lasso": []} | proposal["value"]
        if len(given) > 2:
            raise BupError(f"a selection has a node and a lasso, got {', '.join(given)}")
        node, index = given["node"], self._graph.index
        return {
            "node": None if node is None else index(node),
            "lasso": [index(node) for node in given["lasso"]],
        }

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and for viewers without a kernel the same page in a frame."""
        found = super()._repr_mimebundle_(**options)
        if found is None:
            return None
        data, metadata = found
        frame = (
            f'<iframe srcdoc="{html.escape(self.page)}" sandbox="allow-scripts" title="Map" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )
        return data | {"text/html": frame}, metadata


def show(result: Result, height: int = 640) -> MapWidget:
    """Draw the map of a run in a cell of a notebook, with the inspector of the picked node.

    It needs no server and no network. In a notebook that is only read, the cell shows the same
    page, without Python behind it.

    Parameters
    ----------
    result : Result
        The run.
    height : int, default 640
        Pixels that the cell is high.

    Returns
    -------
    MapWidget
        ``selection`` holds the picked ``node`` and the nodes of the ``lasso``, by their indices.

    Raises
    ------
    BupError
        If the graph has more nodes or links than a page holds.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> widget = bup.show(result)
    >>> widget.selection = {"node": 35}
    >>> widget.selection
    {'node': 35, 'lasso': []}
    """
    if not isinstance(result, Result):
        raise BupError(f"a run is a bup.Result, as bup.fit returns it, got {result!r}")
    graph = result.get_graph()
    loaded = LoadedRun(run_of(result.spec, graph), graph, result)
    return MapWidget(graph, page([loaded], kind="cell"), height)
