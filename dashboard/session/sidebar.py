"""The sidebar: the widgets that choose a graph and a run, each bound to the URL by its key."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, cast

import streamlit as st

import bup
from bup.graph import Graph
from bup.graph.noun import Noun
from bup.methods import METHODS, complete
from bup.run import custom_split
from bup.run.spec import Spec
from bup.run.splits import named_splits
from dashboard.network import visitor
from dashboard.session import run_link, selected_node
from dashboard.ui.markdown import escaped
from dashboard.ui.number_input import number_input, show_refused_numbers
from dashboard.ui.streamlit_internals import StreamlitAPIException
from dashboard.ui.wording import choice_titles, setting_help, setting_title

PER_CLASS = "So many labels per class"


def choose_graph() -> str:
    """The graph's widget; any name can come from a link, see ``graphs.graph``."""
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
        st.caption(f"**{escaped(title)}**: only who has its link can open it")
    return str(name)


def _offered_methods(graph: Graph) -> list[str]:
    """Methods that train, and those of predictions that were brought or that the link names."""
    own = {given.method for given in visitor.predictions_of(graph)}
    asked = {st.session_state.get("method"), st.query_params.get("method")}
    return [
        name
        for name, method in METHODS.items()
        if not method.is_imported or name in own or asked & {name, method.short}
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
    """Which of those that were brought, by the names that people gave them.

    The run is made of their key, which a widget of its own holds.
    """
    titles = {b.key: b.title for b in visitor.predictions_of(graph) if b.method == method}
    setting = f"{method}.predictions"
    chosen = st.session_state.get(setting) or st.query_params.get(setting)
    if not titles:
        return
    if not chosen:
        st.session_state[setting] = chosen = next(iter(titles))
        with contextlib.suppress(StreamlitAPIException):  # its widget writes the address by itself
            st.query_params[setting] = chosen
    st.session_state.own_predictions = chosen
    st.selectbox(
        "Predictions",
        list(dict.fromkeys([*titles, chosen])),
        format_func=lambda key: titles.get(key, key),
        key="own_predictions",
        on_change=lambda: st.session_state.update({setting: st.session_state.own_predictions}),
    )


def _splits(graph: Graph) -> list[str]:
    """The splits on offer: by name, and one of somebody's own that a link names."""
    names = named_splits(graph)
    asked = st.session_state.get("split") or st.query_params.get("split", "")
    return names if asked in names or not custom_split.exists(graph, asked) else [*names, asked]


def leave_out(one: int) -> None:
    """Choose the run to which this class was never shown; the last thing that a callback does."""
    st.session_state.left_out = [one]
    st.rerun()


def _choose_prominent(method: str, noun: Noun) -> dict[str, Any]:
    """What matters most of a method's settings, where one sees it; and the numbers that only the
    chosen has, to play with."""
    chosen = {}
    for f in dataclasses.fields(METHODS[method].settings):
        if f.metadata["prominent"]:
            titles, common = choice_titles(f), _common(method, f, noun)
            value = st.pills(
                setting_title(f.name),
                list(titles),
                default=run_link.app_defaults(method)[f.name],
                format_func=titles.__getitem__,
                required=True,
                **common,
            )
            st.caption(noun.apply_to(_meaning(f, value)))
            chosen[f.name] = value
            for own in _brought(f, value):
                if not own.metadata["choices"]:
                    chosen[own.name] = _choose_setting(method, own, noun)
    return chosen


def _brought(f: dataclasses.Field, value: object) -> tuple[dataclasses.Field, ...]:
    """The settings that a choice has of its own, as a rule of propagation may."""
    about = f.metadata["choices"]
    chosen = about.get(value) if isinstance(about, Mapping) else None
    own = getattr(chosen, "settings", None)
    return dataclasses.fields(own) if own is not None else ()


def _common(method: str, f: dataclasses.Field, noun: Noun) -> dict[str, Any]:
    """What the widgets of all settings have; a link may also name a choice as commands do."""
    key = f"{method}.{f.name}"
    if f.metadata["choices"] and st.query_params.get(key) in f.metadata["choices"]:
        st.session_state.setdefault(key, st.query_params[key])
    return {"key": key, "help": noun.apply_to(setting_help(f)), "bind": "query-params"}


def _meaning(f: dataclasses.Field, value: object) -> str:
    choices = f.metadata["choices"]
    about = choices.get(value) if isinstance(choices, Mapping) else None
    return getattr(about, "meaning", "")


def _choose_settings(method: str, prominent: Mapping[str, Any], noun: Noun) -> dict[str, Any]:
    """A widget for each of the others, but for those of what is not chosen: they change nothing."""
    every = {f.name: f for f in dataclasses.fields(METHODS[method].settings)}
    offered = [name for name in every if name not in prominent]
    for f in (every[name] for name in prominent if every[name].metadata["prominent"]):
        own = {o.name for o in _brought(f, prominent[f.name])}
        others = {o.name for c in f.metadata["choices"] for o in _brought(f, c)} - own
        offered = [name for name in offered if name not in others]
    with st.expander("Settings of the method"):
        return {name: _choose_setting(method, every[name], noun) for name in offered}


def _choose_setting(method: str, f: dataclasses.Field, noun: Noun) -> Any:
    """The widget of a setting, made from what it says of itself."""
    label = noun.apply_to(setting_title(f.name))
    about, default = f.metadata, cast(Any, run_link.app_defaults(method)[f.name])
    common = _common(method, f, noun)
    if about["choices"]:
        titles = choice_titles(f)
        place = list(titles).index(default)
        return st.selectbox(label, list(titles), place, format_func=titles.__getitem__, **common)
    if isinstance(default, str):
        return str(st.text_input(label, default, **common)).strip()
    low, high, where = about["low"], about["high"], st.container()
    if isinstance(default, int):
        return int(number_input(where, label, int(low), int(high), default, **common))
    # One step changes the first digit: less would not be seen.
    step = 10.0 ** math.floor(math.log10(default)) if default else 0.1
    number = number_input(
        where, label, float(low), float(high), default, step=step, format="%g", **common
    )
    return float(number)
