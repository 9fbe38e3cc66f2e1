import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly.colors import sample_colorscale, unlabel_rgb
from streamlit.testing.v1 import AppTest

from bup.errors import BupError
from bup.graph import Graph, simple_edges
from dashboard.components import static_files
from dashboard.components.network import _library
from dashboard.components.network.ego import EgoNetwork, ego_network, legend, not_drawn
from dashboard.components.network.standalone import standalone_html
from dashboard.figures.map import map_figure
from dashboard.ui.columns import colour_limits
from dashboard.ui.theme import Theme

HOSTILE = '</script><img src="https://evil.test/x" onerror="window.hit=1"> href'


def graph_of(pairs: list[tuple[int, int]], n: int) -> Graph:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph(
        name="made up",
        features=np.ones((n, 1)),
        edges=simple_edges(ends[:, 0], ends[:, 1]),
        labels=np.zeros(n, dtype=np.int64),
        class_names=("a", "b"),
        ids=tuple(f"n{i}" for i in range(n)),
    )


def table_of(graph: Graph, **columns) -> pd.DataFrame:
    n = graph.num_nodes
    known = {
        "id": [f"n{i}" for i in range(n)],
        "true": "a",
        "predicted": "a",
        "part": "test",
        "ood": False,
        "correct": pd.array([True] * n, dtype="boolean"),
        "degree": graph.degree,
        "score": np.linspace(0, 1, n),
    }
    return pd.DataFrame(known | columns)


def ego_of(graph: Graph, node: int = 0, hops: int = 2, score: str = "score", **rest) -> EgoNetwork:
    table = rest.pop("table", None)
    table = table_of(graph) if table is None else table
    return ego_network(graph, table, node, hops, score, rest.pop("theme", Theme()), **rest)


def by_id(ego: EgoNetwork) -> dict[int, dict]:
    return {node["id"]: node for node in ego.nodes}


graphs = st.integers(1, 14).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40)
    )
)


@settings(deadline=None)
@given(graphs, st.integers(0, 13), st.integers(1, 4), st.integers(1, 16))
def test_what_is_shown_agrees_with_networkx(made, node, hops, limit):
    n, pairs = made
    graph, node = graph_of(pairs, n), node % n
    reference = nx.Graph()
    reference.add_nodes_from(range(n))
    reference.add_edges_from(graph.edges.T.tolist())
    lengths = nx.single_source_shortest_path_length(reference, node, cutoff=hops)

    ego = ego_of(graph, node, hops, limit=limit)

    shown = [item["id"] for item in ego.nodes]
    assert shown == sorted(lengths, key=lambda i: (lengths[i], i))[:limit]
    assert ego.hidden == len(lengths) - len(shown)
    links = [(edge["from"], edge["to"]) for edge in ego.edges]
    assert links == sorted((min(e), max(e)) for e in reference.subgraph(shown).edges)


@settings(deadline=None)
@given(graphs, st.integers(1, 4))
def test_every_hop_starts_on_a_ring_of_its_own(made, hops):
    n, pairs = made
    graph = graph_of(pairs, n)
    ego = ego_of(graph, 0, hops)
    hop = graph.hops([0])[0]
    places = {node["id"]: (node["x"], node["y"]) for node in ego.nodes}
    assert len(set(places.values())) == len(places)
    radii: dict[int, list[float]] = {}
    for i, place in places.items():
        radii.setdefault(int(hop[i]), []).append(float(np.hypot(*place)))
    rings = [radii[h] for h in sorted(radii)]
    assert all(max(ring) - min(ring) < 0.2 for ring in rings)
    assert all(max(inner) < min(outer) for inner, outer in pairwise(rings))


