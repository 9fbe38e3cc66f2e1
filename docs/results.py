"""Remakes docs/results.md: runs the commands in it, puts what they print in their places.

A command stands alone in a block of shell; the table or the block of text below it is what it
printed. Runs that are stored are not trained again, so a second time takes seconds a table.

    make results                # everything, speed included, on a machine with nothing else to do
    make results ARGS="q1 q2"   # the commands in which one of these words stands
"""

from __future__ import annotations

import datetime
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.timing import environment
from bup.files import write_atomically

PAGE = Path(__file__).parent / "results.md"
PLACE = re.compile(
    r"```sh\n(?P<command>[^\n]+)\n```\n\n(?P<printed>(?:\|[^\n]*\n)+|```text\n.*?```\n)", re.DOTALL
)
MADE = re.compile(r"^Made on .*$", re.MULTILINE)


def main(words: Sequence[str], page: Path = PAGE, run: Callable[[str], str] | None = None) -> None:
    commands = [place["command"] for place in PLACE.finditer(page.read_text())]
    chosen = [c for c in commands if not words or any(word in c.split() for word in words)]
    if not chosen:
        sys.exit(f"no command in {page.name} has a word such as {words[0]}: {', '.join(commands)}")
    for command in chosen:
        print(f"$ {command}", file=sys.stderr, flush=True)
        printed = (run or output_of)(command)
        # Read again: a person may have worked on the words around it meanwhile.
        renewed = partial(_renewed, command=command, printed=printed)
        text = PLACE.sub(renewed, page.read_text())
        write_atomically(page, text.encode())
    if not words:
        made = f"Made on {datetime.date.today():%d %B %Y}: {environment()}."
        write_atomically(page, MADE.sub(made, page.read_text()).encode())


def output_of(command: str) -> str:
    program, *arguments = shlex.split(command)
    if program == "bup":
        arguments = ["-m", "bup.cli", *arguments]
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command} failed: mend that and start again, what is stored is not lost")
    return done.stdout


def _renewed(place: re.Match[str], command: str, printed: str) -> str:
    if place["command"] != command:
        return place[0]
    if place["printed"].startswith("|"):
        lines = [line for line in printed.splitlines() if line.startswith("|")]
        below = "\n".join(lines) + "\n"
    else:
        below = f"```text\n{printed.strip()}\n```\n"
    return f"```sh\n{command}\n```\n\n{below}"


if __name__ == "__main__":
    main(sys.argv[1:])
