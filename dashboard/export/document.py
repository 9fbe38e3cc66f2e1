"""The data of an exported page: the graph once, the numbers and charts of each run."""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import plotly

import bup
from bup.calibrators import parse_calibrate
from bup.graph.words import speaks_of
from bup.methods import METHODS, changed_settings, command_line
from bup.propagation import RULES
from bup.run.spec import Spec, format_value
from dashboard import layouts
from dashboard.cache.run_cache import LoadedRun
from dashboard.charts.chart import Chart
from dashboard.charts.compare import TABLE_CAPTION, metrics_table
from dashboard.components.map import map_data
from dashboard.components.map.excerpts import excerpt
from dashboard.components.map.map_data import MOST_NAMES
from dashboard.components.map.parcels import quantise
from dashboard.export import views
from dashboard.export.reasons import reasons
from dashboard.export.views import Block
from dashboard.figures.compare import wide_table
from dashboard.session import run_link
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.theme import Theme
from dashboard.ui.wording import setting_title

NO_INTERVALS = "There are no intervals here: those of so many nodes take too long to compute."
LONG = 400
"""Lists of more members are stored once, however many charts use them."""


Kind = Literal["file", "cell", "site", "tiles"]
"""One file; a cell of a notebook, which has no charts; one of the pages of a site; such a page of a
large graph, whose parts it fetches (tiles.py), without the charts that draw every node."""


