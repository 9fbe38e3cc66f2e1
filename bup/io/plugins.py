"""Commands and names that other packages add to ``bup``, by entry points."""

from typing import Any

from bup.errors import BupError
from bup.io.extras import needs

COMMANDS = "bup.commands"
PUBLIC = "bup.public"


def names(group: str) -> list[str]:
    """The names that packages have added to a group."""
    from importlib.metadata import entry_points  # slow to import, and rarely used

    return sorted(entry_points(group=group).names)


def load(group: str, name: str) -> Any:
    """Import the object that a package has added under a name."""
    from importlib.metadata import entry_points

    for point in entry_points(group=group, name=name):
        with needs("app", name):
            return point.load()
    raise BupError(
        f"{name} comes with the dashboard, which is not installed here: run "
        "pip install --no-deps -e . in the folder of the project"
    )
