"""What the visitor looks at: the chosen run and the picked node, held by widgets bound to the URL.

A widget's key is its name in the link. Pages are given a ``View``; whatever changes the pick calls
``pick`` from a callback, which runs before the widgets are drawn again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

import bup
from bup import datasets
from bup.calibrators import Calibrator
from bup.graph import Graph
from bup.graph.noun import NODE, Noun
from bup.methods import METHODS, calibrated_after, complete, why_no_interval
from bup.methods.base import Explains
from bup.propagation import RULES, Rule
from bup.results.result import EvalSet, Result
from bup.run import custom_split
from bup.run.spec import Run, Spec, Value
from bup.run.splits import named_splits, usual_sizes
from dashboard.cache import graphs
from dashboard.cache.run_cache import Known
from dashboard.network import visitor
from dashboard.session import selected_node
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import number_input, show_refused_numbers
from dashboard.ui.theme import Theme
from dashboard.ui.wording import choice_titles, setting_help, setting_title

PER_CLASS = "So many labels per class"


@dataclass(frozen=True, eq=False)
class View:
    """Everything a page needs: one finished run, one picked node, one look."""

    known: Known
    node: int  # the first test node until somebody picks another
    theme: Theme
    picked: bool = True

    @property
    def marked(self) -> tuple[int, ...]:
        """What charts mark with a ring: the picked node; nothing until somebody picks one."""
        return (self.node,) if self.picked else ()

    @property
    def run(self) -> Run:
        return self.known.run

    @property
    def spec(self) -> Spec:
        return self.run.spec

    @property
    def graph(self) -> Graph:
        return self.known.graph

    @property
    def result(self) -> Result:
        return self.known.result

    @property
    def table(self) -> pd.DataFrame:
        return self.known.table

    @property
    def positions(self) -> np.ndarray:
        return graphs.layout(self.graph).points

    @property
    def explains(self) -> Explains:
        """What the run's method can say of a node beside its probabilities."""
        return METHODS[self.spec.method].explains

    @property
    def rule(self) -> Rule | None:
        """The run's propagation rule; None if its method has none."""
        return RULES.get(str(dict(self.spec.settings).get("propagation")))

    @property
    def recalibrated(self) -> Calibrator | None:
        """What adjusted the probabilities after they had come out of the messages."""
        return calibrated_after(self.spec)

    @property
    def no_interval(self) -> str:
        """Why the probabilities have no credible interval; empty if they have one."""
        return why_no_interval(self.spec)

    @property
    def answers(self) -> list[str]:
        """The classes that the model can answer with, in the order of its outputs."""
        return [self.graph.class_names[c] for c in self.result.split.classes]

    def judged(self) -> EvalSet:
        return self.result.judged(self.graph)

    def name_of(self, node: int) -> str:
        """A node's id, with its title where the graph has one."""
        title = f": {self.graph.titles[node]}" if self.graph.titles is not None else ""
        return self.graph.node_id(node) + title

    def say(self, text: str) -> str:
        """A text about nodes in the graph's own words; none of the data's names in it."""
        return self.graph.noun.apply_to(text)


def theme(noun: Noun = NODE) -> Theme:
    return Theme(
        dark=st.context.theme.type == "dark",
        large=bool(st.session_state.get("large", False)),
        noun=noun,
    )


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


def choose_graph() -> str:
    """The graph's widget; any name can come from a link, see ``graphs.graph``."""
    name = st.selectbox(
        "Graph",
        [*graph_names(), *visitor.graphs()],
        key="graph",
        on_change=selected_node.leave,
        format_func=graph_label,
        bind="query-params",
        accept_new_options=True,
        help="The network to look at. Type a name such as "
        "`synthetic:homophily=0.6,nodes=800` to draw another synthetic one.",
    )
    if (title := graph_title(str(name))) != graph_label(str(name)):
        st.caption(f"**{escaped(title)}**: only who has its link can open it")
    return str(name)


def _offered_methods(graph: Graph) -> list[str]:
    """Methods that train, and those of predictions that were brought or that the link names."""
    own = {given.method for given in visitor.predictions_of(graph)}
    asked = {st.session_state.get("method"), st.query_params.get("method")}
    return [
        name
        for name, method in METHODS.items()
        if not method.brought or name in own or asked & {name, method.short}
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
    if METHODS[method].brought:
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
    validation, test = usual_sizes(graph)
    return complete(
        Spec(
            graph=graph.name,
            method=method,
            per_class=int(per_class),
            validation=validation,
            test=test,
            left_out=tuple(int(c) for c in left_out),
            seed=int(seed),
            settings=tuple(settings.items()),
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


def first_run(graph: Graph) -> Spec:
    """What the widgets choose where nobody has touched them."""
    method = next(iter(METHODS))
    validation, test = usual_sizes(graph)
    return complete(
        Spec(
            graph=graph.name,
            method=method,
            validation=validation,
            test=test,
            settings=tuple(opening(method).items()),
        )
    )


def opening(method: str) -> dict[str, Value]:
    """The settings of a method that the app opens with."""
    usual = dict(complete(Spec(method=method)).settings)
    return usual | dict(METHODS[method].opens_with)


def parameters(spec: Spec, graph: Graph) -> list[tuple[str, str]]:
    """What in an address makes the widgets choose this run; they go by what they show."""
    usual = opening(spec.method)
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


def link(spec: Spec, graph: Graph) -> str:
    """The same as the query of an address."""
    return urlencode(parameters(spec, graph))


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
                default=opening(method)[f.name],
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
    about, default = f.metadata, cast(Any, opening(method)[f.name])
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
