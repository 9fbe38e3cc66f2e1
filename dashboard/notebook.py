"""Charts and the app from a notebook: ``bup.figures`` and ``bup.explore``.

Each chart takes results and returns the Plotly figure that the app draws, and raises BupError where
it is given something else.
"""

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
from bup.explanation.reasons import GroupReasons, Reasons
from bup.graph import Graph
from bup.methods import describe_run
from bup.metrics import Scheme, conformal
from bup.results.result import EvalSet, Result
from bup.run.splits import usual_sizes
from bup.training import fitting
from dashboard import layouts
from dashboard.figures import compare as compared
from dashboard.figures import map as maps
from dashboard.figures import ood, structure
from dashboard.figures import reasons as reasoned
from dashboard.figures import reliability as reliable
from dashboard.figures import training as trained
from dashboard.session import run_link
from dashboard.ui import columns
from dashboard.ui.theme import Theme

PATIENCE = 90  # seconds until the app answers


def _check(result: Result) -> Result:
    if not isinstance(result, Result):
        raise BupError(f"a run is a bup.Result, as bup.fit returns it, got {result!r}")
    return result


def _theme(result: Result, dark: bool) -> Theme:
    return Theme(dark=dark, noun=_check(result).get_graph().noun)


def _eval_set(result: Result) -> EvalSet:
    return _check(result).judged(result.get_graph())


def _name(result: Result) -> str:
    return describe_run(_check(result).spec)


def _scores_of(result: Result, score: str) -> np.ndarray:
    scores = _check(result).uncertainties()
    if score not in scores:
        raise BupError(f"this run has no score {score!r}: choose one of {', '.join(scores)}")
    return scores[score]


def reliability(
    result: Result,
    rival: Result | None = None,
    bins: int = 10,
    scheme: Scheme = "width",
    dark: bool = False,
) -> go.Figure:
    """Draw how often the nodes of each confidence are right.

    Parameters
    ----------
    result : Result
        The run.
    rival : Result, default None
        Another run to draw beside it.
    bins : int, default 10
        Bins of confidence.
    scheme : "width" or "mass", default "width"
        Bins of equal width, or of equally many nodes.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.reliability(result)
    """
    theme, name = _theme(result, dark), _name(result)
    other = None if rival is None else (_bins(rival, bins, scheme), _name(rival))
    return reliable.reliability_figure(_bins(result, bins, scheme), theme, name, other)


def _bins(result: Result, bins: int, scheme: Scheme) -> metrics.ReliabilityBins:
    probs, targets, _ = _eval_set(result)
    return metrics.reliability_bins(probs, targets, bins, scheme)


def compare(*results: Result, bins: int = 10, dark: bool = False) -> go.Figure:
    """Draw the reliability of several runs, one line each.

    Parameters
    ----------
    *results : Result
        The runs.
    bins : int, default 10
        Bins of confidence.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.compare(result, result)
    """
    if not results:
        raise BupError("there is nothing to compare: give at least one result")
    lines = [(_name(result), _bins(result, bins, "width")) for result in results]
    return compared.overlay_reliability(lines, _theme(results[0], dark))


def confidence(result: Result, bins: int = 20, dark: bool = False) -> go.Figure:
    """Draw how confident the run is on its test nodes, right and wrong ones apart.

    Parameters
    ----------
    result : Result
        The run.
    bins : int, default 20
        Bins of confidence.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.confidence(result)
    """
    probs, targets, _ = _eval_set(result)
    values, right = metrics.confidence(probs), metrics.hits(probs, targets)
    return reliable.confidence_histogram(values, right, _theme(result, dark), bins)


