import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import KDTree

import bup
from bup import files
from bup.graph import Graph, simple_edges
from dashboard import layouts

BUILT_IN = ["cora", "citeseer", "pubmed", "synthetic"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    # Graphs come from the session's fixtures, so only positions land here.
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_computing(monkeypatch):
    def refuse(graph):
        raise AssertionError(f"{graph.name} is computed")

    monkeypatch.setattr(layouts, "_computed_elsewhere", refuse)


@pytest.fixture
def built_in(request, cora, citeseer, pubmed):
    known = {"cora": cora, "citeseer": citeseer, "pubmed": pubmed}
    return known.get(request.param) or bup.load_graph(request.param)


def graph_of(num_nodes, pairs):
    edges = simple_edges(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    labels = np.zeros(num_nodes, dtype=int)
    return Graph("drawn", np.ones((num_nodes, 1), np.float32), edges, labels, ("a", "b"))


@pytest.mark.parametrize("built_in", BUILT_IN, indirect=True)
def test_built_in_graphs_have_their_positions_with_them(built_in, no_computing):
    points = layouts.positions(built_in)
    assert points.shape == (built_in.num_nodes, 2) and points.dtype == np.float32
    assert np.abs(points).max(axis=0) == pytest.approx([1, 0.75], abs=0.25)
    # So far apart that a point of a few pixels on a map of 800 can be told from the next.
    spacing = KDTree(points).query(points, k=2)[0][:, 1]
    assert np.median(spacing) * np.sqrt(built_in.num_nodes) > 0.8
    assert spacing.min() * np.sqrt(built_in.num_nodes) > 0.3


@pytest.mark.parametrize("built_in", BUILT_IN, indirect=True)
def test_the_map_shows_links_and_classes(built_in):
    points, labels = layouts.positions(built_in), built_in.labels
    start, end = points[built_in.edges]
    strangers = np.random.RandomState(0).permutation(points)
    linked = np.median(np.linalg.norm(start - end, axis=1))
    assert linked < np.median(np.linalg.norm(points - strangers, axis=1)) / 3
    near = KDTree(points).query(points, k=9)[1][:, 1:]
    by_chance = (np.bincount(labels + 1) / len(labels)) ** 2
    assert (labels[near] == labels[:, None]).mean() > by_chance.sum() + 0.25


def test_shipped_files_are_small():
    sizes = {path.stem: path.stat().st_size for path in layouts._SHIPPED.glob("*")}
    assert sizes.keys() == set(BUILT_IN)
    assert max(sizes.values()) < 120_000


def test_other_content_under_a_known_name_gets_its_own_positions(cora, monkeypatch):
    labels = cora.labels.copy()
    labels[0] = (labels[0] + 1) % cora.num_classes
    steps = np.full((cora.num_nodes, 2), 32767, dtype=np.int16)
    monkeypatch.setattr(layouts, "_computed_elsewhere", lambda graph: steps)
    assert (layouts.positions(replace(cora, labels=labels)) == 1).all()
    assert not (layouts.positions(cora) == 1).all()


def test_positions_are_computed_once_and_kept(path_graph, monkeypatch, request):
    first = layouts.positions(path_graph)
    assert len(np.unique(first, axis=0)) == 5 and np.abs(first).max() == 1
    request.getfixturevalue("no_computing")
    assert np.array_equal(layouts.positions(path_graph), first)
    with pytest.raises(AssertionError, match="is computed"):
        layouts.positions(replace(path_graph, class_names=("a", "c")))


def test_a_damaged_or_foreign_file_is_computed_again(path_graph, own_cache, monkeypatch):
    computed = []

    def compute(graph):
        computed.append(graph.name)
        return np.ones((graph.num_nodes, 2), dtype=np.int16)

    monkeypatch.setattr(layouts, "_computed_elsewhere", compute)
    layouts.positions(path_graph)
    (path,) = (own_cache / "layouts").iterdir()
    whole, kept = path.read_bytes(), files.read_packed(path)
    short = files.pack({"steps": np.ones((4, 2), np.int16)}, {"digest": path_graph.digest})
    other = files.pack({"steps": np.ones((5, 2), np.int16)}, {"digest": "another"})
    for content in (whole[:-1], b"", short, other, files.pack({}, {"digest": path_graph.digest})):
        path.write_bytes(content)
        assert layouts.positions(path_graph).shape == (5, 2)
        arrays, values = files.read_packed(path)
        assert values == kept.values and np.array_equal(arrays["steps"], kept.arrays["steps"])
    assert len(computed) == 6


def test_a_cache_that_cannot_be_written_costs_only_time(path_graph, monkeypatch, caplog):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_atomically", full)
    steps = np.zeros((5, 2), dtype=np.int16)
    monkeypatch.setattr(layouts, "_computed_elsewhere", lambda graph: steps)
    assert (layouts.positions(path_graph) == 0).all()
    assert "No space left" in caplog.text


def test_computing_again_gives_the_same_positions():
    random = np.random.RandomState(0)
    graph = graph_of(120, [(i, random.randint(i)) for i in range(1, 110)])
    first, again = (layouts._computed_elsewhere(graph) for _ in range(2))
    assert np.array_equal(first, again)


def test_a_failing_graphviz_is_one_line_that_says_so(path_graph, monkeypatch):
    monkeypatch.setattr(layouts, "_PATIENCE", 0.01)
    with pytest.raises(bup.BupError, match=r"map of path .* took more than"):
        layouts.positions(path_graph)
    monkeypatch.setattr(layouts, "_PATIENCE", 60)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(bup.BupError, match=r"map of path .*code 1") as raised:
        layouts.positions(path_graph)
    assert "\n" not in str(raised.value)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.data())
def test_any_graph_can_be_drawn(n, data):
    nodes = st.integers(0, n - 1)
    graph = graph_of(n, data.draw(st.lists(st.tuples(nodes, nodes), max_size=2 * n)))
    steps = layouts.arrange(n, graph.edges)
    assert steps.dtype == np.int16 and np.abs(steps.astype(int)).max() == (32767 if n > 1 else 0)
    assert len(np.unique(steps, axis=0)) == n


def test_nodes_keep_apart_and_components_keep_out_of_each_other():
    random = np.random.RandomState(0)
    pairs = [(i, random.randint(i - i % 40, i)) for i in range(200) if i % 40]
    graph = graph_of(210, pairs)
    points = layouts.arrange(210, graph.edges).astype(float)
    spacing = KDTree(points).query(points, k=2)[0][:, 1]
    assert spacing.min() > 0.6 * np.median(spacing)
    parts = [points[graph.components == k] for k in range(15)]
    for k, one in enumerate(parts):
        rest = np.concatenate([part for j, part in enumerate(parts) if j != k])
        assert KDTree(rest).query(one)[0].min() > np.median(spacing)


component = hnp.arrays(
    float, st.tuples(st.integers(1, 9), st.just(2)), elements=st.floats(-6, 6, width=16)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(component, min_size=1, max_size=14))
def test_packed_components_keep_their_shape_and_their_gap(components):
    components = sorted(components, key=len, reverse=True)
    placed = layouts.packed(components, gap=0.8)
    for before, after in zip(components, placed, strict=True):
        apart = [np.linalg.norm(p[:, None] - p, axis=2) for p in (before, after)]
        assert np.allclose(*apart, atol=1e-5)
    for k, one in enumerate(placed):
        # The rim of the first is known to a cell of the grid only.
        least = 1.6 - 1e-9 if k else 1.0
        for other in placed[k + 1 :]:
            assert KDTree(other).query(one)[0].min() >= least
    again = layouts.packed(components, gap=0.8)
    assert all(np.array_equal(a, b) for a, b in zip(placed, again, strict=True))


@pytest.mark.parametrize(("name", "most"), [("cora", 1.45), ("citeseer", 1.9)])
def test_small_components_lie_close_around_the_largest(name, most, request):
    """The map is hardly wider than its largest component, and that one is in the middle."""
    graph = request.getfixturevalue(name)
    points = layouts.positions(graph)
    giant = points[graph.components == np.bincount(graph.components).argmax()]
    assert (np.ptp(points, axis=0) < most * np.ptp(giant, axis=0)).all()
    assert np.abs((giant.min(axis=0) + giant.max(axis=0)) / 2).max() < 0.1


def test_many_small_components_leave_little_room_empty():
    sizes = [1] * 60 + [2] * 60 + [3] * 40 + [5] * 20
    first = np.cumsum([0, *sizes[:-1]])
    pairs = [(a + i, a + i + 1) for a, n in zip(first, sizes, strict=True) for i in range(n - 1)]
    points = layouts.arrange(sum(sizes), graph_of(sum(sizes), pairs).edges) / 32767
    width, height = np.ptp(points, axis=0)
    assert 1 < width / height < 1.6
    # Of the cells of an eighth of the width, those well within the ellipse have a node.
    x, y = np.meshgrid(*[(np.arange(8) + 0.5) / 4 - 1] * 2)
    inside = np.hypot(x, y) < 0.85
    cells = np.floor((points / [width, height] + 0.5) * 8).clip(0, 7).astype(int)
    filled = np.zeros((8, 8), dtype=bool)
    filled[cells[:, 1], cells[:, 0]] = True
    assert filled[inside].mean() > 0.9


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(float, (30, 2), elements=st.floats(-100, 100, width=16), unique=True))
def test_evening_out_keeps_directions_and_the_order_from_the_centre(points):
    centred = points - np.median(points, axis=0)
    evened = layouts._evened(points)
    before, after = np.hypot(*centred.T), np.hypot(*evened.T)
    assert np.allclose(centred * after[:, None], evened * before[:, None])
    order = np.argsort(before, kind="stable")
    assert (np.diff(after[order]) >= -1e-12).all()


