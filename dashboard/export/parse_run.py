"""Which runs somebody means: by a link of the app, or by the name that the store has for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlsplit

import bup
from bup.errors import BupError
from bup.graph import Graph
from bup.io.quoting import quote
from bup.methods import METHODS, complete
from bup.results.store import Store
from bup.run.spec import Spec, Value, parse_value
from dashboard.session import run_link
from dashboard.ui.wording import choice_titles


def asked(text: str) -> Spec:
    """The run of a link such as ``http://localhost:8501/?graph=Cora``, or of a key in the store."""
    if "?" in text or "://" in text:
        try:
            query = parse_qs(urlsplit(text).query)
        except ValueError as error:
            raise BupError(f"{quote(text, 200)} is no address ({error}): copy it again") from error
        return _linked(query)
    store = Store()
    spec = store.find_spec(text)
    if spec is None:
        raise BupError(
            f"there is no stored run {text!r}: give a link of the app, the name of a folder in "
            f"{store.root}, or a method as in 'bup export --graph cora --method bup -o page.html'"
        )
    return spec


def _linked(query: Mapping[str, Sequence[str]]) -> Spec:
    """What the app's widgets would choose: they go by labels, see ``run_link.parameters``."""
    said = {name: values[-1] for name, values in query.items()}
    names = {run_link.graph_label(name): name for name in run_link.graph_names()}
    asked_graph = said.get("graph", next(iter(names)))
    graph = bup.load_graph(names.get(asked_graph, asked_graph))
    method = said.get("method", next(iter(METHODS)))
    method = next((name for name, m in METHODS.items() if method in (name, m.short)), method)
    if method not in METHODS:
        raise BupError(f"the link asks for a method {method!r}, which there is not")
    settings: dict[str, Value] = dict(run_link.app_defaults(method))
    for field in dataclasses.fields(METHODS[method].settings):
        text = said.get(f"{method}.{field.name}")
        if text is not None:
            shown = {title: name for name, title in choice_titles(field).items()}
            number = isinstance(settings[field.name], int | float)
            settings[field.name] = shown.get(text, parse_value(text) if number else text)
    return complete(
        Spec.for_graph(
            graph,
            method,
            settings,
            per_class=_whole(said, "per_class", 20),
            left_out=tuple(_class(graph, name) for name in query.get("left_out", ())),
            seed=_whole(said, "seed", 0),
            split=said.get("split", ""),
        )
    )


def _whole(said: Mapping[str, str], name: str, usual: int) -> int:
    try:
        return int(said.get(name, usual))
    except ValueError:
        raise BupError(f"{name} of the link must be a whole number, got {said[name]!r}") from None


def _class(graph: Graph, name: str) -> int:
    if name not in graph.class_names:
        known = ", ".join(graph.class_names)
        raise BupError(f"{graph.name} has no class {name!r} as in the link: it has {known}")
    return graph.class_names.index(name)