def risk_coverage(
    result: Result, rival: Result | None = None, coverage: float = 0.8, dark: bool = False
) -> go.Figure:
    """Draw how often the run is right if it only answers where it is most confident.

    Parameters
    ----------
    result : Result
        The run.
    rival : Result, default None
        Another run to draw beside it.
    coverage : float, default 0.8
        The share of answered nodes that is marked.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.risk_coverage(result)
    """
    theme = _theme(result, dark)
    curve = reliable.risk_coverage(_eval_set(result))
    other = None
    if rival is not None:
        other = reliable.risk_coverage(_eval_set(rival)), _name(rival)
    return reliable.risk_coverage_figure(curve, coverage, theme, _name(result), other)


def set_sizes(
    result: Result, level: float = 0.9, rule: str = "daps", dark: bool = False
) -> go.Figure:
    """Draw how many classes the conformal sets of the test nodes hold.

    Parameters
    ----------
    result : Result
        The run.
    level : float, default 0.9
        The share of sets that shall contain the true class.
    rule : "daps", "aps" or "measured", default "daps"
        How a set is made, see ``bup.conformal``.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.set_sizes(result)
    """
    _, targets, nodes = _eval_set(result)
    sets = conformal.conformal_sets(
        result.probs, result.get_graph(), result.split, level=level, rule=rule
    )
    covered = sets.member[nodes, targets]
    classes = len(result.split.classes)
    return reliable.set_size_figure(sets.size[nodes], covered, classes, _theme(result, dark))


def unseen(result: Result, score: str = "confidence", dark: bool = False) -> go.Figure:
    """Draw a score's histograms over right, wrong and never shown test nodes.

    Parameters
    ----------
    result : Result
        The run.
    score : str, default "confidence"
        A score of the run, see ``Result.scores``.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> graph = "synthetic:nodes=60,classes=3,words=20"
    >>> result = bup.fit(graph, per_class=5, epochs=3, left_out=[2])
    >>> figure = bup.figures.unseen(result)
    """
    return ood.score_histograms(_check(result).table(), score, _theme(result, dark))


def roc(result: Result, score: str = "confidence", dark: bool = False) -> go.Figure:
    """Draw how well a score finds the nodes of left-out classes.

    Parameters
    ----------
    result : Result
        The run.
    score : str, default "confidence"
        A score of the run, see ``Result.scores``.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> graph = "synthetic:nodes=60,classes=3,words=20"
    >>> result = bup.fit(graph, per_class=5, epochs=3, left_out=[2])
    >>> figure = bup.figures.roc(result)
    """
    test = _check(result).split.test
    positive = result.split.is_ood(result.get_graph().labels[test])
    if not 0 < positive.sum() < len(positive):
        raise BupError("no test node is of a class never shown: fit with left_out=[a class number]")
    curve = ood.DetectionCurve.of(score, _scores_of(result, score)[test], positive)
    return ood.roc_figure([curve], _theme(result, dark))


def against(
    result: Result, score: str = "confidence", axis: str = "degree", dark: bool = False
) -> go.Figure:
    """Draw a score of every node against its degree or its distance to the training nodes.

    Parameters
    ----------
    result : Result
        The run.
    score : str, default "confidence"
        A score of the run, see ``Result.scores``.
    axis : "degree" or "mean_distance", default "degree"
        What the score is drawn against.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.against(result)
    """
    table = _check(result).table()
    known = {name: c for name, c in columns.all_columns(table).items() if c.uncertain}
    if score not in known or axis not in ("degree", "mean_distance"):
        raise BupError(
            f"score must be one of {', '.join(known)} and axis degree or mean_distance, got "
            f"{score!r} and {axis!r}"
        )
    x, y = structure.place_and_score(table, axis, score)
    log = axis == "degree"
    nodes = np.flatnonzero(np.isfinite(x))
    return structure.against_figure(
        x[nodes],
        y[nodes],
        nodes,
        columns.names(table).iloc[nodes].tolist(),
        _theme(result, dark),
        "degree + 1" if log else "mean distance",
        known[score].label,
        log,
        structure.binned_medians(x[nodes], y[nodes]),
    )


