"""``bup methods``: what can be trained."""

import dataclasses
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from bup.cli.output import json_option, print_json, print_table
from bup.run.spec import format_value


@click.command()
@click.argument("name", required=False)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List the methods and what each one does; with a NAME, its settings and scores too."""
    from bup.calibrators import CALIBRATORS
    from bup.methods import METHODS, find

    chosen = list(METHODS.values()) if name is None else [find(name)]
    described: list[dict[str, Any]] = [
        {
            "name": method.name,
            "title": method.title,
            "explanation": method.explanation,
            "most_nodes": method.max_nodes,
            "when_calibrated": dict(method.calibrated_defaults),
            "scores": [
                {"name": s.name, "title": s.title, "kind": s.kind, "help": s.help}
                for s in method.all_scores
            ],
            "explains": [
                word
                for word in ("variance", "intervals", "shares", "what_if")
                if getattr(method.explains, word)
            ],
            "settings": [
                {"name": f.name, "default": f.default, **f.metadata}
                | {"choices": list(f.metadata["choices"])}
                for f in dataclasses.fields(method.settings)
            ],
        }
        for method in chosen
    ]
    if as_json:
        print_json(described)
        return
    console = Console()
    for method in described:
        console.print(f"[bold]{method['name']}[/]  {escape(method['title'])}")
        console.print(f"  {escape(method['explanation'])}", highlight=False)
    if name is None:
        console.print("\nAfter any of them, such as [bold]gcn+temperature[/]:")
        for calibrator in CALIBRATORS.values():
            console.print(f"[bold]+{calibrator.name}[/]  {escape(calibrator.title)}")
            console.print(f"  {escape(calibrator.explanation)}", highlight=False)
        console.print("\n[dim]'bup methods NAME' shows a method's settings and scores.[/]")
        return
    for method in described:
        if changed := method["when_calibrated"]:
            settings = ", ".join(f"{key}={format_value(value)}" for key, value in changed.items())
            console.print(f"  {method['name']}+CALIBRATOR, as in tables, has {settings}")
        rows: list[tuple[str, ...]] = [
            (f["name"], format_value(f["default"]), f["help"], _allowed(f))
            for f in method["settings"]
        ]
        print_table(["setting", "default", "what it is", "allowed"], rows)
        rows = [(score["name"], score["kind"], score["help"]) for score in method["scores"]]
        print_table(["score (higher: less certain)", "kind of doubt", "what it is"], rows)


def _allowed(setting: dict[str, Any]) -> str:
    if setting["choices"]:
        return ", ".join(setting["choices"])
    return f"{setting['low']} to {setting['high']}" if setting["high"] is not None else ""
