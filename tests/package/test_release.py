"""What is released: one version everywhere, and hooks and workflows that run what exists."""

import re

import yaml

import bup
from tests.support import ROOT


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_one_version_everywhere():
    assert yaml.safe_load(read("CITATION.cff"))["version"] == bup.__version__
    (first, *_) = re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)
    assert first == bup.__version__
    assert 'dynamic = ["version"]' in read("pyproject.toml")


def test_hooks_run_what_make_lint_runs():
    (repo,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert repo["repo"] == "local"
    lint = (
        read("Makefile").partition("lint:")[2].partition("\n\n")[0].replace("$(BIN)", ".venv/bin")
    )
    for hook in repo["hooks"]:
        assert hook["entry"].replace(" --force-exclude", "") in lint


def test_the_workflow_runs_files_that_exist_and_needs_no_secret():
    text = read(".github/workflows/ci.yml")
    jobs = yaml.safe_load(text)["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    paths = re.findall(
        r"(?<!\S)[\w.-]*/?(?:tests/[\w/.]+|requirements[\w.-]*txt|\.ci/run)", " ".join(commands)
    )
    assert paths and all((ROOT / path).exists() for path in paths)
    assert "secrets." not in text
    matrix = jobs["systems"]["strategy"]["matrix"]
    assert len(matrix["system"]) == 3 and matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