def reasons(reasons: Reasons | GroupReasons, dark: bool = False) -> go.Figure:
    """Draw which nodes speak for an answer and which against it.

    Parameters
    ----------
    reasons : Reasons or GroupReasons
        What ``bup.explain(result, node).reasons`` holds, or the reasons of a group of nodes.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.explain(result, node=35).figure()
    """
    if isinstance(reasons, GroupReasons):
        return reasoned.group_figure(reasons, _theme(reasons.result, dark))
    if not isinstance(reasons, Reasons):
        raise BupError(f"reasons are those that bup.explain returns, got {reasons!r}")
    return reasoned.reasons_figure(reasons, _theme(reasons.result, dark))


def training(result: Result, dark: bool = False) -> go.Figure:
    """Draw loss, validation loss and validation accuracy of every epoch.

    Parameters
    ----------
    result : Result
        The run.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.training(result)
    """
    history = _check(result).history
    return trained.curves_figure(
        history["loss"],
        history["validation_nll"],
        history["validation_accuracy"],
        result.kept_epoch,
        _theme(result, dark),
        len(history["loss"]),
    )


def node_map(result: Result, colour: str = "confidence", dark: bool = False) -> go.Figure:
    """Draw the map of the graph; the layout of a new graph takes seconds.

    Parameters
    ----------
    result : Result
        The run.
    colour : str, default "confidence"
        A column of ``Result.table`` that colours the nodes.
    dark : bool, default False
        Colours for a dark background.

    Returns
    -------
    plotly.graph_objects.Figure

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> figure = bup.figures.node_map(result)
    """
    theme, graph = _theme(result, dark), result.get_graph()
    return maps.map_figure(
        result.table(), layouts.positions(graph), colour, graph.class_names, theme
    )


def explore(result: Result, port: int = 8501, browser: bool = True) -> str:
    """Open the app on a run, and start the app if it is not running.

    Parameters
    ----------
    result : Result
        The run; it is stored, so that the app finds it.
    port : int, default 8501
        Where the app listens, or is to listen.
    browser : bool, default True
        Open a browser window.

    Returns
    -------
    str
        The address.

    Raises
    ------
    BupError
        If the app cannot show the run, or does not start.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("cora")  # doctest: +SKIP
    >>> bup.explore(result)  # doctest: +SKIP
    'http://localhost:8501/?graph=Cora&method=BUP&per_class=20&seed=0'
    """
    url = address(result, port)
    _serve(port)
    if browser:
        webbrowser.open(url)
    return url


def address(result: Result, port: int = 8501) -> str:
    """The address at which the app shows a run.

    Parameters
    ----------
    result : Result
        The run; it is stored, so that the app finds it.
    port : int, default 8501
        Where the app listens.

    Returns
    -------
    str
        The address; ``bup dashboard`` starts the app.

    Raises
    ------
    BupError
        If the app cannot show the run, as it has another number of validation or test nodes.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> bup.address(result).startswith("http://localhost:8501/?graph=")
    True
    """
    graph = _check(result).get_graph()
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
    """The graph under a name by which the app can load it; a graph without one is stored."""
    from bup.datasets import is_allowed, uploads

    with contextlib.suppress(BupError):
        if is_allowed(graph.name) and bup.load_graph(graph.name).digest == graph.digest:
            return graph
    return dataclasses.replace(graph, name=uploads.save_once(graph))


def _serve(port: int) -> None:
    """Start the app on a port if none answers there; it ends with this process."""
    if _answers(port):
        return
    command = [sys.executable, "-m", "bup.cli", "dashboard", "--port", str(port), "--no-prepare"]
    server = subprocess.Popen(
        command, env=os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}, stdout=subprocess.DEVNULL
    )
    atexit.register(server.terminate)
    end = time.monotonic() + PATIENCE
    while not _answers(port):
        if server.poll() is not None or time.monotonic() > end:
            raise BupError(f"the app did not start on port {port}: try another port")
        time.sleep(0.2)


def _answers(port: int) -> bool:
    with socket.socket() as door:
        door.settimeout(0.5)
        return door.connect_ex(("localhost", port)) == 0