def test_the_picked_node_is_a_star_left_out_classes_diamonds_and_mistakes_crossed():
    graph = graph_of([(0, 1), (0, 2), (0, 3)], 4)
    correct = pd.array([False, True, None, False], dtype="boolean")
    table = table_of(graph, ood=[False, False, True, False], correct=correct)
    nodes = by_id(ego_of(graph, table=table))
    assert [nodes[i]["shape"] for i in range(4)] == ["star", "dot", "diamond", "dot"]
    assert [nodes[i]["cross"] is not None for i in range(4)] == [True, False, False, True]


def test_a_picked_node_of_a_left_out_class_keeps_its_diamond_in_the_label():
    graph = graph_of([(0, 1)], 2)
    nodes = by_id(ego_of(graph, table=table_of(graph, ood=True)))
    assert (nodes[0]["label"], nodes[1]["label"]) == ("n0 ◆", "n1")


def test_nodes_with_more_links_are_larger():
    nodes = by_id(ego_of(graph_of([(0, 1), (1, 2), (1, 3), (0, 4)], 5)))
    assert nodes[1]["size"] > nodes[4]["size"]


def test_colour_limits_are_the_percentiles_of_the_finite_values():
    assert colour_limits(np.arange(101.0)) == (1, 99)
    assert colour_limits(np.array([np.nan, 2.0, np.inf, 2.0])) == (1.5, 2.5)
    assert colour_limits(np.array([np.nan])) == (0, 1)


def test_colours_have_the_limits_of_the_whole_graph_not_of_the_neighbourhood():
    graph = graph_of([(0, 1), (1, 2)], 102)
    score = np.concatenate([[1000.0], np.arange(101.0)])
    ego = ego_of(graph, hops=1, table=table_of(graph, score=score))
    assert (ego.low, ego.high) == pytest.approx(np.percentile(score, [1, 99]))
    nodes = by_id(ego)
    first, last = sample_colorscale("Inferno", [0.1, 0.78])
    assert nodes[0]["color"]["background"] == last  # beyond the limit: the last colour
    assert nodes[1]["color"]["background"] == first


def test_given_values_replace_the_column_and_keep_given_limits():
    graph = graph_of([(0, 1), (1, 2)], 4)
    values = np.array([0.0, 5.0, 10.0, np.nan])
    ego = ego_of(graph, score="variance_after_layer_1", values=values, limits=(0, 20))
    expected = sample_colorscale("Inferno", [0.1, 0.1 + 0.68 / 4, 0.1 + 0.68 / 2])
    nodes = by_id(ego)
    assert [nodes[i]["color"]["background"] for i in range(3)] == expected
    assert "variance after layer 1: 5" in nodes[1]["title"].splitlines()


