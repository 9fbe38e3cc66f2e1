"""A rough estimate of what a run costs, before anything is drawn or trained: seconds or hours?"""

from dataclasses import dataclass, replace

import numpy as np

from bup import methods
from bup.errors import BupError
from bup.graph import Graph
from bup.io.limits import ServerLimits
from bup.run.spec import Run, Spec
from bup.run.splits import split_of

# As ``python -m tests.bench cost`` measured them; on another machine they may be twice as much.
RATE = 4e9  # multiplications in a second
CALLS = 0.002  # seconds of an epoch that no size explains
PAIR = 130  # multiplications for each pair of nodes
PROGRAM = 0.44e9  # bytes of a process that has done nothing yet
DRAWN_AT_ONCE = 2e6  # bytes of a graph that is drawn within some hundredths of a second


@dataclass(frozen=True)
class Cost:
    seconds: float  # at most: training may stop early
    bytes: float

    def check(self, limits: ServerLimits, command: str) -> None:
        """Refuse a run above a limit; the error names the limit and a way around it."""
        for what, value, most, text in (
            ("train for", self.seconds, limits.run_seconds, _time),
            ("need", self.bytes, limits.run_bytes, _memory),
        ):
            if value > most:
                raise BupError(
                    f"this run may {what} about {text(value)}, and this server allows "
                    f"{text(most)}: choose a smaller graph, width or number of epochs, or run it "
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
    pairs = graph.num_nodes**2 / 2 if method.stores_node_pairs else 0
    # Forwards, backwards twice as much; then validation.
    products = 4 * (entries + 2 * graph.num_edges + graph.num_nodes * width / 4) * width
    looked_at = 1.0 if method.reads_whole_graph else _near_labels(graph, run.spec)
    epoch = members * method.effort * (CALLS + looked_at * products / RATE) + PAIR * pairs / RATE
    numbers = (
        10 * graph.num_features * width + 12 * graph.num_nodes * width + 4 * entries + 6 * pairs
    )
    return Cost(
        # In the end, messages of all nodes.
        seconds=0.2 + epochs * epoch + members * method.effort * products / RATE,
        bytes=PROGRAM + 4 * members * method.memory * numbers,
    )


def _near_labels(graph: Graph, spec: Spec) -> float:
    """The share of the nodes within two links of those that are trained or validated on.

    Computed for seed 0, so that all reruns cost the same and keep their order in the queue.
    """
    split = split_of(graph, replace(spec, seed=0))
    near = np.zeros(graph.num_nodes, dtype=np.float32)
    near[split.train] = near[split.validation] = 1
    for _ in range(2):
        near += graph.adjacency @ near
    return float((near > 0).mean())


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"


def _memory(size: float) -> str:
    return f"{size / 1e9:.1f} GB of memory"
