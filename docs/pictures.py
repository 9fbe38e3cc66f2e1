"""The pictures of docs/results.md, made from stored runs by the app's own charts: make pictures."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

import bup
from bup import engine, experiments, metrics, runs
from bup.results import Result, node_table
from dashboard.figures.compare import overlay_reliability
from dashboard.figures.ood import score_histograms
from dashboard.figures.structure import against_figure, binned_medians
from dashboard.theme import Theme
from docs.browser import chromium

FOLDER = Path(__file__).parent.parent / "assets" / "results"
THEME = Theme()
WIDTH = 560
RERUNS = 10
FEWEST = 20  # nodes in a bin: fewer say nothing

Panels = list[tuple[str, go.Figure]]
"""Charts that stand side by side, each below its title."""


def reliability() -> Panels:
    """All reruns of a method in one diagram, as their table has them."""
    who = experiments.contenders("bup", "gcn", "gcn+temperature")
    panels = []
    for name in ("cora", "citeseer"):
        graph = bup.load_graph(name)
        planned = experiments.runs_of(experiments.QUESTIONS["q1"], {name: graph}, [20], who, RERUNS)
        pooled: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for run, result in zip(planned, trained([r.spec for r in planned], graph), strict=True):
            test = result.split.test
            pair = result.probs[test], result.split.targets(graph.labels[test])
            pooled.setdefault(run.contender, []).append(pair)
        lines = []
        for label, pairs in pooled.items():
            bins = metrics.reliability_bins(*map(np.concatenate, zip(*pairs, strict=True)))
            many = np.where(bins.count < FEWEST, np.nan, bins.accuracy)
            lines.append((label, dataclasses.replace(bins, accuracy=many)))
        panels.append((f"{name.capitalize()}, 20 per class", overlay_reliability(lines, THEME)))
    return panels


def unseen() -> Panels:
    """The paper's pictures of confidence on known and unseen classes, by a GCN and by BUP."""
    graph = bup.load_graph("cora")
    specs = [bup.Spec(method=method, left_out=(6,)) for method in ("gcn", "bup")]
    return [
        (
            f"{result.spec.method.upper()}, class {graph.class_names[6]} never shown",
            score_histograms(node_table(result, graph), "confidence", THEME),
        )
        for result in trained(specs, graph)
    ]


def degree() -> Panels:
    """The paper's picture of uncertainty against degree, under its rule and under ours."""
    graph = bup.load_graph("cora")
    rules = {"paper": "the paper's rule", "evidence": "evidence propagation"}
    specs = [bup.Spec(settings=(("propagation", rule),)) for rule in rules]
    panels = []
    for words, result in zip(rules.values(), trained(specs, graph), strict=True):
        std = result.scores()["message_std"]
        found = metrics.spearman(graph.degree, std, 1).value
        figure = against_figure(
            *(graph.degree, std, np.arange(graph.num_nodes), THEME),
            *("degree (neighbours and the node itself)", "message std", True),
            binned_medians(graph.degree, std),
        )
        panels.append((f"Cora, {words}: Spearman {found:+.2f}", figure))
    return panels


PICTURES = {"reliability": reliability, "unseen": unseen, "degree": degree}


def trained(specs: list[bup.Spec], graph: bup.Graph) -> Iterator[Result]:
    """The results of runs, trained if the store has them not."""
    store, graphs = bup.Store(), {graph.name: graph}
    with engine.local(2) as where:
        failures = engine.train_all(engine.missing(specs, graphs, store), graphs, where, store)
    if failures:
        sys.exit(f"{failures[0].spec.method} failed: {failures[0].reason}")
    for spec in specs:
        result = runs.load(spec, graph, store)
        assert result is not None
        yield result


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
