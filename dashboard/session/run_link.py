"""The one translation of a run to the parameters of a link and back.

The app, notebooks and commands use it; it needs no Streamlit. Links name graphs, methods, classes
and settings as the widgets of the sidebar show them.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode, urlsplit

import bup
from bup import datasets
from bup.errors import BupError, quote
from bup.graph import Graph
from bup.methods import METHODS, complete
from bup.results.store import Store
from bup.run.spec import Spec, Value, parse_value
from dashboard.ui.wording import choice_titles


def graph_names() -> list[str]:
    """The graphs on offer; without a network the app opens on the almanac."""
    return sorted(datasets.list_graphs(), key=lambda name: not datasets.is_available(name))


def graph_label(name: str) -> str:
    """A graph's name in menus and links."""
    source = datasets.find_source(name)
    return source.label(name) if source else name


def graph_title(name: str) -> str:
    """A graph's name in texts; the label of an uploaded graph would give everybody access."""
    source = datasets.find_source(name)
    return source.title_of(name) if source and source.title_of else graph_label(name)


def app_defaults(method: str) -> dict[str, Value]:
    """The settings of a method before a visitor changes any."""
    return dict(complete(Spec(method=method)).settings) | dict(METHODS[method].app_defaults)


def default_spec(graph: Graph) -> Spec:
    """The run that the app opens with."""
    method = next(iter(METHODS))
    return complete(Spec.for_graph(graph, method, app_defaults(method)))


def parameters(spec: Spec, graph: Graph) -> list[tuple[str, str]]:
    """The parameters of a link that opens a run."""
    defaults = app_defaults(spec.method)
    changed = {name: value for name, value in spec.settings if value != defaults[name]}
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
    """The same as the text after the question mark."""
    return urlencode(parameters(spec, graph))


def find_spec(text: str) -> Spec:
    """The run of a link such as ``http://localhost:8501/?graph=Cora``, or of a folder of the store.

    Raises BupError for any other text.
    """
    if "?" in text or "://" in text:
        try:
            parameters = parse_qs(urlsplit(text).query)
        except ValueError as error:
            raise BupError(f"{quote(text, 200)} is no address ({error}): copy it again") from error
        return parse(parameters)
    store = Store()
    spec = store.find_spec(text)
    if spec is None:
        raise BupError(
            f"there is no stored run {text!r}: give a link of the app, the name of a folder in "
            f"{store.root}, or a method as in 'bup export --graph cora --method bup -o page.html'"
        )
    return spec


def parse(query: Mapping[str, Sequence[str]]) -> Spec:
    """The run that the sidebar chooses when the app is opened with these parameters."""
    values = {name: texts[-1] for name, texts in query.items()}
    names = {graph_label(name): name for name in graph_names()}
    label = values.get("graph", next(iter(names)))
    graph = bup.load_graph(names.get(label, label))
    method = values.get("method", next(iter(METHODS)))
    method = next((name for name, m in METHODS.items() if method in (name, m.short)), method)
    if method not in METHODS:
        raise BupError(f"the link asks for a method {method!r}, which there is not")
    settings = app_defaults(method)
    for field in dataclasses.fields(METHODS[method].settings):
        if (text := values.get(f"{method}.{field.name}")) is not None:
            by_title = {title: name for name, title in choice_titles(field).items()}
            is_number = isinstance(settings[field.name], int | float)
            settings[field.name] = by_title.get(text, parse_value(text) if is_number else text)
    for name in query.get("left_out", ()):
        if name not in graph.class_names:
            classes = ", ".join(graph.class_names)
            raise BupError(f"{graph.name} has no class {name!r} as in the link: it has {classes}")
    return complete(
        Spec.for_graph(
            graph,
            method,
            settings,
            per_class=_whole_number(values, "per_class", Spec.per_class),
            left_out=tuple(graph.class_names.index(name) for name in query.get("left_out", ())),
            seed=_whole_number(values, "seed", Spec.seed),
            split=values.get("split", ""),
        )
    )


def _whole_number(values: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(values.get(name, default))
    except ValueError:
        raise BupError(f"{name} of the link must be a whole number, got {values[name]!r}") from None
