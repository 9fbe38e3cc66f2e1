"""What ``import bup`` offers, and that the README's Python is true."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bup
from tests.support import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def in_fresh_interpreter(code: str, cache: Path, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"BUP_CACHE": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readmes_python_runs(stocked_cache, tmp_path):
    said = in_fresh_interpreter("".join(BLOCKS), stocked_cache, tmp_path)
    assert len(BLOCKS) == 2 and "http://localhost" in said


@pytest.mark.parametrize("name", sorted(set(bup.__all__)))
def test_every_public_name_is_there(name):
    assert getattr(bup, name) is not None and name in dir(bup)


def test_public_is_what_the_tables_say():
    assert set(bup.__all__) == {
        "BupError",
        "Spec",
        *bup._LAZY,
        *bup._FOLDERS,
        *bup._ALIASES,
        *bup._OF_THE_DASHBOARD,
    }
    assert {name for name in dir(bup) if not name.startswith("_")} == set(bup.__all__)
    with pytest.raises(AttributeError, match="no attribute 'luck'"):
        bup.luck  # noqa: B018


def test_a_tab_imports_nothing_slow(tmp_path):
    code = "import sys, bup; dir(bup); print(*sys.modules)"
    loaded = set(in_fresh_interpreter(code, tmp_path, tmp_path).split())
    assert not loaded & {"numpy", "scipy", "torch", "pandas", "streamlit", "plotly", "dashboard"}


@pytest.mark.parametrize("module", ["metrics", "inspection", "splits", "figures", "predictions"])
def test_modules_are_there_at_once(tmp_path, module):
    code = f"import bup; print(len(dir(bup.{module})))"
    assert int(in_fresh_interpreter(code, tmp_path, tmp_path)) > 5


@pytest.mark.parametrize(
    ("name", "module"), sorted((bup._ALIASES | {f: f"bup.{f}" for f in bup._FOLDERS}).items())
)
def test_a_public_module_can_be_imported_by_its_path(tmp_path, name, module):
    code = f"""
import importlib, bup
public, place = importlib.import_module("bup.{name}"), importlib.import_module("{module}")
assert public is place is bup.{name} and place.__spec__.name == "{module}"
"""
    in_fresh_interpreter(code, tmp_path, tmp_path)
