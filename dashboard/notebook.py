"""Charts and the app from a notebook: ``bup.figures`` and ``bup.explore``.

Every function takes results and returns a Plotly figure, the same that the app draws.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
import time
import webbrowser

import numpy as np
import plotly.graph_objects as go

import bup
from bup import metrics
from bup.errors import BupError
from bup.graph import Graph
from bup.metrics import Scheme, conformal
from bup.results.result import Result
from bup.run.splits import usual_sizes
from bup.training import fitting
from dashboard import layouts
from dashboard.figures import compare as compared
from dashboard.figures import map as maps
from dashboard.figures import ood, structure
from dashboard.figures import reliability as reliable
from dashboard.figures import training as trained
from dashboard.session import run_link
from dashboard.ui import columns
from dashboard.ui.theme import Theme

PATIENCE = 90  # seconds until the app answers
_servers: dict[int, subprocess.Popen] = {}


def _theme(result: Result, dark: bool) -> Theme:
    return Theme(dark=dark, noun=result.get_graph().noun)


def _name(result: Result) -> str:
    return fitting.methods.describe_run(result.spec)


def _scores_of(result: Result, score: str) -> np.ndarray:
    known = result.uncertainties()
    if score not in known:
        raise BupError(f"this run has no score {score!r}: choose one of {', '.join(known)}")
    return known[score]


def reliability(
    result: Result,
    rival: Result | None = None,
    bins: int = 10,
    scheme: Scheme = "width",
    dark: bool = False,
) -> go.Figure:
    """How often the nodes of each confidence are right."""
    found = {r.spec: _bins(r, bins, scheme) for r in (result, rival) if r is not None}
    other = None if rival is None else (found[rival.spec], _name(rival))
    return reliable.reliability_figure(
        found[result.spec], _theme(result, dark), _name(result), other
    )


def _bins(result: Result, bins: int, scheme: Scheme) -> metrics.ReliabilityBins:
    probs, targets, _ = result.judged(result.get_graph())
    return metrics.reliability_bins(probs, targets, bins, scheme)


def compare(*results: Result, bins: int = 10, dark: bool = False) -> go.Figure:
    """The reliability of several runs, one line each."""
    if not results:
        raise BupError("there is nothing to compare: give at least one result")
    lines = [(_name(result), _bins(result, bins, "width")) for result in results]
    return compared.overlay_reliability(lines, _theme(results[0], dark))


def confidence(result: Result, bins: int = 20, dark: bool = False) -> go.Figure:
    """How sure the run is of its test nodes, right and wrong ones apart."""
    probs, targets, _ = result.judged(result.get_graph())
    values, right = metrics.confidence(probs), metrics.hits(probs, targets)
    return reliable.confidence_histogram(values, right, _theme(result, dark), bins)


def risk_coverage(
    result: Result, rival: Result | None = None, coverage: float = 0.8, dark: bool = False
) -> go.Figure:
    """How often the run is right if it only answers when it is surest."""
    other = None if rival is None else (_curve(rival), _name(rival))
    theme = _theme(result, dark)
    return reliable.risk_coverage_figure(_curve(result), coverage, theme, _name(result), other)


def _curve(result: Result) -> metrics.RiskCoverage:
    probs, targets, _ = result.judged(result.get_graph())
    return metrics.risk_coverage(1 - metrics.confidence(probs), metrics.hits(probs, targets))


def set_sizes(
    result: Result, level: float = 0.9, rule: str = "daps", dark: bool = False
) -> go.Figure:
    """How many classes a set needs that shall contain the true one."""
    sets = conformal.conformal_sets(
        result.probs, result.get_graph(), result.split, level=level, rule=rule
    )
    _, targets, nodes = result.judged(result.get_graph())
    covered = sets.member[nodes, targets]
    classes = len(result.split.classes)
    return reliable.set_size_figure(sets.size[nodes], covered, classes, _theme(result, dark))


def unseen(result: Result, score: str = "confidence", dark: bool = False) -> go.Figure:
    """How a score is spread over known, mistaken and never shown test nodes."""
    _scores_of(result, score)
    table = result.table()
    return ood.score_histograms(table[table.part == "test"], score, _theme(result, dark))


def roc(result: Result, score: str = "confidence", dark: bool = False) -> go.Figure:
    """How well a score finds the nodes of classes that were never shown."""
    test = result.split.test
    positive = result.split.is_ood(result.get_graph().labels[test])
    if not 0 < positive.sum() < len(positive):
        raise BupError("no test node is of a class never shown: fit with left_out=[a class number]")
    values = _scores_of(result, score)[test]
    curve = ood.DetectionCurve(
        score,
        metrics.roc(values, positive),
        metrics.auroc(values, positive),
        metrics.precision_recall(values, positive),
    )
    return ood.roc_figure([curve], _theme(result, dark))


def against(
    result: Result, score: str = "confidence", axis: str = "degree", dark: bool = False
) -> go.Figure:
    """A score of every node against its ``degree`` or its ``mean_distance`` to training."""
    table = result.table()
    known = {name: c for name, c in columns.all_columns(table).items() if c.uncertain}
    if score not in known or axis not in ("degree", "mean_distance"):
        raise BupError(
            f"score must be one of {', '.join(known)} and axis degree or mean_distance, got "
            f"{score!r} and {axis!r}"
        )
    log = axis == "degree"
    x, y = table[axis].to_numpy(float) + log, table[score].to_numpy()  # logs have no zero
    nodes = np.flatnonzero(np.isfinite(x))
    return structure.against_figure(
        x[nodes],
        y[nodes],
        nodes,
        table["id"].iloc[nodes].tolist(),
        _theme(result, dark),
        "degree + 1" if log else "mean distance",
        known[score].label,
        log,
        structure.binned_medians(x[nodes], y[nodes]),
    )


def training(result: Result, dark: bool = False) -> go.Figure:
    """Loss and validation figures after every epoch."""
    history = result.history
    return trained.curves_figure(
        history["loss"],
        history["validation_nll"],
        history["validation_accuracy"],
        result.kept_epoch,
        _theme(result, dark),
        len(history["loss"]),
    )


def node_map(result: Result, colour: str = "confidence", dark: bool = False) -> go.Figure:
    """The map, one point a node; a new graph is drawn first, which takes seconds."""
    graph = result.get_graph()
    theme = _theme(result, dark)
    return maps.map_figure(
        result.table(), layouts.positions(graph), colour, graph.class_names, theme
    )


def explore(result: Result, port: int = 8501, browser: bool = True) -> str:
    """Open the app on a run, starting it if need be; returns its address."""
    url = address(result, port)
    _serve(port)
    if browser:
        webbrowser.open(url)
    return url


def address(result: Result, port: int = 8501) -> str:
    """Where the app shows a run; the run is stored, so that it can."""
    graph = result.get_graph()
    sizes = usual_sizes(graph)
    if not result.spec.split and (result.spec.validation, result.spec.test) != sizes:
        raise BupError(
            f"the app shows runs on this graph with validation={sizes[0]} and test={sizes[1]}, "
            f"got {result.spec.validation} and {result.spec.test}: fit with these"
        )
    graph = _findable(graph)
    result = dataclasses.replace(
        result, spec=dataclasses.replace(result.spec, graph=graph.name), graph=graph
    )
    fitting.save(result, graph)

    return f"http://localhost:{port}/?{run_link.query(result.spec, graph)}"


def _findable(graph: Graph) -> Graph:
    """The graph under a name by which the app can load it: folders it has to be offered."""
    from bup.datasets import is_allowed, uploads

    with contextlib.suppress(BupError):
        if is_allowed(graph.name) and bup.load_graph(graph.name).digest == graph.digest:
            return graph
    return dataclasses.replace(graph, name=uploads.save_once(graph))


def _serve(port: int) -> None:
    """See to it that the app answers on a port; one that we started ends with us."""
    if _answers(port):
        return
    command = [sys.executable, "-m", "bup.cli", "dashboard", "--port", str(port), "--no-prepare"]
    _servers[port] = subprocess.Popen(
        command, env=os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}, stdout=subprocess.DEVNULL
    )
    atexit.register(_servers[port].terminate)
    end = time.monotonic() + PATIENCE
    while not _answers(port):
        if _servers[port].poll() is not None or time.monotonic() > end:
            raise BupError(f"the app did not start on port {port}: try another port")
        time.sleep(0.2)


def _answers(port: int) -> bool:
    with socket.socket() as door:
        door.settimeout(0.5)
        return door.connect_ex(("localhost", port)) == 0
