"""Run the steps of the Dockerfile in a clean folder, where there is no Docker.

Paths of the image lie below the folder, build arguments are given as NAME=VALUE. What needs root
(useradd) is left out. ``--here`` takes installed packages from this environment instead of
installing them again, which would take gigabytes.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.support import ROOT

DOCKERFILE = ROOT / "Dockerfile"
PATIENCE = 300  # seconds until the app is healthy


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments."""
    lines = DOCKERFILE.read_text("utf-8").splitlines()
    parts = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    return [(name, rest) for name, rest in parts]


def sent() -> list[str]:
    """The names in the project's folder that Docker is given."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    return [line[1:] for line in lines if line.startswith("!")]


class Image:
    """A folder in place of an image."""

    def __init__(self, root: Path, arguments: dict[str, str], here: bool) -> None:
        self.root, self.arguments, self.here = root, arguments, here
        self.folder = root
        # A clean environment: nothing but the path to Python and what the network needs.
        network = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_"))}
        python = os.path.dirname(sys.executable)
        self.environment = {"PATH": f"{python}:/usr/bin:/bin", "HOME": str(root), **network}

    def inside(self, text: str) -> str:
        """A text whose absolute paths of the image lie in the folder."""
        return re.sub(r"(?<![\w.:/])/(venv|source|home)\b", rf"{self.root}/\1", text)

    def do(self, name: str, rest: str) -> None:
        print(name, rest, flush=True)
        match name:
            case "ARG":
                key, _, default = rest.partition("=")
                if value := self.arguments.get(key, default):
                    self.environment[key] = value
            case "ENV":
                for each in shlex.split(self.inside(rest)):
                    key, _, value = each.partition("=")
                    self.environment[key] = value.replace("$PATH", self.environment["PATH"])
            case "WORKDIR":
                self.folder = Path(self.inside(rest))
                self.folder.mkdir(parents=True, exist_ok=True)
            case "COPY" if not rest.startswith("--from"):
                *sources, target = rest.split()
                for source in sources:
                    self._copy(source, self.folder / target)
            case "RUN" if not rest.startswith("useradd"):
                if self.here and "-r requirements.txt" in rest:
                    self._borrow()
                else:
                    self.run(self.inside(rest))

    def _copy(self, source: str, target: Path) -> None:
        assert source in sent(), f".dockerignore leaves out {source}"
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, target)

    def _borrow(self) -> None:
        """Find packages of this environment, but not the project in it."""
        (packages,) = (self.root / "venv").glob("lib/*/site-packages")
        (packages / "needs.pth").write_text(str(Path(np.__file__).parent.parent))

    def run(self, command: str | list[str]) -> None:
        subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=self.folder,
            env=self.environment,
            check=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--here", action="store_true", help="borrow this environment's packages")
    parser.add_argument("arguments", nargs="*", metavar="NAME=VALUE")
    options = parser.parse_args()
    given = dict(text.split("=", 1) for text in options.arguments)
    with tempfile.TemporaryDirectory(prefix="container-") as folder:
        image = Image(Path(folder), given, options.here)
        for name, rest in steps():
            image.do(name, rest)
        last = dict(steps())
        health = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
        with subprocess.Popen(
            json.loads(last["CMD"]), cwd=image.folder, env=image.environment
        ) as server:
            try:
                deadline = time.monotonic() + PATIENCE
                while server.poll() is None and time.monotonic() < deadline:
                    with contextlib.suppress(subprocess.CalledProcessError):
                        image.run(health)
                        print("healthy")
                        return
                    time.sleep(1)
                sys.exit("the app did not become healthy")
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
