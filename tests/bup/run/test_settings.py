import dataclasses

import pytest

from bup.errors import BupError
from bup.methods import METHODS, complete
from bup.run.settings import make_settings
from bup.run.spec import Run, Spec


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_explains_itself_and_its_default_is_allowed(name):
    kind = METHODS[name].settings
    make_settings(kind, {}, name)
    for f in dataclasses.fields(kind):
        assert f.metadata["help"].endswith(".")


def test_defaults_are_filled_in_so_that_equal_runs_have_one_key():
    default = complete(Spec())
    assert complete(default) == default
    keys = [Run(complete(Spec(settings={"lam": lam})), "").key for lam in (1, 1.0, 2)]
    assert keys[0] == keys[1] == Run(default, "").key != keys[2]


def test_a_setting_of_another_rule_makes_no_other_run():
    one, other = (
        complete(Spec(settings={"propagation": "none", "lam": lam})) for lam in (1.0, 2.0)
    )
    assert one == other


def test_no_number_of_epochs_stands_for_another():
    with pytest.raises(BupError, match="epochs must be at least 1"):
        complete(Spec(method="vgcn", settings={"epochs": 0}))


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
