"""What the map of a graph is sent: places and links, looks, colours, limits, names of regions."""

import gzip
import json
import struct

import numpy as np
import pytest
from PIL import ImageColor
from plotly.colors import get_colorscale, sample_colorscale, unlabel_rgb
from test_map_figure import GRAPH, NAMES, PLACES, RESULT, TABLE

import bup
from bup.graph import Graph
from dashboard import columns
from dashboard.components import map_data
from dashboard.components.graph_map import _HERE, _library
from dashboard.theme import Theme, category_colours, class_colours, score_colours
from dashboard.views.explore.map import scale

LIGHT, DARK = Theme(), Theme(dark=True)
ALL = np.ones(60, dtype=bool)


def unpacked(parcel):
    """As unpack() in graph_map_scene.js."""
    content = parcel.content
    assert content[:16] == parcel.digest.encode()
    (length,) = struct.unpack("<I", content[16:20])
    header, at = json.loads(content[20 : 20 + length]), 20 + length
    arrays = {}
    for name, kind, count in header.pop("arrays"):
        arrays[name] = np.frombuffer(content, f"<{kind}", count, at)
        at += arrays[name].nbytes
    assert at == len(content)
    return header, arrays


def test_a_graph_is_sent_with_places_links_and_sizes_of_its_components():
    header, arrays = unpacked(map_data.graph_parcel(GRAPH, PLACES))
    assert np.array_equal(arrays["places"].reshape(-1, 2), PLACES)
    assert np.array_equal(arrays["links"].reshape(-1, 2).T, GRAPH.edges)
    assert arrays["parts"].dtype == np.uint32
    for node in range(60):
        assert arrays["parts"][node] == (GRAPH.components == GRAPH.components[node]).sum()
    assert header["ids"] == list(GRAPH.ids) and header["titles"] is None
    assert header["classes"] == list(NAMES)


@pytest.mark.parametrize("colour_by", columns.of(TABLE))
def test_a_layer_says_of_every_node_what_it_looks_like(colour_by):
    shown = np.arange(60) % 3 > 0
    _, arrays = unpacked(map_data.layer_parcel(TABLE, colour_by, NAMES, shown))
    assert np.array_equal(arrays["shown"], shown)
    for node, row in enumerate(TABLE.itertuples()):
        assert NAMES[arrays["said"][node]] == row.predicted
        truth = arrays["truth"][node]
        assert ("" if truth < 0 else NAMES[truth]) == row.true
        wrong = row.true not in ("", row.predicted)
        assert arrays["shapes"][node] == (2 if row.ood else 1 if wrong else 0)
    column = columns.of(TABLE)[colour_by]
    if column.kind == "score":
        values = [column.value(shade) for shade in arrays["shades"].astype(float)]
        assert np.allclose(values, TABLE[colour_by], rtol=1e-5, equal_nan=True)
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
    _, arrays = unpacked(map_data.layer_parcel(TABLE, colour_by, NAMES, ALL))
    doubt = RESULT.uncertainties()[colour_by]
    assert np.corrcoef(arrays["shades"], doubt)[0, 1] > 0.99
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
    assert arrays["parts"].tolist() == [1] and arrays["links"].size == 0


def test_a_large_graph_travels_light(pubmed):
    from dashboard.layouts import positions

    parcel = map_data.graph_parcel(pubmed, positions(pubmed))
    assert len(parcel.content) < 1_000_000
    assert class_colours(pubmed.class_names)


def test_the_script_is_files_that_can_be_read_in_one_sitting_and_asks_nobody():
    files = sorted(_HERE.glob("graph_map*.js"))
    assert len(files) == 8
    for path in files:
        assert len(path.read_text().splitlines()) <= 350, path
    source = _library()
    assert source.count("export ") == 1
    names = source.replace("http://www.w3.org/2000/svg", "")  # a name that nobody fetches
    for word in ("http:", "https:", "innerHTML", "insertAdjacentHTML", "eval("):
        assert word not in names, word
