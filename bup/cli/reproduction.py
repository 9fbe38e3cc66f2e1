"""``bup reproduce``: a table next to the paper's."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bup
from bup.cli.output import json_option, print_json
from bup.cli.progress import SweepBar, duration, in_words

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from bup.jobs.sweep import Failure


def _read_names(context: click.Context, option: click.Parameter, text: str | None) -> list[str]:
    """Comma-separated names; the commas of ``synthetic:nodes=500,seed=3`` separate none."""
    return re.split(r",(?![a-z_]+=)", text) if text else []


def _read_sizes(context: click.Context, option: click.Parameter, text: str | None) -> list[int]:
    try:
        return [int(size) for size in _read_names(context, option, text)]
    except ValueError:
        raise bup.BupError(f"--sizes takes whole numbers such as 5,10, got {text!r}") from None


@click.command()
@click.argument("question")
@click.option("--graphs", callback=_read_names, help="Comma-separated, e.g. cora,citeseer.")
@click.option("--sizes", callback=_read_sizes, help="Training nodes per class, e.g. 5,10,15,20.")
@click.option(
    "--methods",
    "--contenders",
    "labels",
    callback=_read_names,
    help="Such as bup,gcn,gcn+temperature.",
)
@click.option("--protocol", help="Which classes are never shown: last, gpn, gnnsafe or all.")
@click.option("--split", help="public or 20/10/70 in place of so many nodes per class.")
@click.option(
    "--reruns", type=click.IntRange(1), help="Seeds of each cell; by default as published."
)
@click.option(
    "--workers", type=click.IntRange(1), help="Processes that train; by default one a core."
)
@click.option("--scheduler", metavar="ADDRESS", help="Train on a Dask cluster, tcp://host:8786.")
@click.option("--everything", is_flag=True, help="With all: what it leaves out by default, too.")
@click.option("--plan", "plan_only", is_flag=True, help="Say what would be trained, and stop.")
@click.option(
    "--measured", is_flag=True, help="From the results that came with the package; trains nothing."
)
@click.option("--against", metavar="METHOD", help="Test all others against this one.")
@click.option("--tests", is_flag=True, help="Print every comparison with the reference, in words.")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False), help="Write every run here.")
@click.option("--markdown", "--out", "out", type=click.Path(dir_okay=False), help="Tables go here.")
@json_option
def reproduce(
    workers: int | None,
    scheduler: str | None,
    plan_only: bool,
    measured: bool,
    tests: bool,
    csv_path: str | None,
    out: str | None,
    as_json: bool,
    **request: Any,
) -> int:
    """Regenerate a table next to the paper's.

    \b
    q1           accuracy and calibration, all classes known (the paper's Table 1)
    q2           one class never seen (the paper's Table 2)
    q3           message uncertainty against degree and distance (the paper's Figure 3)
    ablation     propagation rule x loss x prediction
    calibration  against calibrated opponents, and against the truth where it is known
    record       calibration on the 20/10/70 split of the literature, beside its record
    ood          classes never seen, under the paper's and two other published protocols
    rules        propagation rules: what message uncertainty is worth under each
    strangers    how many unseen nodes there must be to be noticed
    sweep        the settings among which the defaults were chosen, on validation nodes only
    choices      layers, rule and calibration, decided on validation nodes with fresh seeds
    all          all of these, but for what would take longer than three hours on two cores

    Every result is stored as soon as it is there: started again, only what is missing is trained.
    A run that fails is named at the end, with exit code 1.
    """
    import pandas as pd

    from bup import experiments as e
    from bup.io import files
    from bup.jobs import sweep
    from bup.jobs.cluster import cluster

    plan_request = e.PlanRequest(**request)
    plans, graphs = e.make_plans(plan_request)
    store = bup.Store()
    by_name = {graph.name: graph for graph in graphs.values()}
    specs = () if measured else (run.spec for _, plan in plans for run in plan)
    missing = sweep.missing(specs, by_name, store)
    failures = []
    cores = workers or _cores()
    seconds = e.estimate_seconds(plans, graphs, e.load_shipped()) if missing or plan_only else {}
    costs = {run.spec: seconds[run] for run in seconds}
    every = plan_request.question == e.ALL
    if every or plan_only:
        _print_plan(missing, costs, cores, whole=plan_request.everything or not every)
    if plan_only:
        return 0
    if missing:
        count = min(cores, len(missing))
        executor = cluster(scheduler) if scheduler else sweep.local_processes(count, store)
        with executor as started, SweepBar({spec: costs[spec] for spec in missing}) as bar:
            failures = sweep.train_all(missing, by_name, started, store, bar.show)

    if measured:
        tables = [(q, e.load_shipped().rows(q, plan, graphs)) for q, plan in plans]
    else:
        tables = [(q, e.measured_rows(q, plan, graphs, store)) for q, plan in plans]
    rows = pd.concat([frame.assign(question=q.name) for q, frame in tables], ignore_index=True)
    if csv_path is not None:
        from bup.io.csv import csv_text

        files.write_atomically(Path(csv_path), csv_text(rows).encode())
    formats = [e.format_markdown] + [e.format_tests] * tests
    text = "\n".join(format_table(q, frame) for q, frame in tables for format_table in formats)
    if out is not None:
        files.write_atomically(Path(out), text.encode())
    if as_json:
        print_json(json.loads(rows.to_json(orient="records")))
    elif out is None:
        print(text)
    return _print_failures(failures)


def _cores() -> int:
    """Cores that this process may use; where the system does not say, those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _print_plan(
    missing: Sequence[bup.Spec], costs: Mapping[bup.Spec, float], cores: int, whole: bool
) -> None:
    """How much there is to train, and what is left out."""
    from bup import experiments as e

    text = f"all {len(costs)} runs are stored: nothing is to be trained"
    if missing:
        time = duration(sum(costs[spec] for spec in missing) / cores)
        text = (
            f"{len(missing)} of {len(costs)} runs are to be trained: about {time} on {cores} "
            f"core{'s' if cores > 1 else ''}; what is stored is not trained again"
        )
    print(text, file=sys.stderr)
    if not whole:
        print("left out, unless --everything is given:", file=sys.stderr)
        for text in e.describe_exclusions():
            print(f"  {text}", file=sys.stderr)


def _print_failures(failures: Iterable[Failure]) -> int:
    """One line per cell and reason; the exit code."""
    cells: dict[tuple[bup.Spec, str], list[int]] = {}
    for failure in failures:
        cell = dataclasses.replace(failure.spec, seed=0)
        cells.setdefault((cell, failure.reason), []).append(failure.spec.seed)
    for (cell, reason), seeds in cells.items():
        print(f"bup: failed: {in_words(cell, seeds)}: {reason}", file=sys.stderr)
    return 1 if cells else 0
