"""The run that the app opens on, as it comes with the package.

Run ``python -m tests.tools.first_run`` after a change to what that run trains; a test says when.
"""

from __future__ import annotations

import tempfile

import bup
from bup.training import fitting
from dashboard.session import run_link

GRAPH = "cora"


def main() -> None:
    graph = bup.load_graph(GRAPH)
    (result,) = fitting.fit_specs(graph, [run_link.default_spec(graph)])
    with tempfile.TemporaryDirectory() as folder:
        store = bup.Store(folder)
        fitting.save(result, graph, store)
        store.ship(fitting.run_of(result.spec, graph))


if __name__ == "__main__":
    main()
