"""What a run costs, by rule of thumb: known before anything is drawn or trained.

Rough, but enough to tell seconds from hours and to let small runs pass large ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from bup import methods
from bup.errors import BupError
from bup.graph import Graph
from bup.limits import Limits
from bup.spec import Run

RATE = 1.5e9  # multiplications in a second
CALLS = 0.004  # seconds of an epoch that no size explains
PROGRAM = 0.4e9  # bytes of a process that has done nothing yet
DRAWN_AT_ONCE = 2e6  # bytes of a graph that is drawn within some hundredths of a second


@dataclass(frozen=True)
class Cost:
    seconds: float  # at most: training may stop early
    bytes: float

    def check(self, limits: Limits, command: str) -> None:
        """Refuse what is above a limit, naming it and the way around."""
        for what, value, most in (
            ("train for", self.seconds, limits.run_seconds),
            ("need", self.bytes, limits.run_bytes),
        ):
            if value > most:
                told = _time if what == "train for" else _memory
                raise BupError(
                    f"this run may {what} about {told(value)}, and this server allows "
                    f"{told(most)}: choose a smaller graph, width or number of epochs, or run it "
                    f"yourself with: {command}"
                )


def cost_of(run: Run, graph: Graph) -> Cost:
    """An estimate from nodes, links, features, epochs, width and method."""
    settings = dict(run.spec.settings)
    method = methods.find(run.spec.method)
    width = int(settings.get("hidden", 64) or 64)
    epochs = int(settings.get("epochs", 200) or 200)
    members = int(settings.get("members", 1) or 1)
    entries = graph.num_nodes * graph.num_features
    if hasattr(graph.features, "nnz"):
        entries = graph.features.nnz
    pairs = graph.num_nodes**2 / 2 if method.every_pair else 0
    # Forwards, backwards twice as much; then validation.
    products = 4 * (entries + 2 * graph.num_edges + graph.num_nodes * width / 4) * width
    work = members * method.effort * products + 20 * pairs
    numbers = (
        10 * graph.num_features * width + 12 * graph.num_nodes * width + 4 * entries + 6 * pairs
    )
    return Cost(
        seconds=1 + epochs * (members * method.effort * CALLS + work / RATE),
        bytes=PROGRAM + 4 * members * numbers,
    )


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


def _memory(size: float) -> str:
    return f"{size / 1e9:.1f} GB of memory"
