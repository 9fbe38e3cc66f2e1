"""The run that comes with the package: the very one that would be trained."""

import dataclasses

import numpy as np
import pytest

import bup
from bup.results import store
from bup.training import fitting
from dashboard.session import run_link

REMAKE = "the app opens on another run than the one that is shipped: 'make first' makes it anew"


@pytest.fixture(scope="module")
def shipped(cora, tmp_path_factory) -> bup.Result:
    """As a new machine finds it, whose own store is empty."""
    empty = bup.Store(tmp_path_factory.mktemp("store"))
    found = fitting.load(run_link.default_spec(cora), cora, empty)
    assert found is not None, REMAKE
    return found


def test_it_is_what_training_would_give(shipped, cora):
    (trained,) = fitting.fit_specs(cora, [shipped.spec])
    here, there = trained.pack().arrays, shipped.pack().arrays
    assert here.keys() == there.keys(), REMAKE
    # Another processor sums in another order, and training then ends elsewhere, if not far.
    same_sums = all(np.array_equal(here[k], there[k]) for k in here if k.startswith("weights."))
    for name in here:
        if same_sums:
            assert np.array_equal(here[name], there[name]), REMAKE
    assert np.abs(trained.probs - shipped.probs).mean() < 0.005, REMAKE
    assert trained.constants.keys() == shipped.constants.keys(), REMAKE


def test_it_is_of_this_run_and_graph_alone(shipped, cora, path_graph, tmp_path):
    empty = bup.Store(tmp_path)
    other = dataclasses.replace(shipped.spec, seed=1)
    assert fitting.load(other, cora, empty) is None
    assert empty.load(fitting.run_of(shipped.spec, path_graph)) is None
    assert [path.name for path in tmp_path.iterdir()] == []


def test_one_that_was_damaged_is_left_alone(shipped, cora, tmp_path, monkeypatch, caplog):
    run = fitting.run_of(shipped.spec, cora)
    monkeypatch.setattr(store, "SHIPPED", tmp_path / "shipped")
    (tmp_path / "shipped").mkdir()
    file = tmp_path / "shipped" / f"{run.key}.bup"
    file.write_bytes(b"not a result")
    assert bup.Store(tmp_path / "store").load(run) is None
    assert file.exists() and "is not used" in caplog.text


def test_a_result_of_ones_own_goes_before_it(shipped, cora, tmp_path):
    own = bup.Store(tmp_path)
    fitting.save(dataclasses.replace(shipped, seconds=123.0), cora, own)
    assert fitting.load(shipped.spec, cora, own).seconds == 123.0