@pytest.mark.parametrize("dark", [False, True])
def test_a_missing_value_has_no_colour_and_says_so(dark):
    graph = graph_of([(0, 1)], 2)
    theme = Theme(dark=dark)
    node = by_id(ego_of(graph, values=np.array([1.0, np.nan]), theme=theme))[1]
    assert node["color"]["background"] == theme.background
    assert "score: no value" in node["title"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("score", ["confidence", "degree"])
def test_a_node_has_the_same_colour_as_on_the_map(cora, dark, score):
    table = table_of(cora, confidence=np.random.RandomState(0).rand(cora.num_nodes))
    theme = Theme(dark=dark)
    figure = map_figure(table, np.zeros((cora.num_nodes, 2)), score, cora.class_names, theme, None)
    marker = next(t.marker for t in figure.data if t.marker.colorscale is not None)
    ego = ego_of(cora, 163, 1, score=score, table=table, theme=theme)
    limits = np.array([marker.cmin, marker.cmax])
    # Of a score that is higher the surer, the first colour stands for the highest value.
    assert (ego.low, ego.high) == pytest.approx(
        10**limits - 1 if score == "degree" else limits[::-1]
    )
    on_map = {
        int(node): shade
        for trace in figure.data
        if trace.customdata is not None
        for node, shade in zip(trace.customdata, trace.marker.color, strict=True)
    }
    for node in ego.nodes:
        share = float(np.clip((on_map[node["id"]] - limits[0]) / np.ptp(limits), 0, 1))
        share = 1 - share if marker.reversescale else share
        expected = unlabel_rgb(
            sample_colorscale([tone for _, tone in marker.colorscale], [share])[0]
        )
        assert unlabel_rgb(node["color"]["background"]) == pytest.approx(expected, abs=6)
    if score == "degree":  # which is no doubt
        return
    ends = [marker.colorscale[0][1], marker.colorscale[-1][1]]
    bounds = ego_of(cora, 163, 1, values=table["confidence"] > 0.5, theme=theme, limits=(0, 1))
    assert {node["color"]["background"] for node in bounds.nodes} == set(ends)


def test_a_constant_score_has_the_middle_colour():
    graph = graph_of([(0, 1)], 2)
    middle = sample_colorscale("Inferno", [0.44])[0]
    ego = ego_of(graph, table=table_of(graph, score=0.5))
    assert {node["color"]["background"] for node in ego.nodes} == {middle}


def test_the_hover_text_says_what_is_known():
    graph = graph_of([(0, 1), (1, 2)], 3)
    table = table_of(
        graph,
        true=["a", "", "a"],
        predicted="b",
        correct=pd.array([False, None, True], dtype="boolean"),
    )
    titled = replace(graph, titles=("", "A text of more than forty letters about graphs", ""))
    nodes = by_id(ego_of(titled, table=table))
    assert nodes[1]["title"].splitlines() == [
        "n1: A text of more than forty letters about graphs",
        "class: unknown",
        "predicted: b",
        "score: 0.5",
        "2 links, test node",
    ]
    assert "predicted: b (wrong)" in nodes[0]["title"]
    assert "1 link, test node" in nodes[0]["title"]


def test_a_node_is_called_by_its_title_where_ids_are_mere_numbers():
    graph = replace(graph_of([(0, 1)], 2), titles=("Ann", "Bob"))
    node = by_id(ego_of(graph))[1]
    assert node["label"] == "Bob" and node["title"].startswith("Bob: n1\n")


def test_long_ids_are_shortened_in_the_picture_only():
    name = "an-id-of-many-characters"
    node = by_id(ego_of(replace(graph_of([(0, 1)], 2), ids=("n0", name))))[1]
    assert len(node["label"]) == 18 and node["label"].endswith("…")
    assert node["title"].startswith(name + "\n")


def test_the_links_of_the_picked_node_are_thicker():
    ego = ego_of(graph_of([(0, 1), (1, 2), (2, 0)], 3))
    width = {(edge["from"], edge["to"]): edge["width"] for edge in ego.edges}
    assert width[0, 1] == width[0, 2] > width[1, 2]


def test_the_same_question_has_the_same_answer(cora):
    table = table_of(cora)
    first, second = (ego_of(cora, 163, 3, table=table) for _ in range(2))
    assert (first.nodes, first.edges, first.hidden) == (second.nodes, second.edges, second.hidden)
    assert len(first.nodes) == 150


def test_everything_is_plain_enough_for_json(cora):
    ego = ego_of(cora, 163, 2, table=table_of(cora), values=np.full(cora.num_nodes, np.nan))
    again = json.loads(json.dumps([ego.nodes, ego.edges], allow_nan=False))
    assert again == [ego.nodes, ego.edges]


def test_the_legend_names_only_what_occurs():
    graph = graph_of([(0, 1), (0, 2), (0, 3)], 5)
    assert not any(mark in legend(ego_of(graph)) for mark in ("◆", "✕", "not drawn"))
    wrong = pd.array([True, False, True, True, True], dtype="boolean")
    table = table_of(graph, ood=[True, False, False, False, False], correct=wrong)
    text = legend(ego_of(graph, table=table, limit=3))
    assert not_drawn(ego_of(graph_of([(0, 1), (1, 2)], 3), hops=2, limit=2)) == (
        "not drawn: 1 further out"
    )
    for part in ("◆ left-out", "✕ predicted wrongly", "not drawn: 1 of its own links"):
        assert part in text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"node": 4}, "there is no node 4"),
        ({"hops": 0}, "at least 1, got 0"),
        ({"score": "true"}, "cannot colour by 'true': choose one of degree, score"),
    ],
)
def test_impossible_questions_are_explained(question, said):
    with pytest.raises(BupError, match=re.escape(said)):
        ego_of(graph_of([(0, 1)], 4), **question)


