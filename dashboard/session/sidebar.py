"""The sidebar: the widgets that choose a graph and a run, each bound to the URL by its key."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

import bup
from bup.graph import Graph
from bup.graph.noun import Noun
from bup.methods import METHODS, complete
from bup.run import custom_split
from bup.run.spec import Spec
from bup.run.splits import named_splits
from dashboard.network import visitor
from dashboard.session import run_link, selected_node, url
from dashboard.session.number_input import number_input, show_refused_numbers
from dashboard.ui.markdown import escaped
from dashboard.ui.wording import choice_titles, setting_help, setting_title

PER_CLASS = "So many labels per class"


def choose_graph() -> str:
    """The widget of the graph; a link may name any, which ``graphs.graph`` checks."""
    name = st.selectbox(
        "Graph",
        [*run_link.graph_names(), *visitor.graphs()],
        key="graph",
        on_change=selected_node.reset_for_graph,
        format_func=run_link.graph_label,
        bind="query-params",
        accept_new_options=True,
        help="The network to look at. Type a name such as "
        "`synthetic:homophily=0.6,nodes=800` to draw another synthetic one.",
    )
    if (title := run_link.graph_title(str(name))) != run_link.graph_label(str(name)):
        st.caption(f"**{escaped(title)}**: only people with its link can open it")
    return str(name)


def _offered_methods(graph: Graph) -> list[str]:
    """Methods that train, and those of predictions that the visitor uploaded or the link names."""
    uploaded = {predictions.method for predictions in visitor.predictions_of(graph)}
    chosen = {st.session_state.get("method"), url.get("method")}
    return [
        name
        for name, method in METHODS.items()
        if not method.is_imported or name in uploaded or chosen & {name, method.short}
    ]


def choose_run(graph: Graph) -> Spec:
    """The widgets that make up a run, as a complete specification."""
    method = st.selectbox(
        "Method",
        _offered_methods(graph),
        key="method",
        format_func=lambda name: METHODS[name].short,
        bind="query-params",
        help="How the model learns the probability of each class.",
    )
    if method not in METHODS:
        raise bup.BupError(f"there is no method {method!r}: choose one of {', '.join(METHODS)}")
    say = graph.noun.apply_to
    if METHODS[method].is_imported:
        _choose_predictions(method, graph)
    st.caption(f"**{METHODS[method].title}**", help=say(METHODS[method].explanation))
    prominent = _choose_prominent(method, graph.noun)
    left, right = st.columns(2)
    per_class = number_input(
        left,
        "Labels per class",
        1,
        max(100, graph.num_nodes // (10 * graph.num_classes)),  # a tenth of a large graph
        20,
        key="per_class",
        help=say(
            "For how many nodes of each class the model is told the class; 5 to 20 in the "
            "publication."
        ),
    )
    seed = number_input(
        right,
        "Random seed",
        0,
        2**32 - 1,
        0,
        key="seed",
        help=say(
            "The number behind every random choice: which nodes are for training, validation "
            "and testing, and the first weights."
        ),
    )
    left_out = st.multiselect(
        "Classes never shown",
        range(graph.num_classes),
        key="left_out",
        format_func=lambda c: graph.class_names[c],
        bind="query-params",
        help=say(
            "The model is never trained on a node of these classes and cannot answer with them: "
            "they are out of distribution (OOD)."
        ),
    )
    settings = prominent | _choose_settings(method, prominent, graph.noun)
    with st.expander(say("Which nodes train")):
        split = st.selectbox(
            "Split",
            ["", *_splits(graph)],
            key="split",
            format_func=lambda name: name or PER_CLASS,
            bind="query-params",
            help=say(
                "Shares of all nodes that train, validate and test, as in the literature on "
                "calibration, or Planetoid's public split. Then the labels per class and the "
                "usual numbers of validation and test nodes do not count."
            ),
        )
    show_refused_numbers()
    return complete(
        Spec.for_graph(
            graph,
            method,
            settings,
            per_class=int(per_class),
            left_out=tuple(int(c) for c in left_out),
            seed=int(seed),
            split=split or "",
        )
    )


def _choose_predictions(method: str, graph: Graph) -> None:
    """The widget that chooses among uploaded predictions by their titles.

    The run has their key as a setting, which the text field of that setting also shows.
    """
    titles = {b.key: b.title for b in visitor.predictions_of(graph) if b.method == method}
    setting = f"{method}.predictions"
    key = st.session_state.get(setting) or url.get(setting)
    if not titles:
        return
    if not key:
        st.session_state[setting] = key = next(iter(titles))
        url.put(setting, key)
    st.session_state.own_predictions = key
    st.selectbox(
        "Predictions",
        list(dict.fromkeys([*titles, key])),
        format_func=lambda key: titles.get(key, key),
        key="own_predictions",
        on_change=lambda: st.session_state.update({setting: st.session_state.own_predictions}),
    )


def _splits(graph: Graph) -> list[str]:
    """The splits by name, and an uploaded one if a link names it."""
    names = named_splits(graph)
    chosen = st.session_state.get("split") or url.get("split")
    return names if chosen in names or not custom_split.exists(graph, chosen) else [*names, chosen]


def leave_out(class_number: int) -> None:
    """Choose the run that was never shown this class; ends the callback that calls it."""
    st.session_state.left_out = [class_number]
    st.rerun()


def _choose_prominent(method: str, noun: Noun) -> dict[str, Any]:
    """Buttons for a method's most important settings, and the numbers that the chosen value has."""
    values = {}
    for field in dataclasses.fields(METHODS[method].settings):
        if field.metadata["prominent"]:
            titles = choice_titles(field)
            value = st.pills(
                setting_title(field.name),
                list(titles),
                default=_default(method, field),
                format_func=titles.__getitem__,
                required=True,
                **_widget_options(method, field, noun),
            )
            st.caption(noun.apply_to(getattr(_choice(field, value), "meaning", "")))
            values[field.name] = value
            for own in _settings_of(field, value):
                if not own.metadata["choices"]:
                    values[own.name] = _choose_setting(method, own, noun)
    return values


