"""``bup explain``: why a run gives its answer for one node."""

from __future__ import annotations

from typing import Any

import click

import bup
from bup.cli.fitting import load_or_train, parse_setting
from bup.cli.output import json_option, print_json, print_table
from bup.cli.spec_options import left_out_of, spec_from_options, split_options


@click.command()
@click.option("--graph", "graph_name", default="cora", show_default=True, help="Which graph.")
@click.option("--node", required=True, help="The node, by its id.")
@click.option("--against", help="The class to compare the answer with, by number or name.")
@click.option("--method", default="bup", show_default=True, help="One of 'bup methods'.")
@split_options
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Change a setting.")
@click.option("--rows", default=10, show_default=True, help="How many nodes to list.")
@json_option
def explain(
    graph_name: str,
    node: str,
    against: str | None,
    method: str,
    settings: tuple[str, ...],
    rows: int,
    as_json: bool,
    **which: Any,
) -> None:
    """Say why a model gives its answer for a node, and what would change it.

    For example: bup explain --graph cora --node 1114118 --set propagation=doubt
    """
    graph = bup.load_graph(graph_name)
    graph.find(node)
    spec = spec_from_options(graph, method, dict(map(parse_setting, settings)), **which)
    result, _ = load_or_train(spec, graph)
    rival = None if against is None else left_out_of(graph, [against])[0]
    explanation = bup.explain(result, node, rival, graph)
    table = explanation.table().head(rows)
    if as_json:
        reasons = explanation.reasons
        print_json(
            {
                "node": node,
                "answer": reasons.answer_name,
                "against": reasons.rival_name,
                "gap": reasons.gap,
                "remainder": reasons.remainder,
                "sentences": list(explanation.sentences),
                "nodes": table.to_dict("records"),
            }
        )
        return
    for sentence in explanation.sentences:
        click.echo(sentence)
    head = [f"gap {explanation.reasons.gap:.3f}", *table.columns[1:]]
    rows_of_text = ([*map(_text, row)] for row in table.itertuples(index=False))
    print_table([column.replace("_", " ") for column in head], rows_of_text)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:+.3f}"
    return {True: "yes", False: ""}[value] if isinstance(value, bool) else str(value)
