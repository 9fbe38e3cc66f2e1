"""The house rules that a test can see."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support import ROOT

SOURCES = sorted([*ROOT.glob("bup/**/*.py"), *ROOT.glob("dashboard/**/*.py")])

PROSE = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
CALLED_BY_OTHERS = {"forward", "backward", "list_commands", "get_command"}  # torch, click
CALLED_BY_OTHERS |= {"find_spec", "create_module", "exec_module"}  # the import system


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


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
    for path in (*SOURCES, *ROOT.glob("tests/bench/*.py"), *ROOT.glob("tests/tools/*.py")):
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
