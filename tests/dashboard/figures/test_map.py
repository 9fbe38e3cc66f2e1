import base64
import dataclasses
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageColor
from plotly.colors import unlabel_rgb

import bup
from bup.graph import Graph, simple_edges
from bup.methods import METHODS
from bup.results.result import Result, node_table
from bup.run.spec import Spec
from bup.scores import SCORES, Score
from dashboard.figures import edges
from dashboard.figures import map as maps
from dashboard.figures.ood import score_histograms
from dashboard.layouts import positions
from dashboard.ui import columns
from dashboard.ui.theme import IN, OUT, PART_COLOURS, WRONG, Theme, class_colours

LIGHT, DARK = Theme(), Theme(dark=True)
NAMES = ("red", "green", "blue")


def drawn_graph():
    """60 nodes in three classes and some unknown; the last five have no links."""
    random = np.random.RandomState(0)
    labels = np.where(np.arange(60) % 10 == 9, -1, np.arange(60) % 3)
    edges = simple_edges(random.randint(0, 55, 120), random.randint(0, 55, 120))
    ids = tuple(f"paper {i}" for i in range(60))
    return Graph("drawn", np.ones((60, 2), np.float32), edges, labels, NAMES, ids)


GRAPH = drawn_graph()
PLACES = np.random.RandomState(1).uniform(-1, 1, (60, 2)).astype(np.float32)


def drawn_result(variance=True):
    random = np.random.RandomState(2)
    split = bup.make_split(GRAPH, 3, 4, 20, left_out=[2])
    probs = random.dirichlet([1, 1], 60).astype(np.float32)
    var = random.gamma(2, size=(60, 2)).astype(np.float32) if variance else None
    return Result(Spec("drawn", left_out=(2,)), split, probs, probs, var, {}, 1, 0.0)


RESULT = drawn_result()
TABLE = node_table(RESULT, GRAPH)


def figure_of(colour_by, table=TABLE, theme=LIGHT, **options):
    return maps.map_figure(table, PLACES, colour_by, NAMES, theme, **options)


def nodes_of(figure):
    """Node -> (x, y, colour value, trace), from every trace that has nodes."""
    found = {}
    for trace in figure.data:
        if trace.customdata is not None:
            colours = np.broadcast_to(trace.marker.color, len(trace.x))
            for node, *point in zip(trace.customdata, trace.x, trace.y, colours, strict=True):
                assert node not in found
                found[int(node)] = (*point, trace)
    return found


def painted(marker, value):
    """The colour that plotly gives to a value."""
    share = np.clip((value - marker.cmin) / (marker.cmax - marker.cmin), 0, 1)
    ends, colours = zip(*marker.colorscale, strict=True)
    upper = next(k for k, end in enumerate(ends) if share <= end + 1e-9 and k > 0)
    low, high = (
        np.array(ImageColor.getrgb(c) if c[0] == "#" else unlabel_rgb(c))
        for c in colours[upper - 1 : upper + 1]
    )
    part = (share - ends[upper - 1]) / (ends[upper] - ends[upper - 1])
    return tuple(np.rint(low + part * (high - low)).astype(int))


def legend_of(figure):
    return {t.name: (t.marker.symbol, t.marker.color) for t in figure.data if t.customdata is None}


@pytest.mark.parametrize("colour_by", columns.menu_columns(TABLE))
def test_every_node_is_one_point_at_its_place_with_its_symbol(colour_by):
    found = nodes_of(figure_of(colour_by))
    assert found.keys() == set(range(60))
    for node, (x, y, _, trace) in found.items():
        assert (x, y) == tuple(PLACES[node])
        row = TABLE.iloc[node]
        wrong = not row.ood and row.true != "" and row.true != row.predicted
        assert trace.marker.symbol == ("diamond" if row.ood else "x" if wrong else "circle")
    assert {t.marker.symbol for *_, t in found.values()} == {"circle", "diamond", "x"}


