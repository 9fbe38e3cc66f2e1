"""Numbers as text, as ``components/shared/numbers.js`` writes them in the browser."""

import math

from bup.graph.noun import Noun
from bup.io.numbers import percent as percent


def percent_range(low: float, high: float) -> str:
    """The ends of an interval of a probability, which are 1 only by rounding."""
    return " to ".join(
        dict.fromkeys(percent(min(end, math.nextafter(1, 0))) for end in (low, high))
    )


def signed(number: float, digits: int = 2) -> str:
    """A change with its sign, and a minus as wide as the plus."""
    return f"{number:+.{digits}f}".replace("-", "−")


def counted(number: int, one: str) -> str:
    """Such as "1 link" and "1,200 links"."""
    return Noun(one, f"{one}s").count(number)
