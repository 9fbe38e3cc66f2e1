"""``bup export``: runs as one page that needs no server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bup
from bup.cli.fitting import load_or_train, parse_setting
from bup.cli.spec_options import spec_from_options, split_options
from bup.io.extras import needs

if TYPE_CHECKING:
    from bup.run.spec import Spec, Value


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--graph", "graph_name", default="cora", show_default=True, help="Which graph.")
@click.option("--method", "methods", multiple=True, help="One of 'bup methods'; may be repeated.")
@split_options
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change a setting of every method that has it, or of one: bup.lam=2.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; a file of that name is replaced.",
)
def export(
    runs: tuple[str, ...],
    graph_name: str,
    methods: tuple[str, ...],
    settings: tuple[str, ...],
    output: Path,
    **which: Any,
) -> None:
    """Write one page with the map, the charts and every node of some runs on a graph.

    It needs no server and no network. Runs are asked for by --method, or each RUN is a link copied
    from the app or the name of a folder of stored results. Runs not stored yet are trained.

    For example: bup export --graph cora --method bup --method gcn+gats --left-out 6 -o page.html
    """
    _check_writable(output)
    from bup.io import files
    from bup.methods import complete
    from bup.training.fitting import run_of

    with needs("app", "bup export"):
        from dashboard.cache.run_cache import LoadedRun
        from dashboard.export.page import page, refusal
        from dashboard.session.run_link import find_spec

    specs = [find_spec(text) for text in runs]
    graph = bup.load_graph(specs[0].graph if specs else graph_name)
    if methods or not specs:
        if specs and graph.name != bup.load_graph(graph_name).name:
            raise bup.BupError(f"--graph {graph_name} is not {graph.name}, that of {runs[0]!r}")
        for method, chosen in _settings(methods or ("bup",), settings).items():
            specs.append(complete(spec_from_options(graph, method, chosen, **which)))
    _check_alike(specs)
    if why := refusal(graph, len(specs)):
        raise bup.BupError(why)
    loaded = [
        LoadedRun(run_of(spec, graph), graph, load_or_train(spec, graph)[0])
        for spec in dict.fromkeys(specs)
    ]
    text = page(loaded).encode()
    try:
        files.write_atomically(output, text)
        output.chmod(0o644)  # readable by a web server; a temporary file is not
    except OSError as error:
        raise bup.BupError(_unwritable(output, error)) from error
    print(f"{output}: {len(text) / 1e6:.1f} MB, {len(loaded)} run{'s'[: len(loaded) != 1]}")


def _check_alike(specs: list[Spec]) -> None:
    names = list(dict.fromkeys(spec.graph for spec in specs))
    if len(names) > 1:
        raise bup.BupError(f"a page shows runs on one graph, got {' and '.join(names)}")


def _settings(methods: tuple[str, ...], texts: tuple[str, ...]) -> dict[str, dict[str, Value]]:
    """The settings of each method: those without a prefix go to every method that has them."""
    from dataclasses import fields

    from bup.methods import find, resolve_name

    chosen: dict[str, dict[str, Value]] = {method: {} for method in methods}
    for text in texts:
        name, value = parse_setting(text)
        of, _, name = name.rpartition(".")
        having = [
            method
            for method in chosen
            if name in {f.name for f in fields(find(resolve_name(method)[0]).settings)}
            and of in ("", method, resolve_name(method)[0])
        ]
        if not having:
            raise bup.BupError(
                f"none of {', '.join(methods)} has the setting {text!r}: see 'bup methods NAME'"
            )
        for method in having:
            chosen[method][name] = value
    return chosen


def _check_writable(output: Path) -> None:
    """Check that the output can be written, before anything is trained."""
    folder = output.absolute().parent
    if not folder.is_dir():
        raise bup.BupError(f"there is no folder {folder} to write {output.name} to: make it first")
    if not os.access(folder, os.W_OK):
        raise bup.BupError(_unwritable(output, "no permission"))


def _unwritable(output: Path, why: object) -> str:
    return f"{output} cannot be written ({why}): choose another place with -o"
