"""A run as the parameters of a link, and back; the names of graphs in links and texts.

Needs no Streamlit: notebooks and commands use it too.
"""

from __future__ import annotations

import dataclasses
from urllib.parse import urlencode

from bup import datasets
from bup.graph import Graph
from bup.methods import METHODS, complete
from bup.run.spec import Spec, Value
from dashboard.ui.wording import choice_titles


def graph_names() -> list[str]:
    """The graphs on offer; without a network the app opens on the synthetic one."""
    return sorted(datasets.list_graphs(), key=lambda name: not datasets.is_available(name))


def graph_label(name: str) -> str:
    source = datasets.find_source(name)
    return source.label(name) if source else name


def graph_title(name: str) -> str:
    """What a text calls a graph; the label of one's own is the key to it."""
    source = datasets.find_source(name)
    return source.title_of(name) if source and source.title_of else graph_label(name)


def default_spec(graph: Graph) -> Spec:
    """What the widgets choose where nobody has touched them."""
    method = next(iter(METHODS))
    return complete(Spec.for_graph(graph, method, app_defaults(method)))


def app_defaults(method: str) -> dict[str, Value]:
    """The settings of a method that the app opens with."""
    usual = dict(complete(Spec(method=method)).settings)
    return usual | dict(METHODS[method].app_defaults)


def parameters(spec: Spec, graph: Graph) -> list[tuple[str, str]]:
    """What in an address makes the widgets choose this run; they go by what they show."""
    usual = app_defaults(spec.method)
    changed = {name: value for name, value in spec.settings if value != usual[name]}
    titles = {f.name: choice_titles(f) for f in dataclasses.fields(METHODS[spec.method].settings)}
    return [
        ("graph", graph_label(spec.graph)),
        ("method", METHODS[spec.method].short),
        ("per_class", str(spec.per_class)),
        ("seed", str(spec.seed)),
        *(("left_out", graph.class_names[c]) for c in spec.left_out),
        *([("split", spec.split)] if spec.split else []),
        *((f"{spec.method}.{k}", titles[k].get(str(v), str(v))) for k, v in changed.items()),
    ]


def query(spec: Spec, graph: Graph) -> str:
    """The same as the query of an address."""
    return urlencode(parameters(spec, graph))
