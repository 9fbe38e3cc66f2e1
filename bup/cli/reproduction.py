"""``bup reproduce``: a table next to the paper's."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

import bup
from bup.cli.output import json_option, print_json
from bup.cli.progress import SweepBar, in_words

if TYPE_CHECKING:  # what needs torch is imported where it is used
    from bup.jobs.sweep import Failure


@click.command()
@click.argument("question")
@click.option("--graphs", "graph_names", help="Comma-separated, e.g. cora,citeseer.")
@click.option("--sizes", help="Training nodes per class, e.g. 5,10,15,20.")
@click.option("--methods", "--contenders", "labels", help="Such as bup,gcn,gcn+temperature.")
@click.option("--protocol", help="Which classes are never shown: last, gpn, gnnsafe or all.")
@click.option("--split", help="public or 20/10/70 in place of so many nodes per class.")
@click.option(
    "--reruns", type=click.IntRange(1), help="Seeds of each cell; by default as published."
)
@click.option(
    "--workers", type=click.IntRange(1), help="Processes that train; by default one a core."
)
@click.option("--scheduler", metavar="ADDRESS", help="Train on a Dask cluster, tcp://host:8786.")
@click.option("--tests", is_flag=True, help="Print every comparison with the reference, in words.")
@click.option("--csv", "csv_path", type=click.Path(dir_okay=False), help="Write every run here.")
@click.option("--markdown", "--out", "out", type=click.Path(dir_okay=False), help="Tables go here.")
@json_option
def reproduce(
    question: str,
    graph_names: str | None,
    sizes: str | None,
    labels: str | None,
    protocol: str | None,
    split: str | None,
    reruns: int | None,
    workers: int | None,
    scheduler: str | None,
    tests: bool,
    csv_path: str | None,
    out: str | None,
    as_json: bool,
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
    all          all of these

    Every result is stored as soon as it is there: started again, only what is missing is trained.
    A run that fails is named at the end, with exit code 1.
    """
    import pandas as pd

    from bup import experiments as e
    from bup import files
    from bup.jobs import sweep
    from bup.jobs.cluster import cluster

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

    def protocols(q: e.Question) -> Callable[[bup.Graph], list[e.Protocol]]:
        def asked(graph: bup.Graph) -> list[e.Protocol]:
            found = q.protocols(graph)
            if protocol is not None:
                found = [e.protocol_named(protocol, graph)]
            return [p.on(split) for p in found] if split else found

        return asked

    plans = []
    for q in questions:
        # What these compare are settings, not methods: among all questions they stay whole.
        settings = ("ablation", "rules", "sweep", "choices")
        whole = question == "all" and q.name in settings
        chosen = e.chosen_contenders(q, [] if whole else _names(labels))
        here = {name: graphs[name] for name in named or q.graphs}
        plans.append((q, e.runs_of(q, here, numbers, chosen, reruns, protocols(q))))

    store = bup.Store()
    by_name = {graph.name: graph for graph in graphs.values()}
    missing = sweep.missing((run.spec for _, plan in plans for run in plan), by_name, store)
    failures = []
    if missing:
        cores = len(os.sched_getaffinity(0))
        count = min(workers or cores, len(missing))
        where = cluster(scheduler) if scheduler else sweep.local(count, store)
        with where as started, SweepBar(len(missing)) as bar:
            failures = sweep.train_all(missing, by_name, started, store, bar.settled)

    tables = [(q, e.rows_of(q, plan, graphs, store)) for q, plan in plans]
    rows = pd.concat([frame.assign(question=q.name) for q, frame in tables], ignore_index=True)
    if csv_path is not None:
        from bup.sheets import csv_text

        files.write_atomically(Path(csv_path), csv_text(rows).encode())
    told = [e.markdown] + [e.tests_text] * tests
    text = "\n".join(tell(q, frame) for q, frame in tables for tell in told)
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
