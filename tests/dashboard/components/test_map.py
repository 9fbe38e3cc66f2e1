"""What the map of a graph is sent: places and links, looks, colours, limits, names of regions."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import ImageColor
from plotly.colors import get_colorscale, sample_colorscale, unlabel_rgb

import bup
from bup.graph import Graph, simple_edges
from dashboard.components.map import LIBRARY, excerpts, map_data
from dashboard.components.map.parcels import delta_varint, quantise
from dashboard.ui import columns
from dashboard.ui.theme import Theme, category_colours, score_colours
from dashboard.views.explore.map import scale
from tests.dashboard.figures.test_map import GRAPH, NAMES, PLACES, RESULT, TABLE
from tests.support.parcels import unpacked

LIGHT, DARK = Theme(), Theme(dark=True)
ALL = np.ones(60, dtype=bool)


def lengthened(encoded):
    """As decodeDeltaVarint() there."""
    numbers, gap, scale = [], 0, 1
    for byte in encoded.tolist():
        gap += (byte & 127) * scale
        scale *= 128
        if byte < 128:
            numbers.append((numbers[-1] if numbers else 0) + gap)
            gap, scale = 0, 1
    return np.array(numbers, dtype=np.int64)


def bits(encoded, count):
    return np.unpackbits(encoded, count=count, bitorder="little").astype(bool)


def shades_of(header, arrays):
    first, step = header["scale"]
    steps = arrays["shades"].astype(float)
    return np.where(steps == 65535, np.nan, first + step * steps)


@given(st.lists(st.integers(0, 2**45), unique=True).map(sorted))
def test_ascending_numbers_come_back(numbers):
    assert lengthened(delta_varint(np.array(numbers, dtype=np.int64))).tolist() == numbers


@given(st.lists(st.floats(-1e6, 1e6, width=32) | st.just(np.nan), min_size=1))
@example([0.0, 1e-45])
def test_shades_come_back_within_a_step(values):
    values = np.array(values, dtype=np.float32)
    steps, (first, step) = quantise(values)
    back = np.where(steps == 65535, np.nan, first + step * steps.astype(float))
    assert np.allclose(back, values, atol=step, equal_nan=True)


def test_a_graph_is_sent_with_places_links_and_what_can_be_folded_away():
    header, arrays = unpacked(map_data.graph_parcel(GRAPH, PLACES))
    assert np.allclose(arrays["places"].reshape(-1, 2) / 32767, PLACES, atol=2e-5)
    assert np.array_equal(np.divmod(lengthened(arrays["links"]), 60), GRAPH.edges)
    for node, small in enumerate(bits(arrays["small"], 60)):
        assert small == ((GRAPH.components == GRAPH.components[node]).sum() < map_data.FOLD)
    assert header["ids"] == list(GRAPH.ids) and header["titles"] is None
    assert header["classes"] == list(NAMES) and header["all"] == [60, GRAPH.num_edges]
    assert not header["thinned"] and arrays["numbers"].size == 0


@pytest.mark.parametrize("colour_by", columns.menu_columns(TABLE))
def test_a_layer_says_of_every_node_what_it_looks_like(colour_by):
    shown = np.arange(60) % 3 > 0
    header, arrays = unpacked(map_data.layer_parcel(TABLE, colour_by, NAMES, shown))
    assert np.array_equal(bits(arrays["shown"], 60), shown)
    for node, row in enumerate(TABLE.itertuples()):
        assert NAMES[arrays["said"][node]] == row.predicted
        truth = arrays["truth"][node]
        assert ("" if truth < 0 else NAMES[truth]) == row.true
        wrong = row.true not in ("", row.predicted)
        assert arrays["shapes"][node] == (2 if row.ood else 1 if wrong else 0)
    column = columns.menu_columns(TABLE)[colour_by]
    if column.kind == "score":
        values = [column.value(shade) for shade in shades_of(header, arrays)]
        assert np.allclose(values, TABLE[colour_by], rtol=1e-3, equal_nan=True)
    else:
        names = list(category_colours(colour_by, NAMES))
        said = [names[int(code)] for code in arrays["shades"]]
        assert said == list(columns.categories(TABLE, colour_by))


def test_a_parcel_is_known_by_its_content():
    one = map_data.layer_parcel(TABLE, "confidence", NAMES, ALL)
    assert one == map_data.layer_parcel(TABLE, "confidence", NAMES, ALL)
    others = [
        map_data.layer_parcel(TABLE, "message_std", NAMES, ALL),
        map_data.layer_parcel(TABLE, "confidence", NAMES, TABLE.ood.to_numpy()),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 3


def test_what_a_run_lacks_cannot_be_its_colour():
    with pytest.raises(bup.BupError, match="'id': choose one of message_std"):
        map_data.layer_parcel(TABLE, "id", NAMES, ALL)


def look_of(colour_by, theme=LIGHT, table=TABLE):
    limits = map_data.own_limits(table, colour_by)
    return map_data.look(table, colour_by, NAMES, theme, limits)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("colour_by", RESULT.scores())
def test_bright_is_doubt_for_every_score(colour_by, theme):
    look = look_of(colour_by, theme)
    header, arrays = unpacked(map_data.layer_parcel(TABLE, colour_by, NAMES, ALL))
    doubt = RESULT.uncertainties()[colour_by]
    assert np.corrcoef(shades_of(header, arrays), doubt)[0, 1] > 0.99
    brightness = [np.dot(unlabel_rgb(c), [0.299, 0.587, 0.114]) for c in look["colours"]]
    assert (np.diff(brightness) > 0).all()
    (_, low), (_, high) = look["ends"]
    assert (low, high) == ("more certain", "less certain") and look["doubt"]


@pytest.mark.parametrize(("theme", "part"), [(LIGHT, (0.1, 0.78)), (DARK, (0.36, 1.0))])
def test_doubt_has_a_part_of_inferno_and_numbers_of_links_have_not(theme, part):
    inferno = get_colorscale("Inferno")
    assert score_colours(np.array([0, 0.5, 1]), theme) == sample_colorscale(
        inferno, [part[0], sum(part) / 2, part[1]]
    )
    for colour_by in ("degree", "distance"):
        look = look_of(colour_by, theme)
        assert look["colours"] == score_colours(np.linspace(0, 1, 24), theme, doubt=False)
        assert not look["doubt"]
        for colour in look["colours"]:
            red, green, blue = unlabel_rgb(colour)
            assert red <= green <= blue < red + 60  # hardly a colour


@pytest.mark.parametrize(("colour_by", "turn"), [("degree", "log"), ("confidence", "minus")])
def test_the_ends_of_a_scale_are_written_as_values(colour_by, turn):
    look = look_of(colour_by)
    assert look["turn"] == turn
    first, last = (float(number) for number, _ in look["ends"])
    values = TABLE[colour_by]
    assert values.min() <= min(first, last) < max(first, last) <= values.max() + 0.01
    assert (first > last) == (turn == "minus")


@pytest.mark.parametrize("colour_by", ["correct", "predicted", "true", "part"])
def test_categories_have_the_colours_of_their_legend(colour_by):
    look = look_of(colour_by)
    _, arrays = unpacked(map_data.layer_parcel(TABLE, colour_by, NAMES, ALL))
    legend = dict(look["legend"])
    for code, name in zip(arrays["shades"], columns.categories(TABLE, colour_by), strict=True):
        colour = look["colours"][int(code)]
        assert legend[name or "unlabelled"] == colour and ImageColor.getrgb(colour)
    assert look["limits"] is None and len(legend) == len(set(columns.categories(TABLE, colour_by)))


def test_shapes_are_explained_as_far_as_they_occur():
    assert look_of("confidence")["shapes"] == [
        ("circle", "right or unlabelled"),
        ("cross", "wrong"),
        ("diamond", "class never shown"),
    ]
    easy = TABLE[(TABLE.true == TABLE.predicted).to_numpy()]
    assert look_of("confidence", table=easy)["shapes"] == [("circle", "right")]


def test_the_scale_stays_until_it_is_refitted():
    kept = {}
    assert scale(kept, ("cora", "message_std"), (0.0, 1.0), False) == (0.0, 1.0)
    assert scale(kept, ("cora", "message_std"), (0.0, 5.0), False) == (0.0, 1.0)
    assert scale(kept, ("cora", "confidence"), (-1.0, 0.0), False) == (-1.0, 0.0)
    assert scale(kept, ("pubmed", "message_std"), (2.0, 3.0), False) == (2.0, 3.0)
    assert scale(kept, ("cora", "message_std"), (0.0, 5.0), True) == (0.0, 5.0)
    assert scale(kept, ("cora", "message_std"), (0.0, 9.0), False) == (0.0, 5.0)
    assert scale(kept, ("cora", "true"), None, False) is None


def test_names_stand_where_their_class_is_among_itself():
    random = np.random.RandomState(0)
    centres = np.array([[-0.6, 0.4], [0.5, 0.5], [0.1, -0.6]])
    labels = np.repeat([0, 1, 2], [200, 100, 50])
    positions = centres[labels] + random.normal(scale=0.06, size=(350, 2))
    positions[:40] = random.uniform(-1, 1, (40, 2))  # strays do not pull the name away
    found = map_data.regions(positions, labels, ("a", "b", "c", "nobody"))
    assert [region["name"] for region in found] == ["a", "b", "c"]
    for region, centre in zip(found, centres, strict=True):
        assert np.hypot(region["x"] - centre[0], region["y"] - centre[1]) < 0.05


def test_a_map_of_one_node_has_its_name():
    graph = Graph(
        "one", np.ones((1, 1), np.float32), np.zeros((2, 0), int), np.zeros(1, int), NAMES
    )
    header, arrays = unpacked(map_data.graph_parcel(graph, np.zeros((1, 2), np.float32)))
    assert header["regions"][0] == {"name": "red", "x": 0.0, "y": 0.0, "nodes": 1}
    assert bits(arrays["small"], 1).tolist() == [True] and arrays["links"].size == 0


@pytest.fixture(scope="module")
def crowd():
    """A graph of more nodes and links than the map is sent at once, and places for them."""
    random = np.random.RandomState(0)
    n = 130_000
    edges = simple_edges(*random.randint(0, n, (2, 400_000)))
    labels = random.randint(0, 3, n)
    features = np.ones((n, 1), np.float32)
    places = np.round(random.uniform(-1, 1, (n, 2)) * 32767) / 32767
    return Graph("crowd", features, edges, labels, NAMES), places.astype(np.float32)


def test_a_large_graph_travels_light(crowd):
    """At most twelve bytes for every node that is drawn, its links and its looks included."""
    graph, places = crowd
    part = excerpts.excerpt(graph, places)
    n = len(part.nodes)
    names = np.array(NAMES, dtype=object)
    random = np.random.RandomState(1)
    table = pd.DataFrame(
        {
            "confidence": random.uniform(size=graph.num_nodes),
            "predicted": names[random.randint(0, 3, graph.num_nodes)],
            "true": names[graph.labels],
            "correct": random.uniform(size=graph.num_nodes) < 0.8,
            "ood": False,
        }
    )
    shown = np.ones(graph.num_nodes, dtype=bool)
    sent = [
        map_data.graph_parcel(graph, places, part),
        map_data.layer_parcel(table, "confidence", NAMES, shown, part),
    ]
    assert n == excerpts.MOST_NODES
    assert sum(len(gzip.compress(parcel.content, 6)) for parcel in sent) <= 12 * n


def test_an_excerpt_has_what_is_in_its_window_and_what_that_is_linked_to(crowd):
    graph, places = crowd
    window = (-0.5, 0.25, -0.25, 0.5)
    part = excerpts.excerpt(graph, places, window)
    inside = {i for i, (x, y) in enumerate(places) if -0.5 <= x <= -0.25 and 0.25 <= y <= 0.5}
    links = [(i, j) for i, j in graph.edges.T.tolist() if i in inside or j in inside]
    assert part.nodes.tolist() == sorted(inside.union(*links))
    assert part.nodes[part.links].T.tolist() == [list(link) for link in links]
    assert not part.thinned and part.window == window


def test_whoever_zooms_in_sees_more_and_loses_nothing(crowd):
    graph, places = crowd
    outer, inner = None, (-0.9, -0.9, 0.9, 0.9)
    wide, near = (excerpts.excerpt(graph, places, window) for window in (outer, inner))
    assert wide.thinned and near.thinned and len(wide.nodes) == len(near.nodes)
    within = (np.abs(places[wide.nodes]) <= 0.9).all(axis=1)
    assert set(wide.nodes[within]) <= set(near.nodes)
    assert wide.links.shape[1] <= excerpts.MOST_LINKS
    shown = set(map(tuple, wide.nodes[wide.links].T.tolist()))
    assert shown <= set(map(tuple, graph.edges.T.tolist()))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(1e-6, 2.5), st.floats(0.2, 2))
def test_a_window_holds_the_view_and_is_not_much_larger(x, y, wide, shape):
    view = (x, y, x + wide, y + wide * shape)
    window, side = excerpts.snap_window(view), max(wide, wide * shape)
    if window is None:
        assert side >= 1.2
        return
    assert window[0] <= view[0] and window[1] <= view[1]
    assert window[2] >= view[2] and window[3] >= view[3]
    widest = max(window[2] - window[0], window[3] - window[1])
    assert widest <= 3.51 * max(side, 2.0**-16)
    assert excerpts.snap_window((np.nan,) * 4) is None


def test_the_script_writes_no_markup_and_fetches_nothing_from_elsewhere():
    names = LIBRARY.replace("http://www.w3.org/2000/svg", "")  # a name that nobody fetches
    for word in ("http:", "https:", "innerHTML", "insertAdjacentHTML", "eval("):
        assert word not in names, word
