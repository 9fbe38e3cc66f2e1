"""Run tests with the lowest versions that pyproject.toml allows, in an environment of their own.

Arguments are tests, or NAME=VERSION for a package that is to have another version, such as a
PyTorch that is here already. What the packages need in turn is as new as pip finds it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from packaging.requirements import Requirement

from tests.support import ROOT

TESTS = ["tests/bup", "tests/docs", "tests/package/test_starting.py", "tests/dashboard/server"]
EXTRAS = ("app", "methods", "cluster")
TOOLS = ("pytest", "pytest-timeout", "hypothesis", "mapie", "setuptools")


def lowest(others: dict[str, str]) -> list[str]:
    """A pin for each package that the project names; of some, other versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = list(project["dependencies"])
    for extra in EXTRAS:
        texts += project["optional-dependencies"][extra]
    pins = []
    for one in map(Requirement, texts):
        (version,) = (s.version for s in one.specifier if s.operator in (">=", "=="))
        pins.append(f"{one.name}=={others.get(one.name, version)}")
    return pins


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only-choose", action="store_true", help="let pip choose, install nothing"
    )
    parser.add_argument("arguments", nargs="*", metavar="TEST or NAME=VERSION")
    options = parser.parse_args()
    others = dict(text.split("=", 1) for text in options.arguments if re.match(r"[\w-]+=", text))
    tests = [text for text in options.arguments if "=" not in text] or TESTS
    pins = lowest(others)
    print(*pins, sep="\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="lowest-") as folder:
        place = Path(folder)
        windows = sys.platform == "win32"
        venv.create(place / "venv", with_pip=True, symlinks=not windows)
        python = place / "venv" / ("Scripts/python.exe" if windows else "bin/python")
        constraints = place / "lowest.txt"
        constraints.write_text("\n".join(pins), "utf-8")
        pip = [python, "-m", "pip", "install", "-q", "-c", constraints]
        pip += ["--dry-run"] * options.only_choose
        subprocess.run([*pip, f"{ROOT}[{','.join(EXTRAS)}]", *TOOLS], check=True)
        if not options.only_choose:
            command = [python, "-m", "pytest", "-q", "-W", "default", *tests]
            sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
