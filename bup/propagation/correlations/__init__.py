"""The table of correlations. A correlation is one file in this package and one line here."""

from bup.propagation.correlations import degrees, words
from bup.propagation.correlations.base import LinkCorrelation

CORRELATIONS: dict[str, LinkCorrelation] = {
    correlation.name: correlation
    for correlation in (
        degrees.CORRELATION,
        words.CORRELATION,
    )
}

__all__ = ["CORRELATIONS", "LinkCorrelation"]
