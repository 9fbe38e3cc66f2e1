import shutil
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import KDTree

import bup
from bup.graph import Graph, simple_edges
from bup.io import files
from dashboard import layouts
from dashboard.layouts import __main__ as command
from dashboard.layouts import arrangement, forces, process, storage
from dashboard.layouts.packing import pack

BUILT_IN = ["cora", "citeseer", "pubmed", "almanac", "synthetic"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    # Graphs come from the session's fixtures, so only positions land here.
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    storage._cache.clear()
    yield tmp_path
    storage._cache.clear()


@pytest.fixture
def computed(monkeypatch):
    """Graphs are drawn by whatever function this is given; it says of how many nodes they were."""
    sizes = []

    def instead(draw):
        class Drawing:
            def __init__(self, num_nodes, edges, at_end):
                sizes.append(num_nodes)
                self.steps, self.share, self.problem = draw(num_nodes), 1.0, None
                self.at_end = at_end

            def wait(self, finished):
                self.at_end(self.steps)

        monkeypatch.setattr(storage, "LayoutProcess", Drawing)
        return sizes

    return instead


@pytest.fixture
def no_computing(computed):
    def refuse(num_nodes):
        raise AssertionError(f"{num_nodes} nodes are computed")

    computed(refuse)


def drawn(graph):
    made = process.LayoutProcess(graph.num_nodes, graph.edges)
    made.wait(finished=True)
    return made.steps


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
    sizes = {path.stem: path.stat().st_size for path in storage._SHIPPED.glob("*")}
    assert sizes.keys() == set(BUILT_IN)
    assert max(sizes.values()) < 120_000


def test_other_content_under_a_known_name_gets_its_own_positions(cora, computed):
    labels = cora.labels.copy()
    labels[0] = (labels[0] + 1) % cora.num_classes
    computed(lambda n: np.full((n, 2), 32767, dtype=np.int16))
    assert (layouts.positions(replace(cora, labels=labels)) == 1).all()
    assert not (layouts.positions(cora) == 1).all()


def test_positions_are_computed_once_and_kept(path_graph, request):
    first = layouts.positions(path_graph)
    assert len(np.unique(first, axis=0)) == 5 and np.abs(first).max() == 1
    request.getfixturevalue("no_computing")
    storage._cache.clear()  # from the file
    assert np.array_equal(layouts.positions(path_graph), first)
    with pytest.raises(AssertionError, match="are computed"):
        layouts.positions(replace(path_graph, class_names=("a", "c")))


def test_a_damaged_or_foreign_file_is_computed_again(path_graph, own_cache, computed):
    sizes = computed(lambda n: np.ones((n, 2), dtype=np.int16))
    layouts.positions(path_graph)
    (path,) = (own_cache / "layouts").iterdir()
    whole, stored = path.read_bytes(), files.read(path)
    short = files.pack({"steps": np.ones((4, 2), np.int16)}, {"digest": path_graph.digest})
    other = files.pack({"steps": np.ones((5, 2), np.int16)}, {"digest": "another"})
    for content in (whole[:-1], b"", short, other, files.pack({}, {"digest": path_graph.digest})):
        path.write_bytes(content)
        storage._cache.clear()
        assert layouts.positions(path_graph).shape == (5, 2)
        arrays, values = files.read(path)
        assert values == stored.values and np.array_equal(arrays["steps"], stored.arrays["steps"])
    assert len(sizes) == 6


def test_a_cache_that_cannot_be_written_costs_only_time(path_graph, monkeypatch, caplog, computed):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_atomically", full)
    sizes = computed(lambda n: np.zeros((n, 2), dtype=np.int16))
    for _ in range(2):
        assert (layouts.positions(path_graph) == 0).all()
    assert "No space left" in caplog.text and len(sizes) == 1


def test_computing_again_gives_the_same_positions():
    random = np.random.RandomState(0)
    graph = graph_of(120, [(i, random.randint(i)) for i in range(1, 110)])
    assert np.array_equal(drawn(graph), drawn(graph))


def test_a_failing_drawing_is_one_line_that_says_so(path_graph, monkeypatch):
    monkeypatch.setattr(process, "_TIMEOUT", 0.01)
    with pytest.raises(bup.BupError, match=r"map of path .* took more than"):
        layouts.get_layout(path_graph)
    monkeypatch.setattr(process, "_TIMEOUT", 60)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(bup.BupError, match=r"map of path .*code 1") as raised:
        layouts.get_layout(path_graph)
    assert "\n" not in str(raised.value)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(bup.BupError, match=r"map of path .*No such file"):
        layouts.get_layout(path_graph)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.data())
