"""What a newcomer sees beside the map: a few plain sentences, and three stories of this run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

import bup
from bup.methods import METHODS, complete
from bup.results.result import errors_from_left_out
from bup.run.spec import Spec
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.session import selected_node
from dashboard.session.training import training_queue, visitor_id
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent

AHEAD = 30_000
"""Graphs of at most so many nodes have the story of the unseen class trained ahead."""


@dataclass(frozen=True)
class Story:
    """A node worth looking at, in a sentence; ``opens`` are the parameters of its link."""

    title: str
    sentence: str
    icon: str
    opens: dict[str, Any]


def welcome(view: View) -> None:
    """In place of a node's inspector, until one is picked."""
    test = view.table[view.table.part == "test"]
    right = test.correct.dropna().mean()
    links = "a citation" if view.graph.noun.one == "paper" else "a link"
    told = len(view.result.split.train)
    st.markdown(
        view.say("Every dot is a node, every line ") + f"{links}. The model was told the classes "
        f"of {view.graph.noun.count(told)} and guesses all the others: it gets "
        f"**{percent(float(right))}** of the test {view.graph.noun.many} right. "
        f"**{view.say(_colour(view).map_sentence(view.theme.dark))}**"
    )
    st.markdown("Point at a dot to see who is linked, click it to ask why. Or start with a story:")
    for number, story in enumerate(stories(view)):
        st.button(
            f"**{story.title}.** {story.sentence}",
            icon=story.icon,
            key=f"story_{number}",
            on_click=_open,
            args=(story,),
            width="stretch",
        )


def _colour(view: View) -> columns.Column:
    """What the map beside this is coloured by."""
    return columns.menu_columns(view.table)[st.session_state.colour]


def stories(view: View) -> list[Story]:
    """Those that this run has, with its own nodes."""
    tellers: tuple[Callable[[View], Story | None], ...] = (_mistake, _hub_and_leaf, _never_shown)
    return [story for tell in tellers if (story := tell(view)) is not None]


def _open(story: Story) -> None:
    selected_node.pick(story.opens["node"])
    st.session_state.update(story.opens)
    st.rerun()  # it may be of another run


def _mistake(view: View) -> Story | None:
    """The test node of a known class that the model gets wrong with the greatest confidence."""
    table = view.table
    wrong = table[table.correct.eq(False).fillna(False) & ~table.ood & (table.part == "test")]
    if not len(wrong):
        return None
    row = wrong.loc[wrong.confidence.idxmax()]
    sentence = view.say(f"The model is {percent(row.confidence)} sure that node ") + (
        f"{escaped(row.id)} is {escaped(row.predicted)}. In truth it is {escaped(row.true)}."
    )
    opens = {"node": str(row.id), "tab": "Links"}
    return Story("A confident mistake", sentence, ":material/cancel:", opens)


def _hub_and_leaf(view: View) -> Story | None:
    """Of those whose only link leads to a node, the node of most links; and the most doubtful."""
    graph, table = view.graph, view.table
    starts, ends = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    held = starts[graph.degree[ends] == 1]
    if not len(held):
        return None
    hub = int(held[graph.degree[held].argmax()])
    near = graph.neighbours(hub)
    leaves = near[graph.degree[near] == 1]
    name, column = next(iter(columns.score_columns(table).items()))
    doubt = column.shade(table[name].to_numpy(float))
    leaf = int(leaves[np.argmax(doubt[leaves])])
    sentence = view.say("Node ") + (
        f"{escaped(graph.node_id(hub))} has {len(near):,} links; "
        f"{escaped(graph.node_id(leaf))} has a single link, to that hub. {column.label}: "
        f"{table[name].iloc[hub]:.2f} and {table[name].iloc[leaf]:.2f}."
    )
    opens = {"node": graph.node_id(leaf), "pin": graph.node_id(hub), "tab": "Compare"}
    return Story("A hub and a leaf", sentence, ":material/hub:", opens)


def _never_shown(view: View) -> Story | None:
    """A node that the model gets wrong only because its class was left out of its training."""
    graph, spec = view.graph, view.spec
    hides = bool(spec.left_out)
    left_out = spec.left_out or (graph.num_classes - 1,)
    other = dataclasses.replace(spec, left_out=() if hides else left_out)
    loaded_run = run_cache.find(other, graph)
    if loaded_run is None:
        return None if METHODS[spec.method].is_imported else _one_to_train(view, other, left_out)
    hidden, shown = (view.loaded_run, loaded_run) if hides else (loaded_run, view.loaded_run)
    nodes = errors_from_left_out(hidden.result, shown.result, graph)
    if not len(nodes):
        return None
    node = int(nodes[0])
    without, told = hidden.table.iloc[node], shown.table.iloc[node]
    sentence = (
        f"A model that has never seen {escaped(without.true)} takes {escaped(without.id)} for "
        f"{escaped(without.predicted)}, {percent(without.confidence)} sure. Shown the class, the "
        f"same model is right, {percent(told.confidence)} sure."
    )
    return _unseen_story(sentence, left_out, node, graph)


def _one_to_train(view: View, other: Spec, left_out: tuple[int, ...]) -> Story | None:
    """The same with one of the two runs yet to be trained: the surest node of the one there is."""
    graph, table = view.graph, view.table
    if graph.num_classes - len(left_out) < 2:
        return None
    name = graph.class_names[left_out[-1]]
    members = table[(table.true == name) & (table.part == "test")]
    if not view.spec.left_out:
        _train_ahead(other, view)
        members = members[members.correct.eq(True).fillna(False)]
    if not len(members):
        return None
    row = members.loc[members.confidence.idxmax()]
    said = (
        f"The model takes {escaped(row.id)} for {escaped(row.predicted)}, "
        f"{percent(row.confidence)} sure. "
    )
    sentence = said + (
        f"It has never seen {escaped(name)}: train it with that class, in seconds, and compare."
        if view.spec.left_out
        else f"Train it without {escaped(name)}, in seconds, and see what it says then."
    )
    return _unseen_story(sentence, other.left_out, int(row.name), graph)


def _unseen_story(sentence: str, left_out: tuple[int, ...], node: int, graph: bup.Graph) -> Story:
    opens = {"left_out": list(left_out), "tab": "Answer", "node": graph.node_id(node)}
    return Story("A class never shown", sentence, ":material/help:", opens)


def _train_ahead(spec: Spec, view: View) -> None:
    """Of the run that the app opens with, on a small graph; whoever clicks then need not wait."""
    usual = dict(complete(Spec(method=spec.method)).settings)
    opening = usual | dict(METHODS[spec.method].app_defaults)
    untouched = dict(spec.settings) == opening and not view.spec.left_out
    if untouched and spec.method == Spec.method and view.graph.num_nodes <= AHEAD:
        try:
            training_queue().submit(run_of(spec, view.graph), view.graph, visitor_id())
        except bup.BupError:  # a full queue: it trains when somebody asks for it
            return
