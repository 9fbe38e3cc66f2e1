"""The pictures of docs/results.md, made from stored runs by the app's own charts: make pictures."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

import bup
from bup import experiments, metrics
from bup.jobs import sweep
from bup.results.result import Result, node_table
from bup.training import fitting
from dashboard.figures.compare import overlay_reliability
from dashboard.figures.ood import score_histograms, share_figure
from dashboard.figures.structure import against_figure, binned_medians
from dashboard.ui.theme import Theme
from tests.support import ROOT
from tests.tools.browser import chromium

FOLDER = ROOT / "assets" / "results"
THEME = Theme()
WIDTH = 560
RERUNS = 10
FEWEST = 20  # nodes in a bin: fewer say nothing

Panels = list[tuple[str, go.Figure]]
"""Charts that stand side by side, each below its title."""


def reliability() -> Panels:
    """All reruns of a method in one diagram, as their table has them."""
    who = experiments.find_variants(
        experiments.PAPERS_BUP, "doubt+spread", "gcn", "gcn+temperature"
    )
    panels = []
    for name in ("cora", "citeseer"):
        graph = bup.load_graph(name)
        planned = experiments.plan_runs(
            experiments.QUESTIONS["q1"], {name: graph}, [20], who, RERUNS
        )
        pooled: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for run, result in zip(planned, trained([r.spec for r in planned], graph), strict=True):
            test = result.split.test
            pair = result.probs[test], result.split.targets(graph.labels[test])
            pooled.setdefault(run.variant, []).append(pair)
        lines = []
        for label, pairs in pooled.items():
            bins = metrics.reliability_bins(*map(np.concatenate, zip(*pairs, strict=True)))
            many = np.where(bins.count < FEWEST, np.nan, bins.accuracy)
            lines.append((label, dataclasses.replace(bins, accuracy=many)))
        panels.append((f"{name.capitalize()}, 20 per class", overlay_reliability(lines, THEME)))
    return panels


RULES = {"paper": "BUP, the paper's rule", "doubt": "BUP, doubt"}


def _spec(method: str, **more: Any) -> bup.Spec:
    settings = {"calibrate": "none", **more.pop("settings", {})}
    return bup.Spec(method=method, settings=tuple(settings.items()), **more)


def _hidden(score: str, specs: dict[str, bup.Spec]) -> Panels:
    """Histograms of a score over known classes, right and wrong, and over an unseen one."""
    graph = bup.load_graph("cora")
    found = trained([dataclasses.replace(spec, left_out=(6,)) for spec in specs.values()], graph)
    return [
        (
            f"{words}; {graph.class_names[6]} never shown",
            score_histograms(node_table(result, graph), score, THEME),
        )
        for words, result in zip(specs, found, strict=True)
    ]


def _by_rule() -> dict[str, bup.Spec]:
    return {words: _spec("bup", settings={"propagation": rule}) for rule, words in RULES.items()}


def motivation() -> Panels:
    """The paper's Figure 1 (confidence of a GCN) and Figure 2 (of BUP), the latter by rule."""
    return _hidden("confidence", {"GCN": _spec("gcn"), **_by_rule()})


def unseen() -> Panels:
    """The same for message uncertainty, of which the paper shows no picture."""
    return _hidden("message_std", _by_rule())


def degree() -> Panels:
    """The paper's Figure 3, uncertainty against degree, under its rule and under ours."""
    graph = bup.load_graph("cora")
    panels = []
    specs = _by_rule()
    for words, result in zip(specs, trained(list(specs.values()), graph), strict=True):
        std = result.scores()["message_std"]
        found = metrics.spearman(graph.looped_degree, std, 1).value
        figure = against_figure(
            *(graph.looped_degree, std, np.arange(graph.num_nodes), graph.ids, THEME),
            *("degree (neighbours and the node itself)", "message uncertainty", True),
            binned_medians(graph.looped_degree, std),
        )
        panels.append((f"Cora, {words}: Spearman {found:+.2f}", figure))
    return panels


def strangers() -> Panels:
    """How well unseen nodes are found, by how many of them there are."""
    question = experiments.QUESTIONS["strangers"]
    panels = []
    for base in ("cora", "citeseer"):
        names = [name for name in question.graphs if f":{base}:" in name]
        graphs = experiments.load_graphs(names)
        planned = experiments.plan_runs(question, graphs, reruns=RERUNS)
        train_missing([run.spec for run in planned], graphs)
        rows = experiments.measured_rows(question, planned, graphs, bup.Store())
        scores = rows.own_score.str.replace("_", " ")
        figure = share_figure(rows.assign(method=rows.method + ": " + scores), THEME)
        panels.append((f"{base.capitalize()}, the last class never shown", figure))
    return panels


PICTURES = {
    "reliability": reliability,
    "motivation": motivation,
    "unseen": unseen,
    "degree": degree,
    "strangers": strangers,
}


def trained(specs: list[bup.Spec], graph: bup.Graph) -> Iterator[Result]:
    """The results of runs, trained if the store has them not."""
    train_missing(specs, {graph.name: graph})
    for spec in specs:
        result = fitting.load(spec, graph)
        assert result is not None
        yield result


def train_missing(specs: list[bup.Spec], graphs: dict[str, bup.Graph]) -> None:
    store = bup.Store()
    with sweep.local_processes(2, store) as where:
        failures = sweep.train_all(sweep.missing(specs, graphs, store), graphs, where, store)
    if failures:
        sys.exit(f"{failures[0].spec.method} failed: {failures[0].reason}")


def page_of(panels: Panels) -> str:
    charts = "".join(
        f"<div><h3>{title}</h3>{figure.to_html(full_html=False, include_plotlyjs=False)}</div>"
        for title, figure in (
            (title, figure.update_layout(width=WIDTH)) for title, figure in panels
        )
    )
    style = "body{margin:8px;background:white;font-family:sans-serif;color:#1F2430}"
    style += "main{display:flex;width:max-content}h3{margin:8px 64px 0}"
    return f"<style>{style}</style><script>{get_plotlyjs()}</script><main>{charts}</main>"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        for name, panels in PICTURES.items():
            page.set_content(page_of(panels()))
            page.wait_for_timeout(3000)
            path = FOLDER / f"{name}.png"
            page.locator("main").screenshot(path=path)
            print(path)


if __name__ == "__main__":
    main()
