"""The error that users can act on, and how text from their files or input appears in it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

SCALE = "scale the features, for example to between 0 and 1"


class BupError(ValueError):
    """An error that the user can correct.

    The message is one sentence: what was wrong, the value received, and what to do. The command
    line prints it as one line; a page shows it in place of a chart.
    """


@contextmanager
def explain_os_error(what: str, remedy: str) -> Iterator[None]:
    """Turn an OSError into a BupError: what failed, the reason of the system, and what to do."""
    try:
        yield
    except OSError as error:
        raise BupError(f"{what} ({error.strerror or error}): {remedy}") from error


def quote(text: str, limit: int = 40) -> str:
    """A text as one printable line: control characters could rewrite a terminal."""
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}..."


def quote_all(names: Iterable[str], limit: int = 5) -> str:
    names = list(names)
    rest = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(map(quote, names[:limit])) + rest
