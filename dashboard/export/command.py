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
@click.option("--graph", "graphs", multiple=True, help="Which graph; cora where none is given.")
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
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page to write; a file of that name is replaced.",
)
@click.option(
    "--site",
    type=click.Path(path_type=Path),
    help="Write a folder for any web host instead: an index, and a page for each graph.",
)
@click.option(
    "--what-if",
    "changed",
    type=click.IntRange(0),
    help="With --site: for how many of the least sure nodes of a run to compute beforehand what it "
    "would answer without each of the strongest links.  [default: 500; 10 of a large graph]",
)
def export(
    runs: tuple[str, ...],
    graphs: tuple[str, ...],
    methods: tuple[str, ...],
    settings: tuple[str, ...],
    output: Path | None,
    site: Path | None,
    changed: int | None,
    **which: Any,
) -> None:
    """Write one page with the map, the charts and every node of some runs on a graph.

    It needs no server and no network. Runs are asked for by --method, or each RUN is a link copied
    from the app or the name of a folder of stored results. Runs not stored yet are trained.

    With --site, the runs may be on several graphs (--graph may be repeated), and the pages say why
    the model answers as it does, and what it would answer without a link.

    For example: bup export --graph cora --method bup --method gcn+gats --left-out 6 -o page.html
    """
    if (output is None) == (site is None):
        raise bup.BupError("give one of -o page.html, for one page, and --site folder, for a host")
    if output is not None:
        _check_writable(output)
    from bup.io import files
    from bup.methods import complete
    from bup.training.fitting import run_of

    with needs("app", "bup export"):
        from dashboard.cache.run_cache import LoadedRun
        from dashboard.export.page import page, refusal
        from dashboard.export.site import check_folder, write_site
        from dashboard.session.run_link import find_spec

    if site is not None:
        check_folder(site)
    specs = [find_spec(text) for text in runs]
    if methods or graphs or not specs:
        for name in graphs or (specs[0].graph if specs else "cora",):
            graph = bup.load_graph(name)
            for method, chosen in _settings(methods or ("bup",), settings).items():
                specs.append(complete(spec_from_options(graph, method, chosen, **which)))
    by_graph: dict[str, list[Spec]] = {}
    for spec in dict.fromkeys(specs):
        by_graph.setdefault(spec.graph, []).append(spec)
    if output is not None and len(by_graph) > 1:
        raise bup.BupError(f"a page shows runs on one graph, got {' and '.join(by_graph)}")
    known = {name: bup.load_graph(name) for name in by_graph}
    for name, of_graph in by_graph.items():
        if why := refusal(known[name], len(of_graph), site=site is not None):
            raise bup.BupError(why)
    loaded = [
        [
            LoadedRun(run_of(spec, known[name]), known[name], load_or_train(spec, known[name])[0])
            for spec in of_graph
        ]
        for name, of_graph in by_graph.items()
    ]
    count = sum(map(len, loaded))
    try:
        if site is not None:
            size = write_site(site, loaded, changed)
        elif output is not None:
            text = page(loaded[0]).encode()
            size = len(text)
            files.write_atomically(output, text)
            output.chmod(0o644)  # readable by a web server; a temporary file is not
    except OSError as error:
        raise bup.BupError(_unwritable(site or output, error)) from error
    print(f"{site or output}: {size / 1e6:.1f} MB, {count} run{'s'[: count != 1]}")


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


def _unwritable(place: Path | None, why: object) -> str:
    return f"{place} cannot be written ({why}): choose another place"
