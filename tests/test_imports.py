"""The one way of dependencies: pages -> figures and jobs -> bup, never back."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DRAWING = {"streamlit", "plotly", "pyvis", "dashboard", "altair", "matplotlib"}


def imported(source: str) -> set[str]:
    """Top-level names of every module that a source imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", sorted(ROOT.glob("bup/**/*.py")), ids=lambda p: p.stem)
def test_the_core_draws_nothing(path):
    assert not imported(path.read_text()) & DRAWING


def test_the_law_notices_a_breach():
    assert imported("def f():\n    import plotly.express as px") & DRAWING
    assert imported("from streamlit.components import v1") & DRAWING


def test_no_file_names_a_registry_or_needs_a_pickle():
    for path in ROOT.glob("bup/**/*.py"):
        source = path.read_text()
        assert "pypi" not in source.lower(), path
        assert "torch.load(" not in source and "allow_pickle=True" not in source, path


def test_training_does_not_wait_for_packages_that_few_need():
    """Every process of a pool would: together they take longer to load than a model to train."""
    script = "import sys, bup.engine; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "bup.engine" in loaded
    assert not loaded & {"torch_geometric", "gpytorch", "sklearn.cluster"}
