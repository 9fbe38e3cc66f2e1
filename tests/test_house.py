"""The house rules that a test can see."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_LINES = 380
SOURCES = sorted([*ROOT.glob("bup/**/*.py"), *ROOT.glob("dashboard/**/*.py")])
STILL_LONG = {
    "bup/training.py",
    "dashboard/components/network.py",
    "dashboard/figures/learn.py",
    "dashboard/jobs.py",
    "dashboard/views/explore.py",
}


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=place)
def test_a_file_can_be_read_in_one_sitting(path):
    lines = len(path.read_text().splitlines())
    assert lines <= MOST_LINES or place(path) in STILL_LONG


def test_no_exception_outlives_its_reason():
    long = {place(p) for p in SOURCES if len(p.read_text().splitlines()) > MOST_LINES}
    assert long >= STILL_LONG


@pytest.mark.parametrize("number", [2, 7, 8, 9])
def test_an_equation_of_the_paper_is_one_function(number):
    found = [
        place(path)
        for path in ROOT.glob("bup/**/*.py")
        for _ in re.finditer(rf"\bEq\. \({number}\)", path.read_text())
    ]
    assert len(found) == 1, found