def document(runs: Sequence[LoadedRun], made: datetime.date, kind: Kind = "file") -> dict[str, Any]:
    """Everything that the page shows, as JSON."""
    graph = runs[0].graph
    theme, shared = Theme(noun=graph.noun), SharedLists()
    names = labels([one.spec for one in runs])
    each = {name: View(one, 0, theme) for name, one in zip(names, runs, strict=True)}
    title = _capital(run_link.graph_title(graph.name))
    links = "citations" if graph.noun.one == "paper" else "links"
    positions = layouts.positions(graph)
    first = excerpt(graph, positions, most=MOST_NAMES) if kind == "tiles" else None
    parcel = map_data.graph_parcel(graph, positions, first)
    limits = _limits(list(each.values()))
    return {
        "kind": kind,
        "graph": title,
        "title": f"{title}: {', '.join(names)}",
        "size": f"{graph.noun.count(graph.num_nodes)}, {graph.num_edges:,} {links}, "
        f"{graph.num_classes} classes",
        "noun": [graph.noun.one, graph.noun.many],
        "classes": list(graph.class_names),
        "parcel": base64.b64encode(parcel.content).decode(),
        "words": [", ".join(speaks_of(graph, i)) for i in range(graph.num_nodes)]
        if graph.words is not None
        else None,
        "runs": [_run(name, view, limits, shared, kind) for name, view in each.items()],
        "compare": _comparison(each, shared) if len(each) > 1 else None,
        "shared": shared.values,
        "dark": _dark_colours(),
        "made": f"{made:%d %B %Y}".lstrip("0"),
        "versions": f"BUP Explorer {bup.__version__}, plotly.js of plotly {plotly.__version__}",
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def labels(specs: Sequence[Spec]) -> list[str]:
    """A name for every run; runs of one name get the settings in which they differ."""
    first = [_label(spec) for spec in specs]
    differing = [_differences(spec, specs) for spec in specs]
    return [
        f"{name} ({words})" if words and first.count(name) > 1 else name
        for name, words in zip(first, differing, strict=True)
    ]


def _label(spec: Spec) -> str:
    settings = dict(spec.settings)
    name = METHODS[spec.method].short
    if rule := RULES.get(str(settings.get("propagation"))):
        name += f": {rule.title}"
    changed = changed_settings(spec)  # not the defaults of the method
    calibrated = [c.title for c in parse_calibrate(str(changed.get("calibrate", "none")))]
    return " + ".join([name, *calibrated])


def _differences(spec: Spec, specs: Sequence[Spec]) -> str:
    """The settings in which a run differs from some of these."""
    facts = [
        {"labels": s.labels_in_words, "seed": s.seed, "never shown": s.left_out or "none"}
        | {setting_title(k): format_value(v) for k, v in s.settings if s.method == spec.method}
        for s in (spec, *specs)
    ]
    return ", ".join(
        f"{name} {value}"
        for name, value in facts[0].items()
        if any(other.get(name, value) != value for other in facts)
    )


def _run(
    name: str, view: View, limits: Mapping[str, Any], shared: SharedLists, kind: Kind
) -> dict[str, Any]:
    graph, table, result = view.graph, view.table, view.result
    spec, classes = view.spec, graph.class_names
    code = np.int8 if len(classes) < 127 else np.int16
    never = ", ".join(classes[c] for c in spec.left_out)
    large = kind == "tiles"
    intervals = None if large else _intervals(view)
    return {
        "label": name,
        "title": METHODS[spec.method].title,
        "about": view.say(METHODS[spec.method].explanation),
        "facts": _labels_text(view)
        + f", seed {spec.seed}"
        + (f", never shown: {never}" if never else ""),
        "command": command_line(spec),
        "answers": list(result.split.classes),
        "said": as_text(result.predicted.astype(code)),
        "sure": _shares(result.probs.max(axis=1)),
        "truth": as_text(graph.labels.astype(code)),
        "shapes": as_text(columns.verdicts(table).astype(np.uint8)),
        "test": as_text((table.part == "test").to_numpy(np.uint8)),
        "probs": _shares(result.probs),
        "low": None if intervals is None else _shares(intervals[0]),
        "high": None if intervals is None else _shares(intervals[1]),
        "mean": _steps(result.mean) if view.explains.variance else None,
        "std": _steps(np.sqrt(result.var)) if result.var is not None else None,
        "no_interval": view.no_interval or (NO_INTERVALS if large else ""),
        "reasons": _reasons(view),
        "own": columns.score_columns(table)[bup.experiments.epistemic_score(spec.method)].label,
        "colours": [
            _colour(view, colour, column, limits[colour])
            for colour, column in columns.menu_columns(table).items()
        ],
        "views": {
            name: [_block(b, shared) for b in (blocks(view) if name in _charts(kind) else [])]
            for name, blocks in _VIEWS.items()
        },
    }


_VIEWS = {
    "reliability": views.reliability_blocks,
    "unseen": views.unseen_blocks,
    "structure": views.structure_blocks,
}


def _charts(kind: Kind) -> set[str]:
    return set() if kind == "cell" else set(_VIEWS) - {"structure" if kind == "tiles" else ""}


def _reasons(view: View) -> dict[str, Any]:
    """The reasons of the answers, with their arrays as text."""
    found = reasons(view)
    if "nodes" not in found:
        return found
    packed = {name: as_text(found[name]) for name in ("nodes", "told")}
    for name in ("values", "gap"):
        steps, scale = found[name]
        packed[name] = as_text(steps) | {"scale": scale}
    return found | packed


def _labels_text(view: View) -> str:
    spec = view.spec
    if spec.split:
        return spec.labels_in_words
    return f"{spec.per_class} labelled {view.graph.noun.many} per class"


def _limits(each: Sequence[View]) -> dict[str, Any]:
    """One colour scale per score for all runs, so that a brighter map means more doubt."""
    found: dict[str, Any] = {}
    for view in each:
        for name in columns.menu_columns(view.table):
            found.setdefault(name, map_data.own_limits(view.table, name))
    return found


def _colour(view: View, name: str, column: columns.Column, limits: Any) -> dict[str, Any]:
    names = view.graph.class_names
    shades, scale = map_data.shades_of(view.table, name, names)
    looks = [
        map_data.look(view.table, name, names, Theme(dark, noun=view.graph.noun), limits)
        for dark in (False, True)
    ]
    return {"name": name, "label": column.label, "score": column.uncertain} | {
        "seen": [view.say(column.map_sentence(dark)) for dark in (False, True)],
        "shades": as_text(shades),
        "scale": scale,
        "looks": looks,
    }


def _intervals(view: View) -> tuple[np.ndarray, np.ndarray] | None:
    """The interval of every probability, if the method has intervals."""
    chances, mean, var = view.explains.probabilities, view.result.mean, view.result.var
    if view.no_interval or chances is None or mean is None or var is None:
        return None
    _, low, high = chances(view.result, mean, var, 0.9)
    assert low is not None and high is not None
    return low, high


def _comparison(each: Mapping[str, View], shared: SharedLists) -> dict[str, Any]:
    table, first = wide_table(metrics_table(each)), next(iter(each.values()))
    words = first.say(TABLE_CAPTION)
    if len({np.sort(view.result.split.test).tobytes() for view in each.values()}) > 1:
        words += first.say(" These runs were tested on different nodes, which is a part of it.")
    return {
        "head": list(table.columns),
        "rows": table.to_numpy().tolist(),
        "words": words,
        "charts": [_chart(chart, shared) for chart in views.compare_charts(each)],
    }


def _block(block: Block, shared: SharedLists) -> dict[str, Any]:
    return {
        "label": block.label,
        "numbers": block.numbers,
        "charts": [_chart(chart, shared) for chart in block.charts],
    }


def _chart(chart: Chart, shared: SharedLists) -> dict[str, Any]:
    figure = json.loads(chart.figure.json)
    figure["layout"].pop("template", None)
    groups = None
    if chart.lists is not None:
        groups = {str(k): [nodes.title, nodes.nodes.tolist()] for k, nodes in chart.lists.items()}
    return {
        "title": chart.title,
        "words": chart.caption,
        "groups": groups,
        "figure": {"data": shared.share(figure["data"]), "layout": figure["layout"]},
    }


class SharedLists:
    """The long lists of all charts, each stored once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def share(self, value: Any) -> Any:
        """The value with every long list replaced by its index: ``{"$": 3}``."""
        if isinstance(value, dict):
            if "bdata" in value:
                return self._place(_as_float32(value)) if len(value["bdata"]) > 4 * LONG else value
            return {name: self.share(inner) for name, inner in value.items()}
        if isinstance(value, list):
            if len(value) > LONG and all(isinstance(inner, str) for inner in value):
                return self._place(value)
            return [self.share(inner) for inner in value]
        return value

    def _place(self, value: Any) -> dict[str, int]:
        place = self._places.setdefault(json.dumps(value), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return {"$": place}


def _as_float32(array: dict[str, Any]) -> dict[str, Any]:
    """An array of 64-bit numbers in 32 bits, enough for a chart."""
    if array["dtype"] != "f8":
        return array
    values = np.frombuffer(base64.b64decode(array["bdata"]), "<f8").astype("<f4")
    return array | {"dtype": "f4", "bdata": base64.b64encode(values.tobytes()).decode()}


def as_text(values: np.ndarray) -> dict[str, Any]:
    kind = values.dtype.newbyteorder("<")
    content = np.ascontiguousarray(values).astype(kind).tobytes()
    return {"type": kind.str[1:], "bytes": base64.b64encode(content).decode()}


def _shares(probs: np.ndarray) -> dict[str, Any]:
    """Numbers from 0 to 1 [n, c] in 16 bits; only 1 itself is rounded to 1."""
    steps = np.where(probs < 1, np.round(probs.clip(0) * 65535).clip(max=65534), 65535)
    return as_text(steps.astype(np.uint16)) | {"scale": [0, 1 / 65535]}


def _steps(values: np.ndarray | None) -> dict[str, Any]:
    assert values is not None
    steps, scale = quantise(values)
    return as_text(steps) | {"scale": scale}


def _dark_colours() -> dict[str, str]:
    """The colours of charts on a light page, and their colours on a dark one."""
    light, dark = Theme(), Theme(dark=True)
    return {
        getattr(light, tone): getattr(dark, tone) for tone in ("text", "background", "faint", "ink")
    }
