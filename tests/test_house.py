"""The house rules that a test can see."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_LINES = 380
SOURCES = sorted([*ROOT.glob("bup/**/*.py"), *ROOT.glob("dashboard/**/*.py")])


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=place)
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("number", range(1, 10))
def test_an_equation_of_the_paper_is_one_function(number):
    found = [
        place(path)
        for path in ROOT.glob("bup/**/*.py")
        for _ in re.finditer(rf"\bEq\. \({number}\)", path.read_text())
    ]
    assert len(found) == 1, found