@pytest.mark.parametrize("colour_by", columns.numeric_columns(TABLE))
def test_scores_are_the_colour_values(colour_by):
    figure = figure_of(colour_by)
    missing = 0
    for node, (_, _, value, trace) in nodes_of(figure).items():
        expected = TABLE[colour_by].iloc[node]
        if np.isnan(expected):
            missing += 1
            assert trace.marker.color == PART_COLOURS["unused"] and trace.marker.cmin is None
        else:
            expected = np.log10(1 + expected) if colour_by == "degree" else expected
            assert value == pytest.approx(expected, rel=1e-6)
    # Nodes without links have no path to a training node.
    assert (
        (missing > 0) == (colour_by == "distance") == ("no path to training" in legend_of(figure))
    )


@pytest.mark.parametrize("colour_by", ["correct", "predicted", "true", "part"])
def test_categories_are_painted_as_the_legend_says(colour_by):
    figure = figure_of(colour_by)
    legend = {name: colour for name, (_, colour) in legend_of(figure).items()}
    verdicts = {
        "correct": IN,
        "wrong": WRONG,
        "left out": OUT,
        "unlabelled": PART_COLOURS["unused"],
    }
    for node, (_, _, value, trace) in nodes_of(figure).items():
        row = TABLE.iloc[node]
        if colour_by == "correct":
            name = "unlabelled" if pd.isna(row.correct) else "correct" if row.correct else "wrong"
            name = "left out" if row.ood else name
            colour = verdicts[name]
        elif colour_by == "part":
            name = "left out" if row.ood else row.part
            colour = PART_COLOURS[name]
        else:
            name = row[colour_by] or "unlabelled"
            colour = (class_colours(NAMES) | verdicts)[name]
        assert legend[name] == colour
        assert painted(trace.marker, value) == ImageColor.getrgb(colour)


def test_the_legend_explains_symbols_once():
    assert legend_of(figure_of("confidence")) == {
        "correct or unlabelled": ("circle", LIGHT.text),
        "left-out class": ("diamond", LIGHT.text),
        "wrong": ("x", LIGHT.text),
    }
    assert {name: symbol for name, (symbol, _) in legend_of(figure_of("correct")).items()} == {
        "correct": "circle",
        "wrong": "x",
        "left out": "diamond",
        "unlabelled": "circle",
    }
    easy = TABLE[(TABLE.true == TABLE.predicted).to_numpy()].reset_index(drop=True)
    figure = maps.map_figure(easy, PLACES[: len(easy)], "confidence", NAMES, LIGHT)
    assert legend_of(figure).keys() == {"correct"}


def test_what_is_filtered_out_stays_as_specks_that_cannot_be_picked():
    shown = TABLE.ood.to_numpy() | (np.arange(60) < 20)
    figure = figure_of("message_std", shown=shown)
    assert nodes_of(figure).keys() == set(np.flatnonzero(shown))
    specks = figure.data[0]
    assert np.array_equal(np.stack([specks.x, specks.y], axis=1), PLACES[~shown])
    assert specks.customdata is None and specks.hoverinfo == "skip"
    everything = figure_of("message_std").data[0].marker
    limits = {(t.marker.cmin, t.marker.cmax) for t in figure.data if t.customdata is not None}
    assert limits == {(everything.cmin, everything.cmax)}
    assert nodes_of(figure_of("true", shown=np.zeros(60, dtype=bool))) == {}