class Page(HTMLParser):
    """Tags with their attributes, and the texts of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        inside = self.tags[-1][0] if self.tags else ""
        if inside in self.texts:
            self.texts[inside].append(data)


def test_the_export_loads_nothing():
    page = Page(standalone_html(ego_of(graph_of([(0, 1)], 2))))
    assert [a for _, a in page.tags if {"src", "href", "data", "action"} & a.keys()] == []
    styles = "".join(page.texts["style"])
    assert "@import" not in styles
    assert all(
        url.startswith("data:") for url in re.findall(r"url\(\s*['\"]?([^'\")]{0,20})", styles)
    )
    policy = [a["content"] for tag, a in page.tags if a.get("http-equiv")]
    assert policy and policy[0].startswith("default-src 'none'")


def test_hostile_text_in_the_export_stays_text():
    names = {"ids": (HOSTILE, "n1"), "titles": ("1", HOSTILE)}
    graph = replace(graph_of([(0, 1)], 2), **names)
    table = table_of(graph, true=HOSTILE)
    text = standalone_html(ego_of(graph, table=table, score=HOSTILE, values=np.zeros(2)))
    page = Page(text)
    harmless = Page(standalone_html(ego_of(graph)))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless.tags]
    assert "popup.innerHTML" not in text  # what pyvis does with every text once one says href
    assert json.dumps(HOSTILE).strip('"').replace("<", r"\u003c").replace(">", r"\u003e") in text


def test_the_export_holds_the_same_nodes_and_links():
    ego = ego_of(graph_of([(0, 1), (1, 2)], 3))
    script = "".join(Page(standalone_html(ego)).texts["script"])
    nodes, edges = re.findall(r"new vis\.DataSet\((\[.*?\])\);", script)
    assert json.loads(nodes) == ego.nodes and json.loads(edges) == ego.edges


def page_with_a_network() -> None:
    import numpy as np
    import pandas as pd

    from bup.graph import Graph
    from dashboard.components.network import network
    from dashboard.components.network.ego import ego_network
    from dashboard.ui.theme import Theme
    from dashboard.views.picking import clicked_node

    edges = np.array([[0], [1]])
    graph = Graph("two", np.ones((2, 1)), edges, np.zeros(2, dtype=np.int64), ("a",))
    columns = {"id": ["n0", "n1"], "true": "a", "predicted": "a", "part": "test"}
    columns |= {"ood": False, "correct": True, "degree": 2, "score": [0.0, 1.0]}
    ego = ego_network(graph, pd.DataFrame(columns), 0, 1, "score", Theme())
    network(ego, "ego", lambda: None, height=300)
    assert clicked_node("ego") is None and clicked_node("nothing") is None


def test_a_page_mounts_the_view_with_its_data_and_says_where_the_library_is():
    app = AppTest.from_function(page_with_a_network, default_timeout=30).run()
    assert not app.exception
    (view,) = (element.proto for element in app.get("bidi_component"))
    assert "vis-network" not in view.js_content[:1000] and len(view.js_content) < 20_000
    data = json.loads(view.json if view.WhichOneof("data") == "json" else view.mixed.json)
    assert [node["id"] for node in data["nodes"]] == [0, 1] and data["height"] == 300
    assert data["library"] == static_files.url(_library(), "js")
    assert b"vis-network" in _library()[:1000]
