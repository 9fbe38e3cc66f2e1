import dataclasses

import pytest

from bup.errors import BupError
from bup.methods import METHODS, complete
from bup.settings import checked
from bup.spec import Spec


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_explains_itself_and_its_default_is_allowed(name):
    kind = METHODS[name].settings
    checked(kind, {}, name)
    for f in dataclasses.fields(kind):
        assert f.metadata["help"].endswith(".")


def test_defaults_are_filled_in_so_that_equal_runs_have_one_key():
    default = complete(Spec())
    assert complete(default) == default
    assert complete(Spec(settings={"lam": 1})).key == complete(Spec(settings={"lam": 1.0})).key
    assert complete(Spec(settings={"lam": 1})).key == default.key
    assert complete(Spec(settings={"lam": 2})).key != default.key


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lam": 0.3}, "setting lam must be at least 0.5, got 0.3"),
        ({"hidden": 1_000_000}, "hidden must be at most 1024"),
        ({"epochs": 10**9}, "epochs must be at most"),
        ({"epochs": 2.5}, "epochs must be a whole number, got 2.5"),
        ({"epochs": True}, "whole number"),
        ({"dropout": "half"}, "must be a number, got 'half'"),
        ({"dropout": 1.0}, "at most 0.95"),
        ({"propagation": "magic"}, "must be one of paper, doubt, evidence, gcn, none, got 'magic'"),
        ({"loss": None}, "must be text"),
        ({"colour": "red"}, "bup has no setting 'colour': it has"),
    ],
)
def test_impossible_settings_are_explained(settings, message):
    with pytest.raises(BupError, match=message):
        complete(Spec(settings=settings))


def test_an_unknown_method_is_named():
    with pytest.raises(BupError, match="no method 'oracle': choose one of bup"):
        complete(Spec(method="oracle"))