def test_any_graph_can_be_drawn(n, data):
    nodes = st.integers(0, n - 1)
    graph = graph_of(n, data.draw(st.lists(st.tuples(nodes, nodes), max_size=2 * n)))
    steps = arrangement.arrange(n, graph.edges)
    assert steps.dtype == np.int16 and np.abs(steps.astype(int)).max() == (32767 if n > 1 else 0)
    assert len(np.unique(steps, axis=0)) == n


def test_nodes_keep_apart_and_components_keep_out_of_each_other():
    random = np.random.RandomState(0)
    pairs = [(i, random.randint(i - i % 40, i)) for i in range(200) if i % 40]
    graph = graph_of(210, pairs)
    points = arrangement.arrange(210, graph.edges).astype(float)
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
    placed = pack(components, gap=0.8)
    for before, after in zip(components, placed, strict=True):
        apart = [np.linalg.norm(p[:, None] - p, axis=2) for p in (before, after)]
        assert np.allclose(*apart, atol=1e-5)
    for k, one in enumerate(placed):
        # The rim of the first is known to a cell of the grid only.
        least = 1.6 - 1e-9 if k else 1.0
        for other in placed[k + 1 :]:
            assert KDTree(other).query(one)[0].min() >= least
    again = pack(components, gap=0.8)
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
    points = arrangement.arrange(sum(sizes), graph_of(sum(sizes), pairs).edges) / 32767
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
    evened = arrangement._spread_evenly(points)
    before, after = np.hypot(*centred.T), np.hypot(*evened.T)
    assert np.allclose(centred * after[:, None], evened * before[:, None])
    order = np.argsort(before, kind="stable")
    assert (np.diff(after[order]) >= -1e-12).all()


def test_pushing_apart_moves_only_what_is_too_close():
    crowd = np.random.RandomState(0).uniform(0, 4, (40, 2))
    alone = np.array([[20.0, 20.0], [21.5, 20.0]])
    moved = arrangement._push_apart(np.concatenate([crowd, alone]))
    assert np.array_equal(moved[40:], alone)
    nearest = [KDTree(p).query(p, k=2)[0][:, 1].min() for p in (crowd, moved[:40])]
    assert nearest[1] > 0.8 > 5 * nearest[0]


def ring_of_groups(groups=6, members=100):
    """Dense groups in a ring, their nodes numbered at random: links, and the group of each."""
    random = np.random.RandomState(0)
    n = groups * members
    nodes = random.permutation(n).reshape(groups, members)
    group = np.empty(n, dtype=int)
    group[nodes] = np.arange(groups)[:, None]
    inside = [random.choice(nodes[g], 2) for g in range(groups) for _ in range(4 * members)]
    across = [(nodes[g, i], nodes[(g + 1) % groups, i]) for g in range(groups) for i in range(3)]
    return graph_of(n, inside + across).edges, group


def test_large_components_still_show_their_structure():
    edges, group = ring_of_groups()
    told = []
    steps = arrangement.arrange(600, edges, lambda *what: told.append(what), large=60)
    shares, drafts = zip(*told, strict=True)
    assert list(shares) == sorted(shares) and shares[-1] < 1
    (draft,) = (draft for draft in drafts if draft is not None)
    assert draft.shape == (600, 2) and draft.dtype == np.int16
    links = sparse.coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(600, 600))
    giant = csgraph.connected_components(links, directed=False)[1] == 0
    labels = group[giant]
    for points, least in ((draft[giant], 0.6), (steps[giant], 0.85)):
        near = KDTree(points).query(points, k=6)[1][:, 1:]
        assert giant.sum() > 590 and (labels[near] == labels[:, None]).mean() > least
        start, end = steps[edges].astype(float)
        strangers = np.random.RandomState(0).permutation(steps).astype(float)
        linked = np.median(np.linalg.norm(start - end, axis=1))
        assert linked < np.median(np.linalg.norm(steps - strangers, axis=1)) / 2


def test_a_large_map_is_the_same_whenever_it_is_drawn():
    edges, _ = ring_of_groups()
    first, again = (arrangement.arrange(600, edges, large=60) for _ in range(2))
    assert np.array_equal(first, again)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 60), st.data())
