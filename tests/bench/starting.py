"""What a command costs before it does anything, against importing torch: each a new process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import count

from tests.bench.timing import interleaved, report

TORCH = "import torch"
SMALL = ("--graph", "synthetic:nodes=300", "--per-class", "5", "--test", "0", "--set", "epochs=1")


def run() -> None:
    with tempfile.TemporaryDirectory() as cache:
        surroundings = os.environ | {"BUP_CACHE": cache}

        def process(*arguments: str) -> None:
            command = [sys.executable, *arguments]
            done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)

        def bup(*arguments: str) -> Callable[[], None]:
            return lambda: process("-m", "bup.cli", *arguments)

        seeds = count(1)
        contenders = {
            TORCH: lambda: process("-c", TORCH),
            "python": lambda: process("-c", "pass"),
            "bup --help": bup("--help"),
            "bup graphs": bup("graphs"),
            "bup methods": bup("methods"),
            "bup fit, stored": bup("fit", *SMALL),
            # One epoch on a small graph: what is left is the way to it.
            "bup fit, new": lambda: bup("fit", *SMALL, "--seed", str(next(seeds)))(),
        }
        report("start of a command", interleaved(contenders, repeats=7), peer=TORCH)
