"""Where stored results lie: a folder per run, whose name begins with its graph.

``bup.results.store.Store`` reads and writes them; uploads, which are below it, delete them.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bup.io import files

RESULT = "result.bup"

_OF_UPLOAD = re.compile(r"(?:(?:fewer|noisy)-)*own-([a-z2-7]+)")


def default_root() -> Path:
    """The store that the app and the commands use."""
    return files.cache_folder() / "runs"


def of_uploads() -> Iterator[tuple[Path, str]]:
    """Folders of runs on uploaded graphs, each with the part of the graph's token in its name."""
    for folder in default_root().glob("*own-*"):
        if match := _OF_UPLOAD.match(folder.name):
            yield folder, match[1]


def of_predictions(key: str) -> Iterator[Path]:
    """Folders of runs that show these imported predictions."""
    for folder in default_root().glob("*-own-*"):
        with contextlib.suppress(OSError, files.DamagedFile, KeyError, TypeError):
            run: Any = files.read(folder / RESULT).values["run"]
            if run["spec"]["settings"].get("predictions") == key:
                yield folder
