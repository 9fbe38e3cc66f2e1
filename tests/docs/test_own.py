"""The page about one's own graph, predictions and model runs as it stands."""

import re

import bup
from bup.io import limits
from tests.support import ROOT

PAGE = (ROOT / "docs" / "own.md").read_text()


def test_every_block_of_code_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/own.md", "exec"), names)
    graph, result = names["graph"], names["result"]
    assert graph.num_nodes == 60 and "melody" in graph.words
    assert result.probs.shape == (60, 2) and names["messages"].var is not None
    assert names["judged"].spec.method == "own" and names["again"].digest != ""
    assert bup.evaluate(names["guess"], graph)["test"]["accuracy"] < 0.7


def test_every_limit_is_in_the_table():
    known = [value for value in vars(limits).values() if isinstance(value, limits.Limit)]
    for limit in known:
        assert f"| `{limit.name}` | {limit.default} | {limit.meaning} |" in PAGE
    assert len(known) == PAGE.count("| `BUP_")
