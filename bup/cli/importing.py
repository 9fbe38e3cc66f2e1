"""``bup import``: predictions that were made elsewhere, judged like any other run."""

from pathlib import Path

import click

import bup
from bup.cli.fitting import parse_setting
from bup.cli.output import json_option, print_json
from bup.cli.report import print_report
from bup.errors import explain_os_error


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--graph", "graph_name", default="cora", show_default=True, help="Of which graph.")
@click.option("--per-class", type=int, help="Training nodes per class of the split to judge on.")
@click.option("--seed", default=0, show_default=True, help="Seed of that split.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Change a setting.")
@click.option("--bins", default=10, show_default=True, help="Bins of the calibration errors.")
@json_option
def import_predictions(
    file: Path,
    graph_name: str,
    per_class: int | None,
    seed: int,
    settings: tuple[str, ...],
    bins: int,
    as_json: bool,
) -> None:
    """Judge predictions of a model of your own, and keep them as a run.

    FILE is a csv with an id and one column a class, or an npz with probs [n, c]; columns score*
    and split are optional. Without a split, the nodes are those on which our own runs are judged.

    For example: bup import probs.csv --graph cora --set calibrate=temperature
    """
    from bup.imported import predictions
    from bup.training import fitting
    from bup.training.torch_model import run_of_predictions

    pairs = dict(map(parse_setting, settings))
    with explain_os_error(f"{file} cannot be read", "give a csv or npz file"):
        content = file.read_bytes()
    graph = bup.load_graph(graph_name)
    given = predictions.read(graph, file.name, content)
    spec = run_of_predictions(graph, given, per_class, seed, **pairs)
    (result,) = fitting.fit_specs(graph, [spec])
    fitting.save(result, graph)
    report = bup.evaluate(result, graph, bins)
    if as_json:
        print_json({"spec": spec.as_dict(), **report})
        return
    print_report(result, report, bins, was_stored=False)
    print(f"kept; in the app (bup dashboard): {bup.address(result)}")