def test_any_large_graph_can_be_drawn(n, data):
    nodes = st.integers(0, n - 1)
    graph = graph_of(n, data.draw(st.lists(st.tuples(nodes, nodes), max_size=2 * n)))
    steps = arrangement.arrange(n, graph.edges, large=1)
    assert np.abs(steps.astype(int)).max() == 32767
    assert len(np.unique(steps, axis=0)) == n


def test_pushes_from_a_grid_are_those_of_all_pairs():
    """Of points further apart than its cells; nearer ones it pushes less."""
    random = np.random.RandomState(0)
    points = np.stack(np.meshgrid(*[np.arange(12.0)] * 2), -1).reshape(-1, 2)
    points = (points + random.uniform(-0.2, 0.2, points.shape)).astype(np.float32)
    size = random.randint(1, 5, len(points)).astype(np.float32)
    away = points[:, None] - points
    squared = (away**2).sum(axis=2) + np.eye(len(points))
    slow = (size[:, None] * away / squared[:, :, None]).sum(axis=1)
    quick = forces._repulsion(points, size, 256)
    assert np.abs(quick - slow).max() < 0.02 * np.abs(slow).max()


def test_a_first_picture_comes_before_the_last(monkeypatch, own_cache):
    monkeypatch.setattr(
        storage, "LayoutProcess", lambda *args: process.LayoutProcess(*args, large=60)
    )
    edges, _ = ring_of_groups()
    labels = np.zeros(600, dtype=int)
    graph = Graph("ring", np.ones((600, 1), np.float32), edges, labels, ("a",))
    first = layouts.get_layout(graph)
    last = layouts.get_layout(graph, wait=True)
    assert first.points.shape == last.points.shape and last.finished
    assert layouts.get_layout(graph).finished and storage._processes == {}


def test_the_command_takes_built_in_graphs_only():
    with pytest.raises(SystemExit, match="one or more of cora, citeseer"):
        command.main(["cora", "folder:x"])


def test_positions_need_neither_the_web_framework_nor_graphviz():
    code = (
        "import sys, dashboard.layouts; "
        "sys.exit(bool({'streamlit', 'plotly', 'pygraphviz', 'torch'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (-9, "", "ended by signal 9, perhaps for want of memory: try again later"),
        (-11, "", "ended by signal 11: try again later"),
        (1, "ModuleNotFoundError: No module named 'pygraphviz'", "reinstall pygraphviz"),
        (1, "ValueError: what", "'ValueError: what' (code 1): try again"),
    ],
)
def test_it_is_said_how_a_drawing_ended(monkeypatch, code, said, words):
    script = f"import os, sys; sys.stderr.write({said!r}); sys.stderr.flush()\n"
    script += f"os.kill(os.getpid(), {-code})" if code < 0 else f"sys.exit({code})"
    popen = process.subprocess.Popen
    monkeypatch.setattr(
        process.subprocess,
        "Popen",
        lambda command, **more: popen([sys.executable, "-c", script], **more),
    )
    with pytest.raises(bup.BupError) as refused:
        layouts.positions(graph_of(3, [(0, 1), (1, 2)]))
    assert words in str(refused.value)


def test_maps_on_disk_are_bounded_and_those_last_used_stay(monkeypatch, own_cache, computed):
    computed(lambda n: np.zeros((n, 2), dtype=np.int16))
    monkeypatch.setattr(files, "YOUNG", -1)
    graphs = [graph_of(n, [(0, 1)]) for n in (2000, 2001, 2002)]
    size = None
    for number, graph in enumerate(graphs):
        layouts.positions(graph)
        if number == 0:
            (first,) = (own_cache / "layouts").iterdir()
            size = first.stat().st_size
            monkeypatch.setenv("BUP_LAYOUT_BYTES", str(2.5 * size))
        if number == 1:
            storage._cache.clear()
            layouts.positions(graphs[0])  # read, so used
    left = {path.stem for path in (own_cache / "layouts").iterdir()}
    assert left == {graphs[0].digest, graphs[2].digest}


def test_only_so_many_drawings_wait(monkeypatch, path_graph, no_computing):
    waiting = {str(k): SimpleNamespace(ended=k == 0) for k in range(storage.MOST_WAITING + 1)}
    monkeypatch.setattr(storage, "_processes", waiting)
    monkeypatch.setattr(storage, "_cache", storage.OrderedDict())
    with pytest.raises(bup.BupError, match="20 maps of other graphs"):
        layouts.get_layout(path_graph)
