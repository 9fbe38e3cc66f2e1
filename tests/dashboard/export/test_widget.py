"""A run in a cell of a notebook: what is picked in it is known in Python."""

import html
import re

import pytest

import bup
from tests.support.exports import read_document


@pytest.fixture(scope="module")
def result() -> bup.Result:
    return bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)


def test_the_cell_holds_the_map_and_every_node_but_no_charts(result):
    widget = bup.show(result, height=500)
    content = read_document(widget.page)
    assert content["kind"] == "cell" and len(content["runs"]) == 1
    assert not any(content["runs"][0]["views"].values())
    assert len(widget.page) < 400_000  # plotly.js alone has more
    assert widget.height == 500 and "postMessage" in widget._esm


def test_what_is_picked_is_the_selection(result):
    widget = bup.show(result)
    assert widget.selection == {"node": None, "lasso": []}
    widget.set_state({"selection": {"node": 7, "lasso": [3, 4]}})  # as the browser does
    assert widget.selection == {"node": 7, "lasso": [3, 4]}
    widget.selection = {"node": result.get_graph().node_id(9)}
    assert widget.selection == {"node": 9, "lasso": []}
    with pytest.raises(bup.BupError, match="60"):
        widget.selection = {"lasso": [60]}
    with pytest.raises(bup.BupError, match="a node and a lasso, got node, lasso, nodes"):
        widget.selection = {"nodes": [1]}
    assert widget.selection == {"node": 9, "lasso": []}


def test_a_viewer_without_python_gets_the_same_page(result):
    widget = bup.show(result)
    data, _ = widget._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    (page,) = re.findall(r'srcdoc="([^"]*)"', data["text/html"])
    assert html.unescape(page) == widget.page and 'sandbox="allow-scripts"' in data["text/html"]


def test_what_is_no_run_is_said():
    with pytest.raises(bup.BupError, match=r"a run is a bup.Result.*got 'cora'"):
        bup.show("cora")
