"""Public functions and classes document every parameter, and their examples run."""

import doctest
import inspect
import re
import textwrap

import pytest

import bup

FIGURES = (
    *("reliability", "compare", "confidence", "risk_coverage", "set_sizes"),
    *("unseen", "roc", "against", "training", "node_map"),
)
PUBLIC = {
    f"bup.{name}": getattr(bup, name)
    for name in (
        *("fit", "fit_many", "evaluate", "load_graph", "make_split", "explore", "address", "show"),
        *("Graph", "Split", "Spec", "Result", "Store", "Progress", "Cancelled"),
    )
} | {
    "bup.Result.save": bup.Result.save,
    "bup.Result.load": bup.Result.load,
    "bup.inspection.inspect": bup.inspection.inspect,
    "bup.own.fit_model": bup.own.fit_model,
    "bup.own.run_of_predictions": bup.own.run_of_predictions,
    "bup.predictions.check": bup.predictions.check,
    "bup.predictions.read": bup.predictions.read,
    **{f"bup.figures.{name}": getattr(bup.figures, name) for name in FIGURES},
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_documented(name):
    public = PUBLIC[name]
    if public is bup.Cancelled:  # an exception without parameters of its own
        return
    listed = re.search(r"Parameters\n *-{10}\n(.*?)(?:\n\n *\w+\n *-{3}|\Z)", public.__doc__, re.S)
    names = set()
    for line in textwrap.dedent(listed[1]).splitlines():
        if line and not line.startswith(" "):
            names |= set(re.findall(r"\w+", line.partition(" : ")[0]))
    parameters = [p for p in inspect.signature(public).parameters if p != "self"]
    assert names == set(parameters)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "bup.Result.save"])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    runner = doctest.DocTestRunner()
    (test,) = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name)
    assert test.examples
    assert runner.run(test).failed == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: bup.Result.load(None),
        lambda: bup.fit("synthetic:nodes=60,classes=2", per_class=2, epochs=1).save(None),
        lambda: bup.address(3),
        lambda: bup.explore(None),
        *(lambda name=name: getattr(bup.figures, name)(None) for name in FIGURES),
    ],
)
def test_a_wrong_argument_is_named(call):
    with pytest.raises(bup.BupError, match=r"got (None|3)"):
        call()
