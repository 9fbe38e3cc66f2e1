"""``bup graphs`` and ``bup graph``: the graphs, and figures of one."""

import sys

import click
from rich.console import Console
from rich.markup import escape

import bup
from bup.cli.output import json_option, print_json, print_table


@click.command()
@click.option("--fetch", is_flag=True, help="Fetch the citation graphs that are not cached yet.")
@json_option
def graphs(fetch: bool, as_json: bool) -> None:
    """List the graphs that can be loaded."""
    from bup import datasets

    problems = []
    if fetch:
        for source in datasets.SOURCES:
            try:
                if source.is_cached is not None:
                    bup.load_graph(source.name)
            except bup.BupError as error:
                problems.append(str(error))
    rows = [
        {
            "name": source.name,
            "title": source.title,
            "data": source.data if source.is_available(source.name) else "not fetched yet",
        }
        for source in datasets.SOURCES
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(["graph", "what it is", "data"], (row.values() for row in rows))
    # The app still runs on the graphs that need no network, so this is a warning, not a failure.
    for problem in problems:
        print(f"bup: {problem}", file=sys.stderr)


@click.command()
@click.argument("name")
@json_option
def graph(name: str, as_json: bool) -> None:
    """Show a graph's figures: size, classes, degrees, homophily, components.

    NAME is one that 'bup graphs' lists, such as cora.
    """
    from bup.graph import describe

    figures = describe(bup.load_graph(name))
    if as_json:
        print_json(figures)
        return
    homophily, components = figures["homophily"], figures["components"]
    alike = "unknown" if homophily is None else f"{homophily:.3f} of the edges join two of a class"
    facts = [
        ("nodes", f"{figures['nodes']:,}"),
        ("edges", f"{figures['edges']:,}"),
        ("features", f"{figures['features']:,} ({figures['density']:.1%} of the values not zero)"),
        ("classes", f"{figures['classes']}"),
        ("without a label", f"{figures['unlabelled']:,}"),
        ("homophily", alike),
        (
            "components",
            f"{components['count']:,}, the largest with {components['largest']:,} nodes",
        ),
        ("isolated nodes", f"{components['isolated']:,}"),
    ]
    print_table([name, ""], facts)
    sizes = figures["class_sizes"]
    labelled = max(1, sum(sizes.values()))
    rows: list[tuple[str, ...]] = [
        (str(c), label, f"{size:,}", f"{size / labelled:.1%}")
        for c, (label, size) in enumerate(sizes.items())
    ]
    print_table(["class", "name", "nodes", "share"], rows)
    rows = [
        (row["degree"], f"{row['nodes']:,}", f"{row['nodes'] / figures['nodes']:.1%}")
        for row in figures["degrees"]
    ]
    print_table(["links", "nodes", "share"], rows)
    for note in figures["notes"]:
        Console().print(f"[dim]{escape(note)}[/]")
