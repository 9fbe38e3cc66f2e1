import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bup.errors import BupError
from bup.run.spec import Run, Spec, format_value, parse_value

values = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.none()
)
specs = st.builds(
    Spec,
    graph=st.text(),
    method=st.text(),
    per_class=st.integers(),
    validation=st.integers(),
    test=st.none() | st.integers(),
    left_out=st.lists(st.integers(), max_size=4).map(tuple),
    seed=st.integers(),
    settings=st.dictionaries(st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True), values),
)


def exactly(spec: Spec) -> str:
    """Equality that also tells 1 from 1.0 and from true."""
    return repr(spec)


@given(specs)
def test_round_trips_through_json(spec):
    back = Spec.from_dict(json.loads(spec.to_json()))
    assert exactly(back) == exactly(spec) and hash(back) == hash(spec)


@given(values)
def test_values_are_read_back_with_their_type(value):
    back = parse_value(format_value(value))
    assert back == value and type(back) is type(value)


@given(specs)
def test_the_key_is_a_plain_folder_name(spec):
    assert re.fullmatch(r"[a-z0-9-]{1,120}", Run(spec, "ab" * 32).key)


@given(values.filter(lambda v: isinstance(v, bool | float)) | st.integers(-(2**60), 2**60))
def test_numpys_numbers_are_numbers(value):
    for given_value in (np.array(value)[()], np.array(value), np.asarray([value])[0]):
        assert exactly(Spec(settings={"a": given_value})) == exactly(Spec(settings={"a": value}))
    if type(value) is int:
        theirs = Spec(per_class=np.int64(value), seed=np.array(value), left_out=np.array([value]))
        assert exactly(theirs) == exactly(Spec(per_class=value, seed=value, left_out=(value,)))


def test_order_does_not_matter():
    one = Spec(left_out=(2, 1), settings={"a": 1, "b": 2})
    assert one == Spec(left_out=(1, 2, 2), settings=(("b", 2), ("a", 1)))
    assert Run(one, "").key == Run(Spec(left_out=(1, 2), settings={"b": 2, "a": 1}), "").key


def test_different_runs_have_different_keys():
    specs = [
        Spec(),
        Spec(graph="citeseer"),
        Spec(method="gcn"),
        Spec(per_class=5),
        Spec(validation=100),
        Spec(test=None),
        Spec(left_out=(6,)),
        Spec(seed=1),
        Spec(settings={"lam": 1.0}),
    ]
    runs = [Run(spec, digest) for spec in specs for digest in ("a" * 64, "b" * 64)]
    assert len({run.key for run in runs}) == len(runs)
    assert len({run.family for run in runs}) == len(specs)
    assert [Run.from_dict(json.loads(json.dumps(run.as_dict()))) for run in runs] == runs


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"graph": 1},
        {"per_class": "many"},
        {"seed": 1.5},
        {"seed": True},
        {"left_out": ["a"]},
        {"left_out": [""]},
        {"left_out": 1},
        {"settings": {"lam": float("nan")}},
        {"settings": {"lam": float("inf")}},
        {"settings": {"lam": [1]}},
        {"settings": {"UPPER": 1}},
        {"settings": {"": 1}},
        {"settings": [("a", 1), ("a", 2)]},
    ],
)
def test_descriptions_that_make_no_sense_are_explained(change):
    with pytest.raises(BupError):
        Spec.from_dict(change)


anything = st.recursive(
    values,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(anything | st.fixed_dictionaries({}, optional={name: anything for name in Spec().as_dict()}))
def test_any_description_is_a_run_or_an_error(plain):
    with contextlib.suppress(BupError):
        Spec.from_dict(plain)