def test_of_very_many_nodes_those_shown_are_drawn_first(monkeypatch):
    monkeypatch.setattr(maps, "MOST_POINTS", 20)
    shown = np.zeros(60, dtype=bool)
    shown[[3, 17, 40]] = True
    nodes = maps.sample_nodes(shown)
    assert len(nodes) == 20 and {3, 17, 40} <= set(nodes.tolist())
    figure = maps.map_figure(TABLE, PLACES, "correct", NAMES, LIGHT, shown=shown)
    lit = [trace for trace in figure.data if trace.customdata is not None]
    points = {
        int(node): (x, y)
        for trace in lit
        for node, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert points.keys() == {3, 17, 40}
    for node, place in points.items():
        assert np.allclose(place, PLACES[node])
    (specks,) = (trace for trace in figure.data if str(trace.marker.color) == LIGHT.faint)
    assert len(specks.x) == 17


def test_neither_colour_nor_filter_moves_the_camera():
    frames = {
        json.dumps(
            {
                key: value
                for key, value in figure.to_plotly_json()["layout"].items()
                if key in ("xaxis", "yaxis", "uirevision", "margin", "height", "dragmode")
            },
            sort_keys=True,
        )
        for figure in (
            *(figure_of(colour_by) for colour_by in columns.menu_columns(TABLE)),
            figure_of("true", shown=TABLE.ood.to_numpy()),
        )
    }
    assert len(frames) == 1
    layout = figure_of("true").layout
    assert layout.uirevision and layout.dragmode == "pan" and layout.yaxis.scaleanchor == "x"
    for low, high, axis in zip(
        PLACES.min(0), PLACES.max(0), (layout.xaxis, layout.yaxis), strict=True
    ):
        assert axis.range[0] < low and high < axis.range[1] and not axis.visible


@pytest.mark.parametrize("colour_by", RESULT.scores())
def test_the_colour_bar_says_which_end_is_certain(colour_by):
    scales = [t.marker for t in figure_of(colour_by).data if t.marker.showscale]
    assert len(scales) == 1
    low, middle, high = scales[0].colorbar.ticktext
    less_certain = RESULT.uncertainties()[colour_by]
    rises = np.corrcoef(TABLE[colour_by], less_certain)[0, 1] > 0
    assert ("less certain" in high, "more certain" in high) == (rises, not rises)
    assert ("less certain" in low, "more certain" in low) == (not rises, rises)
    column = columns.all_columns(TABLE)[colour_by]
    assert column.label in middle and column.uncertain


def test_extremes_do_not_set_the_limits():
    table = TABLE.assign(message_std=np.r_[1e9, -1e9, np.arange(58)])
    marker = figure_of("message_std", table).data[0].marker
    assert (marker.cmin, marker.cmax) == pytest.approx(
        np.percentile(table.message_std, [1, 99]), rel=1e-5
    )
    many = pd.concat([TABLE] * 10, ignore_index=True)
    many.loc[0, "message_std"] = 1e9
    figure = maps.map_figure(many, np.tile(PLACES, (10, 1)), "message_std", NAMES, LIGHT)
    assert figure.data[0].marker.cmax < 100


def test_a_score_without_differences_has_limits_still():
    marker = figure_of("confidence", TABLE.assign(confidence=0.5)).data[0].marker
    assert marker.cmin < 0.5 < marker.cmax
    marker = figure_of("distance", TABLE.assign(distance=np.nan)).data[0].marker
    assert marker.color == PART_COLOURS["unused"]


def test_the_colour_bar_survives_when_the_first_points_have_no_value():
    table = TABLE.assign(distance=np.where(TABLE.correct.fillna(True) & ~TABLE.ood, np.nan, 1.0))
    assert sum(bool(t.marker.showscale) for t in figure_of("distance", table).data) == 1


def test_hovering_tells_id_classes_and_score():
    for node, (*_, trace) in nodes_of(figure_of("message_std")).items():
        row = TABLE.iloc[node]
        k = list(trace.customdata).index(node)
        if row.true == "":
            assert trace.text[k] == f"{row.id}: unlabelled, predicted {row.predicted}"
        else:
            assert trace.text[k] == f"{row.id}: {row.true}"
        if row.true not in ("", row.predicted):
            assert trace.hovertext[k] == row.predicted and "%{hovertext}" in trace.hovertemplate
        assert "Message uncertainty: %{marker.color" in trace.hovertemplate
    for node, (*_, trace) in nodes_of(figure_of("degree")).items():
        text = trace.text[list(trace.customdata).index(node)]
        assert text.endswith(f", degree {TABLE.degree[node]}")
        assert "marker.color" not in trace.hovertemplate


@pytest.mark.parametrize("colour_by", ["true", "predicted", "confidence"])
def test_text_from_data_is_never_markup(colour_by):
    nasty = "<a href='javascript:x'>&"
    rename = {"": "", "red": nasty, "green": "g", "blue": "<b>b</b>" + "x" * 60}
    table = TABLE.assign(
        id=[f"<i>{i}" for i in range(60)],
        true=TABLE.true.map(rename),
        predicted=TABLE.predicted.map(rename),
    )
    names = [rename[name] for name in NAMES]
    figure = maps.map_figure(table, PLACES, colour_by, names, LIGHT)
    texts = [t.name for t in figure.data if t.name]
    for trace in figure.data:
        texts += [] if trace.text is None else list(trace.text)
        texts += [] if trace.hovertext is None else list(trace.hovertext)
    assert not any("<" in text for text in texts)
    assert any("&lt;a href='javascript:x'&gt;&amp;" in text for text in texts)
    assert max(len(t.name) for t in figure.data if t.name) < 60


def test_a_class_may_have_any_name():
    table = TABLE.assign(true=TABLE.true.replace({"red": "unlabelled"}))
    figure = maps.map_figure(table, PLACES, "true", ("unlabelled", "green", "blue"), LIGHT)
    colours = class_colours(("unlabelled", "green", "blue"))
    for node, (_, _, value, trace) in nodes_of(figure).items():
        colour = colours.get(table.true[node], PART_COLOURS["unused"])
        assert painted(trace.marker, value) == ImageColor.getrgb(colour)


def test_only_what_a_run_has_is_offered():
    assert list(columns.all_columns(TABLE)) == [*SCORES, *columns.OTHERS]
    plain = node_table(drawn_result(variance=False), GRAPH)
    # Its order is that of message_std: one entry in menus is enough.
    assert columns.all_columns(TABLE).keys() - columns.menu_columns(TABLE).keys() == {
        "message_entropy"
    }
    absent = columns.all_columns(TABLE).keys() - columns.all_columns(plain).keys()
    assert absent == {"message_std", "message_entropy"}
    with pytest.raises(bup.BupError, match="'message_std': choose one of confidence"):
        figure_of("message_std", plain)
    with pytest.raises(bup.BupError, match="'id'"):
        figure_of("id")


def test_scores_of_a_method_of_its_own_are_offered_everywhere(monkeypatch):
    table = TABLE.assign(surprise=np.linspace(0, 1, 60))
    assert "surprise" not in columns.menu_columns(table)
    surprise = Score("surprise", "Surprise <1>", "neither", "How odd a node is.")
    monkeypatch.setitem(METHODS, "odd", dataclasses.replace(METHODS["gcn"], scores=(surprise,)))
    table.attrs["method"] = "odd"
    assert next(iter(columns.menu_columns(table))) == "surprise"
    of_test_nodes = columns.score_columns(table[table.part == "test"]).keys()
    assert of_test_nodes - columns.score_columns(TABLE).keys() == {"surprise"}
    assert columns.score_columns(table)["surprise"].high == "less certain"
    texts = figure_of("surprise", table).data[0].marker.colorbar.ticktext
    assert "<b>Surprise &lt;1&gt;</b>" in texts[1]
    histogram = score_histograms(table, "surprise", LIGHT)
    assert "Surprise &lt;1&gt;" in histogram.to_json().encode().decode("unicode_escape")


@pytest.mark.parametrize("colour_by", ["message_std", "degree", "part"])
def test_a_large_graph_travels_light(colour_by):
    n = 20_000
    random = np.random.RandomState(0)
    names = ("Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1", "Diabetes Mellitus 2")
    some = TABLE.iloc[random.randint(0, 60, n)].reset_index(drop=True)
    rename = dict(zip(NAMES, names, strict=True)) | {"": ""}
    table = some.assign(
        id=[str(i) for i in range(n)],
        true=some.true.map(rename),
        predicted=some.predicted.map(rename),
    )
    places = random.uniform(-1, 1, (n, 2))
    text = maps.map_figure(table, places, colour_by, names, LIGHT).to_json()
    assert len(text) < 2_000_000
    for trace in json.loads(text)["data"]:
        if "customdata" in trace:
            assert trace["x"]["dtype"] == trace["y"]["dtype"] == "f4"
            assert "bdata" in trace["customdata"] and "bdata" in trace["marker"]["color"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_links_are_a_picture_that_lies_exactly_below_the_nodes(theme):
    places = np.array([[-1.0, 0.5], [0.8, -0.4], [0.9, 0.9]])
    picture = edges.edge_image(places, np.array([[0], [1]]), theme, width=400).convert("RGBA")
    figure = maps.map_figure(
        TABLE.iloc[:3], places, "true", NAMES, theme, edge_png="data:image/png;base64,AA=="
    )
    (image,) = figure.layout.images
    assert (image.layer, image.sizing, image.xref, image.yref) == ("below", "stretch", "x", "y")
    pixels = np.array(picture)
    assert (pixels[..., :3] == ImageColor.getrgb(theme.text)).all()
    rows, columns = np.nonzero(pixels[..., 3])
    x = image.x + (columns + 0.5) / picture.width * image.sizex
    y = image.y - (rows + 0.5) / picture.height * image.sizey
    pixel = image.sizex / picture.width
    assert picture.height == pytest.approx(image.sizey / pixel, abs=1)
    along = places[1] - places[0]
    offset = np.stack([x, y], axis=1) - places[0]
    across = np.abs(offset @ [-along[1], along[0]]) / np.linalg.norm(along)
    share = offset @ along / (along @ along)
    assert across.max() < 1.2 * pixel
    assert share.min() == pytest.approx(0, abs=0.01) and share.max() == pytest.approx(1, abs=0.01)
    assert np.diff(np.sort(share)).max() < 0.01


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float32, (4, 2, 2), elements=st.floats(1, 37, width=16)),
    st.integers(1, 200),
)
def test_ink_is_drawn_line_by_line(lines, portion):
    start, end = lines[:, 0], lines[:, 1]
    slow = np.zeros((40, 40))
    for (x0, y0), (x1, y1) in zip(start.astype(float), end.astype(float), strict=True):
        length = max(abs(x1 - x0), abs(y1 - y0))
        strength = min(1, 2 / max(length, 1)) ** 0.7
        steps = int(np.ceil(length)) + 1
        for k in range(steps):
            x, y = (a + (k + 0.5) * ((b - a) / steps) for a, b in ((x0, x1), (y0, y1)))
            if abs(y1 - y0) > abs(x1 - x0):
                column = int(x)
                slow[round(y), column] += strength * (1 - x + column)
                slow[round(y), column + 1] += strength * (x - column)
            else:
                row = int(y)
                slow[row, round(x)] += strength * (1 - y + row)
                slow[row + 1, round(x)] += strength * (y - row)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "_SAMPLES", portion)
        fast = edges._ink(start, end, 40, 40)
    assert np.allclose(fast, slow, rtol=1e-5)


