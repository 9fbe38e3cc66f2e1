"""Measures what is stored, and remakes docs/results.md from it.

First every stored run of every question is measured into ``bup/shipped/results.json.gz``, which
comes with the package; runs that are not stored keep the row that the file has of them. Then the
commands in the page are run, those of ``bup reproduce`` on that file, and what they print is put in
its place: a command stands alone in a block of shell, the table or text below is what it printed. A
table that would lose rows, as some were not measured, stays as it is.
``bup reproduce all`` trains what is missing beforehand.

    make results                # everything, speed included, on a machine with nothing else to do
    make results ARGS="q1 q2"   # the commands in which one of these words stands
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import bup
from bup import experiments as e
from bup.cli.reproduction import reproduce
from bup.io.files import write_atomically
from tests.bench.timing import environment
from tests.support import ROOT

PAGE = ROOT / "docs" / "results.md"
SHIPPED = ROOT / "bup" / "shipped" / "results.json.gz"
PLACE = re.compile(
    r"```sh\n(?P<command>[^\n]+)\n```\n\n(?P<printed>(?:\|[^\n]*\n)+|```text\n.*?```\n)", re.DOTALL
)
MADE = re.compile(r"^Made on .*$", re.MULTILINE)


def main(words: Sequence[str], page: Path = PAGE, run: Callable[[str], str] | None = None) -> None:
    commands = [place["command"] for place in PLACE.finditer(page.read_text(encoding="utf-8"))]
    chosen = [c for c in commands if not words or any(word in c.split() for word in words)]
    if not chosen:
        sys.exit(f"no command in {page.name} has a word such as {words[0]}: {', '.join(commands)}")
    for command in chosen:
        print(f"$ {command}", file=sys.stderr, flush=True)
        printed = (run or output_of)(command)
        # Read again: a person may have worked on the words around it meanwhile.
        renewed = partial(_renewed, command=command, printed=printed)
        text = PLACE.sub(renewed, page.read_text(encoding="utf-8"))
        write_atomically(page, text.encode())
    if not words:
        made = f"Made on {datetime.date.today():%d %B %Y}: {environment()}."
        write_atomically(page, MADE.sub(made, page.read_text(encoding="utf-8")).encode())


def measure() -> None:
    """Put what is stored into the file that comes with the package."""
    plans: dict[str, dict[e.PlannedRun, None]] = {name: {} for name in e.QUESTIONS}
    graphs: dict[str, bup.Graph] = {}
    for asked in (e.PlanRequest(e.ALL, everything=True), *asked_in(PAGE.read_text())):
        found, here = e.make_plans(asked)
        graphs |= here
        for question, planned in found:
            plans[question.name] |= dict.fromkeys(planned)
    every = [(e.QUESTIONS[name], list(planned)) for name, planned in plans.items()]
    before = e.unpack(SHIPPED.read_bytes()) if SHIPPED.exists() else e.ShippedResults()
    found = e.collect(every, graphs, bup.Store(), before)
    write_atomically(SHIPPED, e.pack(found))
    for question, rows in found.measured.items():
        print(f"{question}: {len(rows)} runs measured", file=sys.stderr)


def asked_in(text: str) -> list[e.PlanRequest]:
    """What the page's commands ask of questions."""
    found = []
    for place in PLACE.finditer(text):
        program, *words = shlex.split(place["command"])
        if program == "bup" and words[0] == "reproduce":
            options = reproduce.make_context("reproduce", words[1:]).params
            fields = {field.name for field in dataclasses.fields(e.PlanRequest)}
            found.append(e.PlanRequest(**{k: v for k, v in options.items() if k in fields}))
    return found


def output_of(command: str) -> str:
    program, *arguments = shlex.split(command)
    if program == "bup":
        arguments = ["-m", "bup.cli", *arguments]
        arguments += ["--measured"] if "reproduce" in arguments else []
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command} failed: mend that and start again, what is stored is not lost")
    return done.stdout


def _renewed(place: re.Match[str], command: str, printed: str) -> str:
    if place["command"] != command:
        return place[0]
    if place["printed"].startswith("|"):
        lines = [line for line in printed.splitlines() if line.startswith("|")]
        if len(lines) < place["printed"].count("\n"):
            print(f"{command} has fewer rows than the page: they stay", file=sys.stderr)
            return place[0]
        below = "\n".join(lines) + "\n"
    else:
        below = f"```text\n{printed.strip()}\n```\n"
    return f"```sh\n{command}\n```\n\n{below}"


if __name__ == "__main__":
    measure()
    main(sys.argv[1:])
