"""Runs as a folder for any web host: its answers are those of the run, computed beforehand."""

import json
import zlib
from pathlib import Path

import pytest

import bup
from bup.explanation.changes import ChangeSearch, without
from bup.explanation.reasons import Reasoner
from dashboard.cache.run_cache import LoadedRun
from dashboard.export.explanations import MOST_LINKS, MOST_REASONS, explanations, least_sure
from dashboard.export.site import CHUNK, check_folder, write_site
from tests.support.exports import HOSTILE, hostile_graph, loaded_run

CHANGED = 4


@pytest.fixture(scope="module")
def run() -> LoadedRun:
    graph = hostile_graph()
    return loaded_run(bup.fit(graph, per_class=5, validation=30, test=None, epochs=10), graph)


def read(path: Path) -> list | dict:
    return json.loads(zlib.decompress(path.read_bytes()))


def test_what_is_computed_beforehand_is_what_the_run_answers(run):
    found, reasoner = explanations(run, CHANGED), Reasoner(run.graph, run.result)
    classes, search = run.result.split.classes, ChangeSearch(reasoner)
    for node in (3, *least_sure(run, CHANGED).tolist()):
        reasons, there = reasoner.explain(node), found[node]
        assert there["classes"] == [classes[reasons.answer], classes[reasons.rival]]
        strongest = zip(reasons.nodes, reasons.contributions.round(4), strict=True)
        assert [tuple(row[:2]) for row in there["reasons"]] == list(strongest)[:MOST_REASONS]
    with_links = [node for node, one in enumerate(found) if "links" in one]
    assert with_links == sorted(least_sure(run, CHANGED).tolist())
    for node in with_links:
        links = reasoner.explain(node).links[:MOST_LINKS].tolist()
        assert sorted(row[:2] for row in found[node]["links"]) == sorted(links)
        for *link, number, confidence in found[node]["links"]:
            answer, share = search.answer_on(node, without(run.graph, [tuple(link)]))
            assert (number, confidence) == (classes[answer], share)


def test_a_site_is_an_index_and_pages_whose_names_do_no_harm(run, tmp_path):
    size = write_site(tmp_path / "site", [[run], [run]], 0)
    files = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert size == sum(path.stat().st_size for path in files)
    index = (tmp_path / "site/index.html").read_text()
    assert HOSTILE not in index and "<script" not in index
    first, second = sorted(path.parent.name for path in tmp_path.glob("site/*/index.html"))
    assert second == f"{first}-2" and f'href="{second}/index.html#run=1"' in index
    (data,) = (tmp_path / "site" / first).glob("data-*")
    about = read(data / "document.bin")
    assert about["kind"] == "site" and about["runs"][0]["explained"]["changed"] == 0
    parts = sorted(data.glob("explained-0-*.bin"))
    assert len(parts) == -(-run.graph.num_nodes // CHUNK)
    assert sum(len(read(part)) for part in parts) == run.graph.num_nodes


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
