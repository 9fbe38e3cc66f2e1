"""One rule for percentages, in Python and in the browser: node --test reads the same cases."""

import json
from pathlib import Path

import numpy as np
import pytest

from dashboard.ui.numbers import percent, percent_range

CASES = json.loads((Path(__file__).parents[2] / "js" / "percent.json").read_text())


def shares():
    """Around what is rounded up or down, halfway between two numbers, and at either end."""
    around = [k / 10**d for d in (2, 3, 4) for k in (0, 1, 5, 45, 50, 95, 99, 10**d - 5, 10**d)]
    near = [np.nextafter(share, end) for share in around for end in (0.0, 1.0)]
    return sorted({float(s) for s in (*around, *near, *np.linspace(0, 1, 161)) if 0 <= s <= 1})


def cases():
    return [[share, digits, percent(share, digits)] for share in shares() for digits in (0, 1, 2)]


def test_the_browser_is_tested_on_what_python_writes():
    assert cases() == CASES, f"write it anew: python {Path(__file__).name}"


def test_a_probability_is_never_nothing_and_all_only_if_it_is():
    for share, digits, text in CASES:
        assert (text == f"{1:.{digits}%}") == (share == 1)
        assert text != f"{0:.{digits}%}"
        if text[0].isdigit():
            assert float(text[:-1]) == pytest.approx(100 * share, abs=0.51 * 10**-digits)
    assert [percent(p, 0) for p in (0.5, 0.994, 0.9999, 1)] == ["50%", "99%", "over 99%", "100%"]
    assert [percent(p) for p in (1e-9, 0.05, 0.9999)] == ["<0.1%", "5.0%", ">99.9%"]


def test_an_interval_of_probabilities():
    assert percent_range(0.0001, 0.25) == "<0.1% to 25.0%"
    assert percent_range(0.9999, 1.0) == ">99.9%"


if __name__ == "__main__":
    lines = ",\n".join(map(json.dumps, cases()))
    (Path(__file__).parents[2] / "js" / "percent.json").write_text(f"[\n{lines}\n]\n")
