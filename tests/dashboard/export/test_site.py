"""Runs as a folder for any web host: its answers are those of the run, computed beforehand."""

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest

import bup
from bup.explanation.changes import ChangeSearch, without
from bup.explanation.reasons import Reasoner
from dashboard import layouts
from dashboard.cache.run_cache import LoadedRun
from dashboard.components.map.parcels import Parcel
from dashboard.export import document, tiles
from dashboard.export import page as pages
from dashboard.export.missing_links import MOST_LINKS, least_sure, missing_links
from dashboard.export.site import check_folder, write_site
from tests.support.exports import HOSTILE, hostile_graph, loaded_run, numbers
from tests.support.parcels import unpacked

CHANGED = 4


@pytest.fixture(scope="module")
def run() -> LoadedRun:
    graph = hostile_graph()
    return loaded_run(bup.fit(graph, per_class=5, validation=30, test=None, epochs=10), graph)


def test_what_is_computed_beforehand_is_what_the_run_answers(run):
    found, reasoner = missing_links(run, CHANGED), Reasoner(run.graph, run.result)
    classes, search = run.result.split.classes, ChangeSearch(reasoner)
    assert set(found) == set(least_sure(run, CHANGED).tolist())
    for node, rows in found.items():
        links = reasoner.explain(node).links[:MOST_LINKS].tolist()
        assert sorted(row[:2] for row in rows) == sorted(links)
        for *link, number, confidence in rows:
            answer, share = search.answer_on(node, without(run.graph, [tuple(link)]))
            assert number == classes[answer] and confidence == pytest.approx(share, abs=1e-4)
    assert missing_links(run, 0) == {}


def test_a_site_is_an_index_and_pages_whose_names_do_no_harm(run, tmp_path):
    size = write_site(tmp_path / "site", [[run], [run]], CHANGED)
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert size == sum(path.stat().st_size for path in files)
    index = (tmp_path / "site/index.html").read_text()
    assert HOSTILE not in index and "<script" not in index
    first, second = sorted(path.parent.name for path in tmp_path.glob("site/*/index.html"))
    assert second == f"{first}-2" and f'href="{second}/index.html#run=1"' in index
    (data,) = (tmp_path / "site" / first).glob("document-*.bin")
    about = json.loads(zlib.decompress(data.read_bytes()))
    assert about["kind"] == "site" and set(about["runs"][0]["missing"]) == set(
        map(str, least_sure(run, CHANGED).tolist())
    )


def test_only_an_earlier_site_is_replaced(run, tmp_path):
    for folder in (tmp_path / "new", tmp_path / "new"):
        check_folder(folder)
        write_site(folder, [[run]], 0)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/index.html").write_text("what was there")
    with pytest.raises(bup.BupError, match="has files of something else"):
        check_folder(tmp_path / "thesis")
    with pytest.raises(bup.BupError, match="there is no folder"):
        check_folder(tmp_path / "nowhere" / "site")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["new", "thesis"]


def test_every_view_of_a_large_graph_has_a_part_and_every_node_a_chunk(run, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PAGE_LIMITS", (100, 10_000))
    monkeypatch.setattr(document, "MOST_NAMES", 60)
    monkeypatch.setattr(tiles, "MOST_NAMES", 60)
    monkeypatch.setattr(tiles, "CHUNK", 50)
    write_site(tmp_path / "site", [[run]], 0)
    (data,) = (tmp_path / "site").glob("*/document-*.bin")

    def read(name: str) -> Any:
        return json.loads(zlib.decompress((data.parent / name).read_bytes()))

    about, places = read(data.name), layouts.positions(run.graph)
    windows = []
    for told in about["tiles"]["windows"]:
        content = base64.b64decode(read(told["file"]))
        header, arrays = unpacked(Parcel(content[:16].decode(), content))
        assert header["window"] == told["window"] and header["thinned"] == told["thinned"]
        assert arrays["places"].size <= 2 * 60
        windows.append(told["window"])
    assert any(told["thinned"] for told in about["tiles"]["windows"])
    rng = np.random.RandomState(0)
    for _ in range(300):
        side = 0.5 ** rng.uniform(1, 5)
        low = rng.uniform(-1, 1 - side, 2)
        inside = ((places >= low) & (places <= low + side)).all(axis=1)
        around = [w for w in windows if (low >= w[:2]).all() and (low + side <= w[2:]).all()]
        assert around or not inside.any()
    rows = []
    for name in about["tiles"]["chunks"]:
        chunk = read(name)
        probs = chunk["runs"][0]["rows"]["probs"] | {"scale": about["runs"][0]["probs"]["scale"]}
        rows.append(numbers(probs).reshape(len(chunk["near"]), -1))
        for node, near in enumerate(chunk["near"], chunk["first"]):
            assert near == run.graph.neighbours(node).tolist()
    np.testing.assert_allclose(np.concatenate(rows), run.result.probs, atol=1e-5)


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_BYTES"])
def test_a_site_that_is_too_large_is_refused_and_nothing_is_left(run, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(pages, "PAGE_LIMITS", (100, 10_000))
    monkeypatch.setattr(tiles, limit, 3)
    with pytest.raises(bup.BupError, match="takes more: choose fewer runs or a smaller graph"):
        write_site(tmp_path / "site", [[run]], 0)
    monkeypatch.setattr(pages, "SITE_LIMITS", (200, 10_000))
    with pytest.raises(bup.BupError, match="at most 200 nodes and 10,000 links"):
        write_site(tmp_path / "site", [[run]], 0)
    assert list(tmp_path.iterdir()) == []
