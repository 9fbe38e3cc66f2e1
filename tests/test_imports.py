"""The one way of dependencies: pages -> figures, components and jobs -> bup, never back."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DRAWING = {"streamlit", "plotly", "pyvis", "dashboard", "altair", "matplotlib"}
FLOORS = (
    {"clients"},
    {
        "jobs",
        "layouts",
        "theme",
        "columns",
        "markdown",
        "wording",
        "kept",
        "classes",
        "payloads",
        "descriptors",
        "patience",
        "turns",
        "visitor",
    },
    {"figures", "components", "processes", "rations", "network", "reading", "uploads", "head"},
    {"address", "doors", "picks", "graphs", "links", "problems", "numbers", "garbage"},
    {"shelf"},
    {"drawings", "state", "classroom", "waiting"},
    {"export"},
    {"views", "learn"},
    {"pages"},
    {"router", "serving", "notebook"},
    {"app", "command"},
    {"asgi"},
)
"""Rooms of the dashboard; each may use itself and what is on the floors below it."""
WITHOUT_PAGES = {
    "clients",
    "jobs",
    "layouts",
    "theme",
    "columns",
    "markdown",
    "wording",
    "kept",
    "classes",
    "figures",
}


def names(source: str) -> set[str]:
    """Everything that a source imports, dotted, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imported(source: str) -> set[str]:
    """Top-level names of every module that a source imports."""
    return {name.split(".")[0] for name in names(source)}


def rooms(source: str) -> set[str]:
    """The rooms of the dashboard that a source uses."""
    return {name.split(".")[1] for name in names(source) if name.startswith("dashboard.")}


def reach(room: str) -> set[str]:
    """What a room may use."""
    (floor,) = (number for number, floor in enumerate(FLOORS) if room in floor)
    return {room}.union(*FLOORS[:floor])


@pytest.mark.parametrize("path", sorted(ROOT.glob("bup/**/*.py")), ids=lambda p: p.stem)
def test_the_core_draws_nothing(path):
    assert not imported(path.read_text()) & DRAWING


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("dashboard/**/*.py")), ids=lambda p: f"{p.parent.stem}.{p.stem}"
)
def test_the_dashboard_uses_what_is_below(path):
    room = path.relative_to(ROOT / "dashboard").with_suffix("").parts[0]
    if room != "__init__":
        assert rooms(path.read_text()) <= reach(room)
    if room in WITHOUT_PAGES:
        assert "streamlit" not in imported(path.read_text())


def test_the_law_notices_a_breach():
    assert imported("def f():\n    import plotly.express as px") & DRAWING
    assert imported("from streamlit.components import v1") & DRAWING
    assert not rooms("from dashboard import state\nimport dashboard.views.ood") <= reach("figures")
    assert not rooms("from dashboard.learn.lesson import LESSONS") <= reach("views")
    assert rooms("def f():\n    from dashboard.ui.theme import Theme") <= reach("figures")


def test_no_file_names_a_registry_or_needs_a_pickle():
    for path in ROOT.glob("bup/**/*.py"):
        source = path.read_text()
        assert "pypi" not in source.lower(), path
        assert "torch.load(" not in source and "allow_pickle=True" not in source, path


def test_training_does_not_wait_for_packages_that_few_need():
    """Every training process would: together they take longer to load than a model to train."""
    script = "import sys, bup.jobs.sweep; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "bup.jobs.sweep" in loaded
    assert not loaded & {"torch_geometric", "gpytorch", "sklearn.cluster"}


def test_the_process_that_keeps_the_queue_needs_no_torch():
    script = "import sys, dashboard.server.balancer; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "dashboard.training_queue.manager" in loaded and not loaded & {
        "torch",
        "streamlit",
        "pandas",
    }


def test_no_page_and_no_lesson_trains_inside_the_server():
    """Runs go through the queue; only what was predicted elsewhere becomes one on the spot."""
    trains = re.compile(r"\b((bup|runs)\.fit|fit_specs|fit_many)\(")
    found = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("dashboard/**/*.py"))
        if trains.search(path.read_text())
    ]
    assert found == ["dashboard/views/own/predictions.py"]
