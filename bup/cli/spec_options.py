"""Options that several commands share, and the specification that they describe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bup.errors import explain_os_error

if TYPE_CHECKING:  # what needs SciPy is imported where it is used
    from bup.graph import Graph
    from bup.run.spec import Spec, Value

F = TypeVar("F", bound=Callable[..., Any])
FILES = (".csv", ".tsv", ".txt", ".npz")


def split_options(command: F) -> F:
    """Which nodes train, validate and test."""
    options = (
        click.option("--per-class", type=int, help="Training nodes per class; 20 by default."),
        click.option(
            "--validation", type=int, help="Validation nodes; 200 unless the graph is small."
        ),
        click.option(
            "--test", type=int, help="Test nodes; 2000 unless the graph is small; 0 for the rest."
        ),
        click.option("--seed", default=0, show_default=True, help="Seed of split and weights."),
        click.option(
            "--left-out",
            multiple=True,
            metavar="CLASS",
            help="A class never seen, by number or name; may be repeated.",
        ),
        click.option(
            "--split",
            default="",
            metavar="SPLIT",
            help="In place of the numbers: public, 20/10/70, graph (the one that came with it), "
            "or a csv or npz file with one of your own.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def spec_from_options(
    graph: Graph, method: str, settings: Mapping[str, Value], **options: Any
) -> Spec:
    """The specification that these options describe."""
    from bup.run.splits import USUAL
    from bup.training import fitting

    validation, test = options["validation"], options["test"]
    return fitting.make_spec(
        graph,
        method,
        options["per_class"],
        options["seed"],
        left_out_of(graph, options["left_out"]),
        USUAL if validation is None else validation,
        USUAL if test is None else test or None,
        _split(graph, options["split"]),
        settings,
    )


def left_out_of(graph: Graph, texts: Iterable[str | int]) -> tuple[int, ...]:
    """Numbers of classes; digits mean a number if there is such a class, else a name."""
    from bup.run.splits import class_of

    classes = []
    for text in map(str, texts):
        is_number = text.isascii() and text.isdecimal() and int(text) < graph.num_classes
        classes.append(class_of(graph, int(text) if is_number else text))
        name = graph.class_names[classes[-1]]
        if is_number and text in graph.class_names and name != text:
            print(f"bup: class {text} is the one called {name!r}", file=sys.stderr)
    return tuple(sorted(set(classes)))


def _split(graph: Graph, text: str) -> Any:
    """The name of a split; a file is read and stored first."""
    if not text.lower().endswith(FILES):
        return text
    from bup.run import custom_split

    with explain_os_error(f"{text} cannot be read", "give a csv or npz"):
        content = Path(text).read_bytes()
    return custom_split.save(graph, custom_split.read(graph, Path(text).name, content))