def test_pushing_apart_moves_only_what_is_too_close():
    crowd = np.random.RandomState(0).uniform(0, 4, (40, 2))
    alone = np.array([[20.0, 20.0], [21.5, 20.0]])
    moved = layouts._apart(np.concatenate([crowd, alone]))
    assert np.array_equal(moved[40:], alone)
    nearest = [KDTree(p).query(p, k=2)[0][:, 1].min() for p in (crowd, moved[:40])]
    assert nearest[1] > 0.8 > 5 * nearest[0]


def test_large_components_are_contracted_and_still_show_their_structure(monkeypatch):
    """Six dense groups in a ring, with a limit far below their size."""
    random = np.random.RandomState(0)
    members = random.permutation(600).reshape(6, 100)
    group = np.empty(600, dtype=int)
    group[members] = np.arange(6)[:, None]
    inside = [random.choice(members[g], 2) for g in range(6) for _ in range(400)]
    across = [(members[g, i], members[(g + 1) % 6, i]) for g in range(6) for i in range(3)]
    edges = graph_of(600, inside + across).edges
    monkeypatch.setattr(layouts, "LARGE", 60)
    points = layouts.arrange(600, edges) / 32767
    links = sparse.coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(600, 600))
    giant = csgraph.connected_components(links, directed=False)[1] == 0
    near = KDTree(points[giant]).query(points[giant], k=6)[1][:, 1:]
    labels = group[giant]
    assert giant.sum() > 590 and (labels[near] == labels[:, None]).mean() > 0.7


def test_the_command_takes_built_in_graphs_only():
    for names in ([], ["cora", "folder:x"]):
        with pytest.raises(SystemExit, match="one or more of cora, citeseer"):
            layouts.main(names)


def test_positions_need_neither_the_web_framework_nor_graphviz():
    code = (
        "import sys, dashboard.layouts; "
        "sys.exit(bool({'streamlit', 'plotly', 'pygraphviz', 'torch'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
