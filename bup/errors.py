"""The error that users can act on, and how text from their files or input appears in it."""

from collections.abc import Iterable

SCALE = "scale the features, for example to between 0 and 1"


class BupError(ValueError):
    """An error that the user can correct.

    The message is one sentence: what was wrong, the value received, and what to do. The command
    line prints it as one line; a page shows it in place of a chart.
    """


def quote(text: str, limit: int = 40) -> str:
    """A text as one printable line: control characters could rewrite a terminal."""
    return repr(text) if len(text) <= limit else f"{text[:limit]!r}..."


def quote_all(names: Iterable[str], limit: int = 5) -> str:
    names = list(names)
    rest = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(map(quote, names[:limit])) + rest