def test_a_graph_without_links_has_an_empty_picture():
    picture = edges.edge_image(PLACES, np.zeros((2, 0), dtype=int), LIGHT, width=100)
    assert not np.array(picture.convert("RGBA"))[..., 3].any()
    one = edges.edge_image(np.zeros((1, 2)), np.zeros((2, 0), dtype=int), LIGHT, width=100)
    assert one.size == (100, 100)


def test_of_too_many_links_an_even_sample_is_drawn(monkeypatch):
    links = np.stack([np.arange(50), np.arange(1, 51)])
    monkeypatch.setattr(edges, "_MAX_LINKS", 20)
    sample = edges.edge_image(PLACES, links, LIGHT, width=200)
    monkeypatch.undo()
    third = edges.edge_image(PLACES, links[:, ::3], LIGHT, width=200)
    assert sample.tobytes() == third.tobytes()


@pytest.mark.parametrize(("name", "most"), [("cora", 600_000), ("pubmed", 1_500_000)])
def test_pictures_of_links_are_small(name, most, request):
    graph = request.getfixturevalue(name)
    buffer = io.BytesIO()
    edges.edge_image(positions(graph), graph.edges, DARK).save(buffer, "PNG")
    assert len(base64.b64encode(buffer.getvalue())) < 4 / 3 * most
    assert Image.open(buffer).width == 2400
