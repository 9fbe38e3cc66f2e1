"""The Dockerfile, as far as it can be checked without Docker; tests/tools/container.py runs it."""

import json
import tomllib

import click

from dashboard.server import command
from tests.support import ROOT
from tests.tools.container import sent, steps


def test_an_image_gets_what_it_copies_and_nothing_else():
    copies = [rest.split() for name, rest in steps() if name == "COPY" and "--from" not in rest]
    assert sorted(source for *sources, _ in copies for source in sources) == sorted(sent())
    assert all((ROOT / name).exists() for name in sent())


def test_an_image_serves_as_a_person_without_rights_and_says_whether_it_does():
    names = [name for name, _ in steps()]
    after = names[names.index("USER") :]
    assert "COPY" not in after and {"HEALTHCHECK", "CMD"} <= set(after)
    assert dict(steps())["USER"] != "root"


def test_an_image_starts_a_command_that_exists_on_a_tested_python():
    program, name, *options = json.loads(dict(steps())["CMD"])
    assert (program, name) == ("bup", "dashboard")
    context = click.Context(command.dashboard)
    command.dashboard.parse_args(context, options)
    assert context.params["shared"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    images = {rest.split()[0] for part, rest in steps() if part == "FROM"}
    assert images == {f"python:{project['requires-python'].removeprefix('>=')}-slim"}
