"""Runs as a folder for any web host: its answers are those of the run, computed beforehand."""

import json
import zlib

import pytest

import bup
from bup.explanation.changes import ChangeSearch, without
from bup.explanation.reasons import Reasoner
from dashboard.cache.run_cache import LoadedRun
from dashboard.export.missing_links import MOST_LINKS, least_sure, missing_links
from dashboard.export.site import check_folder, write_site
from tests.support.exports import HOSTILE, hostile_graph, loaded_run

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
