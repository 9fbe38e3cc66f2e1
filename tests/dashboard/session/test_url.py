"""What a link says of a view beyond its widgets: read back as it was written, never trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bup.methods import complete
from bup.run.spec import Spec
from dashboard.session import url
from dashboard.session.url import PARAMETERS

NUMBERS = st.floats(-10, 10).map(lambda x: float(f"{x:.4g}"))
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=url.MOST_CORNERS)


@given(POINTS)
def test_a_lasso_survives_its_link(corners):
    assert PARAMETERS["lasso"].read(PARAMETERS["lasso"].write(corners)) == corners


@given(NUMBERS, NUMBERS)
def test_a_range_survives_its_link_with_open_ends(one, other):
    low, high = sorted((one, other))
    spans = [[low, None], [None, high]] + ([[low, high]] if low < high else [])
    for span in spans:
        assert PARAMETERS["range"].read(PARAMETERS["range"].write(span)) == span


@pytest.mark.parametrize("split", ["", "20/10/70"])
def test_a_run_survives_its_link_in_few_letters(split):
    settings = (("hidden", 32),)
    spec = complete(Spec(method="gcn", left_out=(2,), seed=3, settings=settings, split=split))
    text = PARAMETERS["before"].write(spec)
    assert complete(PARAMETERS["before"].read(text)) == spec and len(text) < 100


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("range", text) for text in ("", "1", "nan~", "~inf", "2~1", "1~2~3", "a~b")),
        *(
            ("lasso", text)
            for text in ("", "1,2;3,4", "1,2;3,4;5", "1,2;3,4;nan,0", "0,1e9;1,1;2,2")
        ),
        ("lasso", ";".join(["0,1"] * 65)),
        *(("before", text) for text in ("", "[]", "{", '{"seed": "x"}', '{"what": 1}', "[" * 9000)),
        *(("unlink", text) for text in ("", "{}", "[1]", "x")),
        ("hops", "two"),
    ],
)
def test_what_makes_no_sense_is_refused(name, text):
    with pytest.raises(ValueError):
        PARAMETERS[name].read(text)
