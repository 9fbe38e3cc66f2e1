"""Runs that were tested on different nodes are compared on those that they share."""

import numpy as np
import pytest

import bup
from bup.imported import predictions
from bup.training import fitting
from bup.training.torch_model import run_of_predictions
from dashboard.session import run_link

SHARED = 500


@pytest.fixture
def own_split(stocked_cache, monkeypatch, cora):
    """Predictions with a split of their own: how many test nodes they share with our runs."""
    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))

    def bring(shared: int) -> bup.Spec:
        ours = bup.make_split(cora)
        rest = np.setdiff1d(np.arange(cora.num_nodes), ours.test)
        parts = np.full(cora.num_nodes, -1)
        parts[ours.test] = 0
        parts[ours.test[:shared]] = 2
        parts[rest[:100]], parts[rest[100:]] = 1, 2
        probs = np.full((cora.num_nodes, 7), 0.05)
        answers = np.where(np.arange(cora.num_nodes) % 10, cora.labels, (cora.labels + 1) % 7)
        probs[np.arange(cora.num_nodes), answers] = 0.7
        given = predictions.check(cora, probs, parts=parts)
        (result,) = fitting.fit_specs(cora, [run_of_predictions(cora, given)])
        fitting.save(result, cora)
        return result.spec

    return bring


def query(spec: bup.Spec, cora) -> dict[str, str]:
    return dict(run_link.parameters(spec, cora))


@pytest.mark.parametrize(
    ("page", "chosen"),
    [
        ("compare", {"rivals": ["GCN"]}),
        ("reliability", {"rival": "GCN"}),
        ("ood", {"ood_rivals": ["GCN"], "sought": "Mistakes"}),
    ],
)
def test_only_nodes_that_tested_both_are_compared(open_app, own_split, cora, page, chosen):
    app = open_app(page, **query(own_split(SHARED), cora), **chosen)
    assert not app.exception and not app.error
    said = " ".join(info.value for info in app.info)
    assert f"compared on the {SHARED} that are test papers of all of them" in said
    assert "Own from 1,500, GCN from 140" in said
    assert not app.warning


def test_runs_that_share_no_test_node_are_not_compared(open_app, own_split, cora):
    app = open_app("compare", **query(own_split(0), cora), rivals=["GCN"])
    assert not app.exception and not app.error
    assert any("no test paper in common" in warning.value for warning in app.warning)
    assert not any("The numbers" in header.value for header in app.header)


def test_runs_on_the_same_split_are_compared_as_they_are(open_app):
    app = open_app("compare", rivals=["GCN"])
    assert not any("compared on the" in info.value for info in app.info)


def test_a_narrower_run_is_judged_on_fewer_nodes(own_split, cora):
    from dashboard.cache import run_cache

    known = run_cache.find(own_split(SHARED), cora)
    fewer = known.result.split.test[:37]
    narrow = run_cache.tested_on(known, np.sort(fewer))
    assert narrow.report()["test"]["nodes"] == 37 and narrow.run == known.run
    assert narrow.result.split.test.tolist() == fewer.tolist()
    assert known.report()["test"]["nodes"] > 37


def test_what_was_made_elsewhere_is_not_offered_to_be_trained(open_app, own_split, cora):
    app = open_app(**query(own_split(SHARED), cora))
    assert not app.exception
    stories = " ".join(button.label for button in app.button)
    assert "A confident mistake" in stories and "A class never shown" not in stories
