import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bup.errors import BupError
from bup.run.splits import make_split


@given(
    st.sampled_from([5, 10, 15, 20]),
    st.lists(st.integers(0, 5), max_size=4, unique=True),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_every_split_keeps_the_protocol(citeseer, per_class, left_out, seed):
    split = make_split(citeseer, per_class, left_out=left_out, seed=seed)
    labels = citeseer.labels
    assert (len(split.validation), len(split.test)) == (200, 2000)
    counts = np.bincount(labels[split.train], minlength=6)
    assert counts.tolist() == [0 if c in left_out else per_class for c in range(6)]
    everything = np.concatenate([split.train, split.validation, split.test])
    assert len(set(everything.tolist())) == len(everything)
    assert citeseer.labelled[everything].all()
    assert not split.is_ood(labels[split.validation]).any()
    assert set(split.classes) | set(left_out) == set(range(6))


def test_test_nodes_include_the_left_out_class_in_its_natural_share(cora):
    split = make_split(cora, left_out=[3], seed=1)
    ood = split.is_ood(cora.labels[split.test])
    # 818 of 2708 papers, and none of them is used up by training or validation
    assert ood.mean() == pytest.approx(818 / (2708 - 6 * 20 - 200), abs=0.03)


def test_the_same_seed_is_the_same_split_on_every_machine(cora):
    split = make_split(cora, 5, seed=7)
    drawn = np.concatenate([split.train, split.validation, split.test]).astype("<i8")
    assert hashlib.sha256(drawn.tobytes()).hexdigest() == (
        "13888db7149f28c1827b76a3af3056a5dce7592d40253a8d9418e549d83d6dc4"
    )
    assert not np.array_equal(split.train, make_split(cora, 5, seed=8).train)


def test_more_per_class_contains_fewer_per_class(cora):
    small, large = (make_split(cora, k, seed=3).train for k in (5, 20))
    assert set(small.tolist()) < set(large.tolist())


def test_targets_are_the_columns_of_the_classes_that_are_learned(cora):
    split = make_split(cora, left_out=[0, 3])
    assert split.classes == (1, 2, 4, 5, 6)
    assert split.targets(np.array([0, 1, 2, 3, 4, 5, 6, -1])).tolist() == [
        -1,
        0,
        1,
        -1,
        2,
        3,
        4,
        -1,
    ]
    last_out = make_split(cora, left_out=[6])
    assert last_out.targets(np.array([5, 6, -1])).tolist() == [5, -1, -1]


@pytest.mark.parametrize(
    "named",
    ["Rule Learning", ["Rule Learning"], 6, np.int64(6), np.array([6]), [6, "Rule Learning"]],
)
def test_a_class_goes_by_its_name_or_its_number(cora, named):
    assert make_split(cora, left_out=named).left_out == (6,)
    assert cora.class_names[6] == "Rule Learning"


def test_all_the_rest_can_be_tested(cora):
    split = make_split(cora, test=None)
    assert len(split.train) + len(split.validation) + len(split.test) == cora.num_nodes


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"per_class": 181}, "'Rule Learning' of cora has 180 nodes, fewer than the 181"),
        ({"per_class": 0}, "at least 1, got 0"),
        ({"per_class": 2.5}, "whole number"),
        ({"per_class": True}, "whole number"),
        ({"validation": 2600}, "fewer than the 2600 asked for validation"),
        ({"validation": 0}, "at least 1"),
        ({"test": 2700}, "2368 labelled nodes left for testing"),
        ({"test": 0}, "at least 1"),
        ({"left_out": [7]}, "no class 7"),
        ({"left_out": [-1]}, "no class -1"),
        ({"left_out": ["Alchemy"]}, "no class 'Alchemy'"),
        ({"left_out": range(6)}, "keep at least two"),
        ({"left_out": range(7)}, "keep at least two"),
        ({"seed": -1}, "at least 0"),
        ({"seed": 2**32}, "at most"),
    ],
)
def test_impossible_requests_are_explained(cora, request_, message):
    with pytest.raises(BupError, match=message):
        make_split(cora, **request_)


def test_a_class_too_small_may_be_left_out(cora):
    assert len(make_split(cora, 181, test=1000, left_out=[6]).train) == 6 * 181
