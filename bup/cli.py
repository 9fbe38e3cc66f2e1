"""The ``bup`` command."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import bup
from bup import datasets, files
from bup.graph import describe
from bup.spec import text_of, value_of

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from bup.engine import Failure

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value instead of tables."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(bup.__version__, message="%(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """See, question and understand the uncertainty of a graph neural network."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the command; what a person can act on is one line on stderr and exit code 2."""
    try:
        code = app(prog_name="bup", standalone_mode=False)
    except bup.BupError as error:
        _fail(str(error))
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        print("bup: stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> None:
    print("bup: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(2)


@app.command()
@click.option("--fetch", is_flag=True, help="Fetch the citation graphs that are not cached yet.")
@json_option
def graphs(fetch: bool, as_json: bool) -> None:
    """List the graphs that can be loaded."""
    problems = []
    if fetch:
        for source in datasets.SOURCES:
            try:
                if source.cached is not None:
                    bup.load_graph(source.name)
            except bup.BupError as error:
                problems.append(str(error))
    rows = [
        {
            "name": source.name,
            "title": source.title,
            "data": source.data if source.is_here(source.name) else "not fetched yet",
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


@app.command()
@click.argument("name")
@json_option
def graph(name: str, as_json: bool) -> None:
    """Show a graph's figures: size, classes, degrees, homophily, components.

    NAME is one that 'bup graphs' lists, such as cora.
    """
    figures = describe(bup.load_graph(name))
    if as_json:
        print_json(figures)
        return
    homophily = figures["homophily"]
    components = figures["components"]
    facts = [
        ("nodes", f"{figures['nodes']:,}"),
        ("edges", f"{figures['edges']:,}"),
        ("features", f"{figures['features']:,} ({figures['density']:.1%} of the values not zero)"),
        ("classes", f"{figures['classes']}"),
        ("without a label", f"{figures['unlabelled']:,}"),
        (
            "homophily",
            "unknown" if homophily is None else f"{homophily:.3f} of the edges join two of a class",
        ),
        (
            "components",
            f"{components['count']:,}, the largest with {components['largest']:,} nodes",
        ),
        ("isolated nodes", f"{components['isolated']:,}"),
    ]
    print_table([name, ""], facts)
    sizes = figures["class_sizes"]
    print_table(
        ["class", "name", "nodes", "share"],
        (
            (str(c), label, f"{size:,}", f"{size / max(1, sum(sizes.values())):.1%}")
            for c, (label, size) in enumerate(sizes.items())
        ),
    )
    print_table(
        ["degree (self-loop counted)", "nodes", "share"],
        (
            (row["degree"], f"{row['nodes']:,}", f"{row['nodes'] / figures['nodes']:.1%}")
            for row in figures["degrees"]
        ),
    )
    for note in figures["notes"]:
        Console().print(f"[dim]{escape(note)}[/]")


@app.command()
@click.argument("name", required=False)
@json_option
def methods(name: str | None, as_json: bool) -> None:
    """List the methods and what each one does; with a NAME, its settings and scores too."""
    from bup.calibration import CALIBRATORS
    from bup.methods import METHODS, find

    chosen = list(METHODS.values()) if name is None else [find(name)]
    described: list[dict[str, Any]] = [
        {
            "name": method.name,
            "title": method.title,
            "explanation": method.explanation,
            "most_nodes": method.most_nodes,
            "scores": [dataclasses.asdict(score) for score in method.every_score],
            "settings": [
                {"name": f.name, "default": f.default, **f.metadata}
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
        console.print("[bold]+variance[/]  for bup only: one factor on all variances")
        console.print("\n[dim]'bup methods NAME' shows a method's settings and scores.[/]")
        return
    for method in described:
        print_table(
            ["setting", "default", "what it is", "allowed"],
            (
                (f["name"], text_of(f["default"]), f["help"], _allowed(f))
                for f in method["settings"]
            ),
        )
        print_table(
            ["score (higher: less certain)", "kind of doubt", "what it is"],
            ((score["name"], score["kind"], score["help"]) for score in method["scores"]),
        )


def _allowed(setting: dict[str, Any]) -> str:
    if setting["choices"]:
        return ", ".join(setting["choices"])
    return f"{setting['low']} to {setting['high']}" if setting["high"] is not None else ""


@app.command()
@click.option("--graph", "graph_name", default="cora", show_default=True, help="Which graph.")
@click.option("--method", default="bup", show_default=True, help="One of 'bup methods'.")
@click.option("--per-class", default=20, show_default=True, help="Training nodes per class.")
@click.option("--validation", default=200, show_default=True, help="Validation nodes.")
@click.option("--test", default=2000, show_default=True, help="Test nodes; 0 for all the rest.")
@click.option("--seed", default=0, show_default=True, help="Seed of the split and the weights.")
@click.option("--left-out", multiple=True, type=int, help="A class never seen; may be repeated.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Change a setting.")
@click.option("--bins", default=10, show_default=True, help="Bins of the calibration errors.")
@click.option("--fresh", is_flag=True, help="Train even if the result is stored.")
@json_option
def fit(
    graph_name: str,
    method: str,
    per_class: int,
    validation: int,
    test: int,
    seed: int,
    left_out: tuple[int, ...],
    settings: tuple[str, ...],
    bins: int,
    fresh: bool,
    as_json: bool,
) -> None:
    """Train one model and print every metric on its test nodes.

    For example: bup fit --graph cora --per-class 20 --left-out 6 --set lam=2
    """
    from bup import runs

    pairs = []
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise bup.BupError(f"--set takes NAME=VALUE, such as --set lam=2, got {text!r}")
        pairs.append((name, value_of(value)))
    loaded = bup.load_graph(graph_name)
    spec = runs.methods.complete(
        bup.Spec(
            graph=loaded.name,
            method=method,
            per_class=per_class,
            validation=validation,
            test=test or None,
            left_out=left_out,
            seed=seed,
            settings=tuple(pairs),
        )
    )
    result = None if fresh else runs.stored(spec, loaded)
    was_stored = result is not None
    if result is None:
        with TrainingBar() as bar:
            result = runs.fit_specs(loaded, [spec], bar.update)[0]
        try:
            runs.keep(result, loaded)
        except bup.BupError as error:
            print(f"bup: {error}", file=sys.stderr)
    report = bup.evaluate(result, loaded, bins)
    if as_json:
        head = {"spec": spec.as_dict(), "stored": was_stored, "seconds": result.seconds}
        head |= {"best_epoch": result.best_epoch, "epochs": len(result.history["loss"])}
        print_json(head | {"figures": dict(result.figures), **report})
    else:
        _print_report(result, report, bins, was_stored)


@app.command()
@click.argument("question")
@click.option("--graphs", "graph_names", help="Comma-separated, e.g. cora,citeseer.")
@click.option("--sizes", help="Training nodes per class, e.g. 5,10,15,20.")
@click.option("--methods", "--contenders", "labels", help="Such as bup,gcn,gcn+temperature.")
@click.option(
    "--reruns", type=click.IntRange(1), help="Seeds of each cell; by default as published."
)
@click.option(
    "--workers", type=click.IntRange(1), help="Processes that train; by default one a core."
)
@click.option("--scheduler", metavar="ADDRESS", help="Train on a Dask cluster, tcp://host:8786.")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False), help="Write every run here.")
@click.option("--markdown", "--out", "out", type=click.Path(dir_okay=False), help="Tables go here.")
@json_option
def reproduce(
    question: str,
    graph_names: str | None,
    sizes: str | None,
    labels: str | None,
    reruns: int | None,
    workers: int | None,
    scheduler: str | None,
    csv_path: str | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Regenerate a table next to the paper's.

    \b
    q1           accuracy and calibration, all classes known (the paper's Table 1)
    q2           one class never seen (the paper's Table 2)
    q3           message uncertainty against degree and distance (the paper's Figure 4)
    ablation     propagation rule x loss x prediction
    calibration  against calibrated opponents, and against the truth where it is known
    ood          classes never seen, under the paper's and two other published protocols
    sweep        the settings among which the defaults were chosen, on validation nodes only
    all          all of these

    Every result is stored as soon as it is there: started again, only what is missing is trained.
    A run that fails is named at the end, with exit code 1.
    """
    import pandas as pd

    from bup import engine
    from bup import experiments as e

    if question != "all" and question not in e.QUESTIONS:
        known = ", ".join((*e.QUESTIONS, "all"))
        raise bup.BupError(f"there is no question {question!r}: choose one of {known}")
    try:
        numbers = [int(size) for size in _names(sizes)]
    except ValueError:
        raise bup.BupError(f"--sizes takes whole numbers such as 5,10, got {sizes!r}") from None
    questions = list(e.QUESTIONS.values()) if question == "all" else [e.QUESTIONS[question]]
    named = _names(graph_names)
    graphs = e.load_graphs(dict.fromkeys(named or (g for q in questions for g in q.graphs)))
    plans = []
    for q in questions:
        # What these two compare are settings, not methods: among all questions they stay whole.
        whole = question == "all" and q.name in ("ablation", "sweep")
        chosen = e.chosen_contenders(q, [] if whole else _names(labels))
        here = {name: graphs[name] for name in named or q.graphs}
        plans.append((q, e.runs_of(q, here, numbers, chosen, reruns)))

    store = bup.Store()
    by_name = {graph.name: graph for graph in graphs.values()}
    missing = engine.missing((run.spec for _, plan in plans for run in plan), by_name, store)
    failures = []
    if missing:
        cores = len(os.sched_getaffinity(0))
        where = engine.cluster(scheduler) if scheduler else engine.local(workers or cores)
        with where as started, SweepBar(len(missing)) as bar:
            failures = engine.train_all(missing, by_name, started, store, bar.settled)

    tables = [(q, e.rows_of(q, plan, graphs, store)) for q, plan in plans]
    rows = pd.concat([frame.assign(question=q.name) for q, frame in tables], ignore_index=True)
    if csv_path is not None:
        files.write_atomically(Path(csv_path), rows.to_csv(index=False).encode())
    text = "\n".join(e.markdown(q, frame) for q, frame in tables)
    if out is not None:
        files.write_atomically(Path(out), text.encode())
    if as_json:
        print_json(json.loads(rows.to_json(orient="records")))
    elif out is None:
        print(text)
    return _report_failures(failures)


def _names(text: str | None) -> list[str]:
    """Comma-separated names; the commas of ``synthetic:nodes=500,seed=3`` separate none."""
    return re.split(r",(?![a-z_]+=)", text) if text else []


def _report_failures(failures: Iterable[Failure]) -> int:
    """One line per cell and reason; the exit code."""
    cells: dict[tuple[bup.Spec, str], list[int]] = {}
    for failure in failures:
        cell = dataclasses.replace(failure.spec, seed=0)
        cells.setdefault((cell, failure.reason), []).append(failure.spec.seed)
    for (cell, reason), seeds in cells.items():
        print(f"bup: failed: {in_words(cell, seeds)}: {reason}", file=sys.stderr)
    return 1 if cells else 0


def in_words(cell: bup.Spec, seeds: Iterable[int]) -> str:
    from bup import methods

    left = f", without {','.join(map(str, cell.left_out))}" if cell.left_out else ""
    return (
        f"{cell.graph} {methods.in_words(cell)}, {cell.per_class} per class{left}, "
        f"seeds {','.join(map(str, sorted(seeds)))}"
    )


class SweepBar:
    """How many runs are done and how long the rest will take: a bar, or lines for a log."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.bar = Progress(
            TextColumn("run {task.completed}/{task.total}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            speed_estimate_period=600,  # tasks take from seconds to minutes
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> SweepBar:
        self.bar.start()
        self.task = self.bar.add_task("starting", total=self.total)
        return self

    def settled(self, specs: Sequence[bup.Spec]) -> None:
        self.done += len(specs)
        words = in_words(specs[0], (spec.seed for spec in specs))
        self.bar.update(self.task, completed=self.done, description=f"last: {words}")
        if self.bar.disable:
            left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
            print(
                f"{self.done} of {self.total} runs, about {left:.0f} s left: {words}",
                file=sys.stderr,
                flush=True,
            )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


class TrainingBar:
    """A live progress bar on stderr; silent where nobody watches."""

    def __init__(self) -> None:
        self.bar = Progress(
            TextColumn("epoch {task.completed}/{task.total}"),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> TrainingBar:
        self.bar.start()
        self.task = self.bar.add_task("starting", total=None)
        return self

    def update(self, progress: bup.Progress) -> None:
        self.bar.update(
            self.task,
            completed=progress.epoch,
            total=progress.epochs,
            description=f"loss {progress.loss:.3f}, validation NLL {progress.validation_nll:.3f}, "
            f"accuracy {progress.validation_accuracy:.1%}",
        )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


def _print_report(result: bup.Result, report: dict[str, Any], bins: int, was_stored: bool) -> None:
    from bup.metrics import METRICS

    how = "read from the store, trained" if was_stored else "trained"
    epochs = len(result.history["loss"])
    Console().print(
        f"{how} in {result.seconds:.1f} s, kept epoch {result.best_epoch} of {epochs}"
        + "".join(f", {name.replace('_', ' ')} {v:.3g}" for name, v in result.figures.items())
    )
    test = report["test"]
    rows = []
    for key, metric in METRICS.items():
        if key in test:
            value = f"{100 * test[key]:.2f} %" if metric.percent else f"{test[key]:.4f}"
            rows.append((metric.label, value, metric.meaning))
    print_table([f"{test['nodes']:,} test nodes, {bins} bins", "value", "what it says"], rows)

    print_table(
        ["sets that shall contain the class", "wanted", "covered", "classes per set"],
        (
            (rule, f"{s['level']:.0%}", f"{s['coverage']:.1%}", f"{s['size']:.2f}")
            for rule, s in report["conformal"].items()
        ),
    )

    def print_detection(title: str, scores: dict[str, dict[str, float]]) -> None:
        print_table(
            [title, "AUROC", "AUPR", "FPR at 95 % TPR"],
            (
                (
                    name.replace("_", " "),
                    *(f"{100 * score[k]:.1f}" for k in ("auroc", "aupr", "fpr95")),
                )
                for name, score in scores.items()
            ),
        )

    if report["errors"]:
        print_detection("finding mistakes by", report["errors"])
    if "ood" in report:
        ood = report["ood"]
        print_table(
            ["mean over test nodes", "known classes", f"left out ({ood['nodes']:,} nodes)"],
            (
                (label, f"{ood[key]['in']:.3f}", f"{ood[key]['out']:.3f}")
                for key, label in (
                    ("confidence", "confidence"),
                    ("prob_std", "std of probabilities"),
                )
            ),
        )
        print_detection("finding left-out classes by", ood["scores"])
    if "structure" in report:
        print_table(
            ["Spearman with", "degree", "95 % interval", "distance to training", "95 % interval"],
            (
                (
                    name.replace("_", " "),
                    *(
                        text
                        for found in (row["degree"], row["distance"])
                        for text in (
                            f"{found['spearman']:+.3f}",
                            f"{found['low']:+.3f} to {found['high']:+.3f}",
                        )
                    ),
                )
                for name, row in report["structure"].items()
            ),
        )


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def print_table(columns: list[str], rows: Iterable[Iterable[str]]) -> None:
    """A table for people: numbers right-aligned, everything escaped."""
    table = Table(box=box.SIMPLE_HEAD)
    cells = [[escape(cell) for cell in row] for row in rows]
    for i, column in enumerate(columns):
        numeric = bool(cells) and all(row[i][:1].isdigit() or row[i][:1] in "+-" for row in cells)
        table.add_column(escape(column), justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
