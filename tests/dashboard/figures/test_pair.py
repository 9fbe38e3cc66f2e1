import numpy as np
import pytest

import bup
from bup.results.result import node_table
from dashboard.figures.pair import paired_maps
from dashboard.figures.summary import class_sizes_figure, degrees_figure
from dashboard.ui.theme import Theme


@pytest.fixture(scope="module")
def tables(cora):
    return tuple(node_table(bup.fit(cora, m, epochs=5), cora) for m in ("bup", "gcn"))


def test_two_maps_show_every_node_twice_and_move_together(tables, cora):
    places = np.random.RandomState(0).uniform(-1, 1, (cora.num_nodes, 2))
    labels = ("one <b>", "two")
    figure = paired_maps(tables, labels, places, "confidence", cora.class_names, Theme(), None)
    seen = {"x": [], "x2": []}
    limits = set()
    for trace in figure.data:
        if trace.customdata is not None:
            seen[trace.xaxis] += list(trace.customdata)
            limits.add((trace.marker.cmin, trace.marker.cmax))
    assert sorted(seen["x"]) == sorted(seen["x2"]) == list(range(cora.num_nodes))
    assert len(limits) == 1
    assert figure.layout.xaxis2.matches == "x" and figure.layout.yaxis2.matches == "y"
    assert figure.layout.annotations[0].text == "one &lt;b&gt;"
    assert {name.xanchor for name in figure.layout.annotations} == {"center"}  # each above its map


def test_the_graphs_figures_are_drawn_as_they_are():
    sizes = class_sizes_figure({"a<b": 3, "c": 5}, Theme()).data[0]
    assert list(sizes.x) == [3, 5] and list(sizes.customdata) == [0, 1]
    assert sizes.hovertext[0] == "a&lt;b: 3 nodes"
    (degrees,) = degrees_figure(np.array([2, 0, 4, 1]), Theme()).data
    assert (list(degrees.customdata), list(degrees.y)) == ([0, 2, 3], [2, 4, 1])
    assert degrees.hovertext[2] == "1 node with 3 links"
