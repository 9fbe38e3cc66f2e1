"""``bup exercises``: a sheet to print, with solutions, from the numbers of runs."""

from functools import partial
from pathlib import Path

import click

import bup
from bup.errors import explain_os_error


@click.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--graph", "name", default="cora", show_default=True, help="One of 'bup graphs'.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Another seed, another sheet.")
def exercises(output: Path, name: str, seed: int) -> None:
    """Write an exercise sheet with solutions as printable HTML.

    Runs that are not stored yet are trained first, in seconds.
    """
    import numpy as np

    from bup.explanation import exercises as sheets
    from bup.io import files

    graph = bup.load_graph(name)
    random = np.random.RandomState(seed % 2**32)
    fit = partial(bup.fit, graph, per_class=20, seed=seed)
    usual, plain = fit(), fit(method="gcn")
    hidden = fit(left_out=[graph.num_classes - 1])
    tasks = [
        sheets.duel(graph, usual, random),
        sheets.degrees(graph, random),
        sheets.temperature(graph, plain, random),
        sheets.calibration(graph, usual),
        sheets.ranking(graph, hidden, random),
    ]
    about = f"Five exercises from real runs on the graph {name}, seed {seed}."
    with explain_os_error(f"{output} cannot be written", "choose another -o"):
        files.write_atomically(output, sheets.sheet(tasks, about).encode())
    print(f"{output}: {len(tasks)} exercises with solutions")
