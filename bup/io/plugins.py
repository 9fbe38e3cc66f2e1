"""Commands and names that other packages add to ``bup``, by entry points."""

from typing import Any

from bup.errors import BupError

COMMANDS = "bup.commands"
PUBLIC = "bup.public"


def _points(**which: str) -> Any:
    from importlib.metadata import entry_points  # slow to import, and rarely used

    return entry_points(**which)


def names(group: str) -> list[str]:
    """The names that packages have added to a group."""
    return sorted(point.name for point in _points(group=group))


def load(group: str, name: str) -> Any:
    """Import the object that a package has added under a name."""
    for point in _points(group=group, name=name):
        return point.load()
    raise BupError(
        f"{name} comes with the dashboard, which is not installed here: run "
        "pip install --no-deps -e . in the folder of the project"
    )
