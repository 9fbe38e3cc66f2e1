"""The page of results remakes itself: what a command prints goes where its last output stood."""

import re
import shlex

import click
import pytest

from bup.cli import app
from tests.tools import results

PAGE = """# Results

Made on some day: something.

Words before.

```sh
bup reproduce q1
```

| old | table |
|---|---|
| 1 | 2 |

Words between.

```sh
python -m tests.bench seeds
```

```text
old lines
```

Words after | with a bar.
"""
PRINTED = {
    "bup reproduce q1": "## A title\n\n| new | table |\n|---|---|\n| 3 | \\g<0> |\n\nA note.\n",
    "python -m tests.bench seeds": "\nnew lines\n\n",
}


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "results.md"
    path.write_text(PAGE)
    return path


def test_only_what_was_printed_changes(page):
    results.main([], page, PRINTED.__getitem__)
    expected = PAGE.replace("old | table", "new | table").replace("| 1 | 2 |", "| 3 | \\g<0> |")
    made = re.search("^Made on .*$", page.read_text(), re.MULTILINE)
    assert made is not None and "torch" in made[0]
    assert page.read_text() == expected.replace("old lines", "new lines").replace(
        "Made on some day: something.", made[0]
    )


def test_some_commands_only(page):
    asked = []
    results.main(["seeds"], page, lambda command: asked.append(command) or "x")
    assert asked == ["python -m tests.bench seeds"]
    assert page.read_text() == PAGE.replace("old lines", "x")
    with pytest.raises(SystemExit, match=r"no command .* nothing"):
        results.main(["nothing"], page, PRINTED.__getitem__)


def test_a_failing_command_leaves_the_page_alone(page, capfd):
    page.write_text(PAGE.replace("q1", "q99"))
    with pytest.raises(SystemExit, match="bup reproduce q99 failed"):
        results.main([], page)
    assert page.read_text() == PAGE.replace("q1", "q99") and "q99" in capfd.readouterr().err


def test_every_command_of_the_real_page_can_be_called():
    commands = [
        shlex.split(place["command"]) for place in results.PLACE.finditer(results.PAGE.read_text())
    ]
    assert len(commands) > 8
    for program, name, *arguments in commands:
        if program == "bup":
            assert name == "reproduce"
            command = app.get_command(click.Context(app), name)
            command.make_context(name, arguments)


def test_a_table_that_would_lose_rows_stays(page, capsys):
    results.main(["q1"], page, lambda command: "| new | table |\n|---|---|\n")
    assert page.read_text() == PAGE and "fewer rows" in capsys.readouterr().err