def _choose_settings(method: str, prominent: Mapping[str, Any], noun: Noun) -> dict[str, Any]:
    """A widget for each other setting, without those of values that are not chosen."""
    fields = {field.name: field for field in dataclasses.fields(METHODS[method].settings)}
    unused = set()
    for field in (fields[name] for name in prominent if fields[name].metadata["prominent"]):
        for value in field.metadata["choices"]:
            unused |= {own.name for own in _settings_of(field, value)}
        unused -= {own.name for own in _settings_of(field, prominent[field.name])}
    with st.expander("Settings of the method"):
        return {
            name: _choose_setting(method, field, noun)
            for name, field in fields.items()
            if name not in prominent and name not in unused
        }


def _choose_setting(method: str, field: dataclasses.Field, noun: Noun) -> Any:
    """The widget of a setting, made from its metadata."""
    label, default = noun.apply_to(setting_title(field.name)), _default(method, field)
    options = _widget_options(method, field, noun)
    if field.metadata["choices"]:
        titles = choice_titles(field)
        index = list(titles).index(default)
        return st.selectbox(label, list(titles), index, format_func=titles.__getitem__, **options)
    if isinstance(default, str):
        return str(st.text_input(label, default, **options)).strip()
    low, high, where = field.metadata["low"], field.metadata["high"], st.container()
    if isinstance(default, int):
        return int(number_input(where, label, int(low), int(high), default, **options))
    # One step changes the first digit: a smaller one would make no visible difference.
    step = 10.0 ** math.floor(math.log10(default)) if default else 0.1
    number = number_input(
        where, label, float(low), float(high), default, step=step, format="%g", **options
    )
    return float(number)


def _default(method: str, field: dataclasses.Field) -> Any:
    return run_link.app_defaults(method)[field.name]


def _choice(field: dataclasses.Field, value: object) -> object | None:
    """What a value of a setting stands for, such as a propagation rule."""
    choices = field.metadata["choices"]
    return choices.get(value) if isinstance(choices, Mapping) else None


def _settings_of(field: dataclasses.Field, value: object) -> tuple[dataclasses.Field, ...]:
    """The settings that only one value of a setting has, as a propagation rule may."""
    own = getattr(_choice(field, value), "settings", None)
    return dataclasses.fields(own) if own is not None else ()


def _widget_options(method: str, field: dataclasses.Field, noun: Noun) -> dict[str, Any]:
    """Common to the widgets of all settings; a link may name a value by its name or its title."""
    key = f"{method}.{field.name}"
    if field.metadata["choices"] and url.get(key) in field.metadata["choices"]:
        st.session_state.setdefault(key, url.get(key))
    return {"key": key, "help": noun.apply_to(setting_help(field)), "bind": "query-params"}
