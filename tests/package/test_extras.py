"""What an installation with fewer packages can do, and what it says where one is missing."""

import os
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from tests.support import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PARTS = PROJECT["optional-dependencies"]

# A package that is left out is not found, as if nobody had installed it.
LEAVE_OUT = """
import importlib.abc, sys

class LeftOut(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, LeftOut())
"""
IMPORT_ALL = """
import importlib, pkgutil, sys

for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.rpartition(".")[2] != "__main__":
            importlib.import_module(found.name)
"""
COMMAND = "from bup import cli; cli.main()"
SMALL = "synthetic:nodes=60,classes=2,words=20"
FIT = ["fit", "--graph", SMALL, "--per-class", "2", "--validation", "2", "--test", "20"]


def needed(parts: set[str]) -> set[str]:
    """Packages that pip installs for these extras, with all that they need in turn."""
    found: set[str] = set()
    texts = [*PROJECT["dependencies"], *(text for part in parts for text in PARTS[part])]
    left = [Requirement(text) for text in texts]
    while left:
        one = left.pop()
        name = one.name.lower().replace("_", "-")
        wanted = any(
            one.marker is None or one.marker.evaluate({"extra": extra})
            for extra in ("", *one.extras)
        )
        if name not in found and wanted:
            found.add(name)
            for text in metadata.requires(one.name) or []:
                inner = Requirement(text)
                if inner.marker is None or any(
                    inner.marker.evaluate({"extra": extra}) for extra in ("", *one.extras)
                ):
                    inner.marker = None
                    left.append(inner)
    return found


@pytest.fixture(scope="module")
def run_with(tmp_path_factory):
    """Run a script as if only the core and some extras were installed."""
    folder = tmp_path_factory.mktemp("parts")

    def run(parts: set[str], script: str, *arguments: str) -> subprocess.CompletedProcess:
        here = needed(parts)
        names = {
            name
            for name, of in metadata.packages_distributions().items()
            if not {each.lower().replace("_", "-") for each in of} & {*here, "bup-explorer", "pip"}
        }
        (folder / "sitecustomize.py").write_text(f"NAMES = {names!r}\n{LEAVE_OUT}", "utf-8")
        path = os.pathsep.join(map(str, [folder, ROOT]))
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            capture_output=True,
            encoding="utf-8",
            env=os.environ | {"PYTHONPATH": path, "BUP_CACHE": str(folder / "cache")},
        )

    return run


def test_the_core_has_every_module_of_bup_and_trains(run_with):
    done = run_with(set(), IMPORT_ALL, "bup")
    assert done.returncode == 0, done.stderr
    done = run_with(set(), COMMAND, *FIT, "--set", "epochs=2")
    assert done.returncode == 0, done.stderr


def test_the_app_needs_no_other_extra(run_with):
    done = run_with({"app"}, IMPORT_ALL, "dashboard")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["dashboard", "--port", "0"], "streamlit", "app"),
        (["export", "-o", "page.html"], "plotly", "app"),
        ([*FIT, "--method", "ggp"], "gpytorch", "methods"),
    ],
)
def test_a_missing_part_names_its_extra(run_with, arguments, package, extra):
    others = set(PARTS) - {extra, "all", "dev"}
    for parts in (set(), others):
        done = run_with(parts, COMMAND, *arguments)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1 and "needs the package" in done.stderr
        assert f"pip install 'bup-explorer[{extra}]'" in done.stderr
        assert parts == set() or package in done.stderr or extra == "app"


@pytest.mark.parametrize(
    ("use", "extra"),
    [
        ("bup.figures", "app"),
        ("from bup.jobs.cluster import cluster\n    cluster('').__enter__()", "cluster"),
    ],
)
def test_a_missing_part_names_its_extra_in_python(run_with, use, extra):
    script = f"import bup\ntry:\n    {use}\nexcept bup.BupError as error:\n    print(error)"
    assert f"bup-explorer[{extra}]" in run_with(set(), script).stdout


def test_the_map_is_drawn_without_graphviz(run_with):
    script = """
import sys
import numpy as np
from dashboard.layouts.arrangement import arrange

sys.modules["pygraphviz"] = None
for n in (2, 3, 40):
    steps = arrange(n, np.array([range(n - 1), range(1, n)]))
    print(len(np.unique(steps, axis=0)))
"""
    assert run_with({"app"}, script).stdout.split() == ["2", "3", "40"]


def test_requirements_pin_what_the_ranges_allow():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {pin.name.lower(): next(iter(pin.specifier)).version for pin in pins}
    texts = [*PROJECT["dependencies"], *PARTS["app"], *PARTS["methods"], *PARTS["cluster"]]
    for one in map(Requirement, texts):
        assert pinned[one.name.lower()] in one.specifier, one
