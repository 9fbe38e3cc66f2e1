"""Figures that were published: the paper's tables, and what others report for their protocols."""

import functools
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def read_toml(name: str) -> dict[str, Any]:
    """A data file of this folder."""
    return tomllib.loads((resources.files("bup.experiments") / name).read_text("utf-8"))


def published_figures(
    question: str, graph: str, per_class: int, protocol: str, method: str
) -> dict[str, float]:
    """Published figures of a cell by their keys; empty where nothing was published."""
    if question == "ood" and "GNNSafe" not in protocol:
        return {}
    table = read_toml("published.toml").get(question, {})
    # Our row that does as the paper does; "bup" by itself is calibrated.
    name = "" if method == "bup" else method.removesuffix(" (published)")
    figures = table.get(graph, {}).get(str(per_class), {}).get(name)
    return {} if figures is None else dict(zip(table["quantities"], figures, strict=True))
