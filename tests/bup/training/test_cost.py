"""The estimate of a run's cost keeps step with the methods and what can be set of them."""

import dataclasses
from dataclasses import fields

import pytest

import bup
from bup.methods import METHODS, TRAINED
from bup.run.spec import Spec
from bup.training.cost import Cost, cost_of
from bup.training.fitting import run_of

GRAPH = "synthetic:nodes=300,classes=3,words=60"
SPEC = Spec(graph=GRAPH, per_class=5, validation=30, test=100)

WORK = {"epochs", "hidden", "members"}
"""Settings that the estimate goes by."""
FREE = {"patience", "samples", "latent"}
"""Whole numbers that change little: they end training early, or count once at the end."""


def estimate(method: str, graph: str = GRAPH, **changes: object) -> Cost:
    split = {name: changes.pop(name) for name in ("validation",) if name in changes}
    spec = dataclasses.replace(SPEC, graph=graph, method=method, **split)
    loaded = bup.load_graph(graph)
    return cost_of(
        run_of(dataclasses.replace(spec, settings=tuple(changes.items())), loaded), loaded
    )


@pytest.mark.parametrize("method", TRAINED)
def test_more_work_costs_more(method):
    usual = {f.name: f.default for f in fields(METHODS[method].settings)}
    before = estimate(method)
    for name in WORK & usual.keys():
        more = estimate(method, **{name: 2 * usual[name]})
        assert more.seconds > 1.4 * before.seconds or name == "hidden"
        assert more.seconds > before.seconds and more.bytes >= before.bytes
    larger = estimate(method, GRAPH.replace("300", "3000"))
    assert larger.seconds > before.seconds and larger.bytes > before.bytes


@pytest.mark.parametrize("method", TRAINED)
def test_every_number_of_a_method_is_counted_or_known_to_be_free(method):
    whole = {f.name for f in fields(METHODS[method].settings) if type(f.default) is int}
    assert "epochs" in whole and whole <= WORK | FREE


def test_epochs_cost_what_they_look_at():
    """Most methods compute no more than what labelled nodes depend on; some look at all."""
    few, many = (estimate("bup", GRAPH.replace("300", "3000"), validation=n) for n in (3, 2000))
    assert many.seconds > 1.5 * few.seconds
    few, many = (estimate("bbde", GRAPH.replace("300", "3000"), validation=n) for n in (3, 2000))
    assert many == few


def test_reruns_cost_the_same():
    graph = bup.load_graph(GRAPH)
    runs = [run_of(dataclasses.replace(SPEC, seed=seed), graph) for seed in range(5)]
    assert len({cost_of(run, graph) for run in runs}) == 1
