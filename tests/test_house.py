"""The house rules that a test can see."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_LINES = 380
SOURCES = sorted([*ROOT.glob("bup/**/*.py"), *ROOT.glob("dashboard/**/*.py")])

PROSE = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
CALLED_BY_OTHERS = {"forward", "backward", "list_commands", "get_command"}  # torch, click


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


def uses(code: str) -> Iterator[str]:
    """The names that code mentions; neither a definition nor a plain import is a use."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.name


def test_nothing_is_there_for_its_tests_alone():
    """By name only: two things that share one vouch for each other."""
    used = set(CALLED_BY_OTHERS)
    for path in (*SOURCES, *ROOT.glob("bench/*.py"), *ROOT.glob("docs/*.py")):
        used.update(uses(path.read_text()))
    for path in PROSE:
        used.update(re.findall(r"\w+", path.read_text()))
    unused = [
        f"{place(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        if not node.name.startswith("__") and node.name not in used
    ]
    assert unused == []
