"""Packages that only parts of the project need, and the extras of pip that bring them."""

from collections.abc import Iterator
from contextlib import contextmanager

from bup.errors import BupError


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Import in this context what an extra brings; without it, the error names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise BupError(
            f"{what} needs the package {error.name}, which is not installed here: run "
            f"pip install 'bup-explorer[{extra}]'"
        ) from error
