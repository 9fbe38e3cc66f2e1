"""``bup fit``: one model and every metric of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

import bup
from bup.cli.output import json_option, print_json
from bup.cli.progress import TrainingBar
from bup.cli.report import print_report
from bup.cli.spec_options import spec_from_options, split_options
from bup.run.spec import Value, parse_value

if TYPE_CHECKING:
    from bup.graph import Graph


@click.command()
@click.option("--graph", "graph_name", default="cora", show_default=True, help="Which graph.")
@click.option("--method", default="bup", show_default=True, help="One of 'bup methods'.")
@split_options
@click.option("--protocol", help="Leave out classes as published: last, gpn or gnnsafe.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Change a setting.")
@click.option("--bins", default=10, show_default=True, help="Bins of the calibration errors.")
@click.option("--fresh", is_flag=True, help="Train even if the result is stored.")
@json_option
def fit(
    graph_name: str,
    method: str,
    protocol: str | None,
    settings: tuple[str, ...],
    bins: int,
    fresh: bool,
    as_json: bool,
    **which: Any,
) -> None:
    """Train one model and print every metric on its test nodes.

    For example: bup fit --graph cora --per-class 20 --left-out 6 --set lam=2
    """
    from bup.results.result import guessing_warning

    loaded = bup.load_graph(graph_name)
    unjudged: tuple[int, ...] = ()
    if protocol is not None:
        from bup.experiments.protocols import find_protocol

        if which["left_out"]:
            raise bup.BupError("--protocol says which classes are left out: drop --left-out")
        named = find_protocol(protocol, loaded)
        which["left_out"], unjudged = named.left_out, named.unjudged
    spec = spec_from_options(loaded, method, dict(map(parse_setting, settings)), **which)
    result, was_stored = load_or_train(spec, loaded, fresh)
    report = bup.evaluate(result, loaded, bins, unjudged)
    if as_json:
        head = {"spec": result.spec.as_dict(), "stored": was_stored, "seconds": result.seconds}
        head |= {"kept_epoch": result.kept_epoch, "epochs": len(result.history["loss"])}
        print_json(head | {"constants": dict(result.constants), **report})
    else:
        print_report(result, report, bins, was_stored)
        if warning := guessing_warning(result, loaded):
            print(f"bup: {warning}", file=sys.stderr)


def parse_setting(text: str) -> tuple[str, Value]:
    """A setting and its value from NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals:
        raise bup.BupError(f"--set takes NAME=VALUE, such as --set lam=2, got {text!r}")
    return name, parse_value(value)


def load_or_train(spec: bup.Spec, graph: Graph, fresh: bool = False) -> tuple[bup.Result, bool]:
    """The result of a run, trained and stored if it was not; and whether it was stored before."""
    from bup.training import fitting

    stored = None if fresh else fitting.load(spec, graph)
    if stored is not None:
        return stored, True
    with TrainingBar() as bar:
        result = fitting.fit_specs(graph, [spec], bar.show)[0]
    try:
        fitting.save(result, graph)
    except bup.BupError as error:
        print(f"bup: {error}", file=sys.stderr)
    return result, False
