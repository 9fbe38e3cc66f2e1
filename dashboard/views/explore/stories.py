"""The panel beside the map until a node is picked: an introduction and three stories."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

import bup
from bup.datasets import almanac
from bup.explanation import sentences
from bup.explanation.reasons import why_no_reasons
from bup.methods import METHODS
from bup.results.result import errors_from_left_out
from bup.run.spec import Spec
from bup.training.fitting import run_of
from dashboard.cache import run_cache
from dashboard.session import run_link, selected_node
from dashboard.session.training import training_queue, visitor_id
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.numbers import percent
from dashboard.views.explore import why

MOST_NODES_AHEAD = 30_000
"""On graphs of at most so many nodes, the run for the story of the unseen class trains ahead."""


@dataclass(frozen=True)
class Story:
    """A node worth looking at, in a sentence; ``state`` is what the session then holds."""

    title: str
    sentence: str
    icon: str
    state: dict[str, Any]


def welcome(view: View) -> None:
    """Explain the map and offer the stories."""
    colour = columns.menu_columns(view.table)[st.session_state.colour]
    test = view.table[view.table.part == "test"]
    right = test.correct.dropna().mean()
    links = "a citation" if view.graph.noun.one == "paper" else "a link"
    labelled = len(view.result.split.train)
    st.markdown(
        view.say("Every dot is a node, every line ") + f"{links}. The model was given the classes "
        f"of {view.graph.noun.count(labelled)} and guesses all the others: it gets "
        f"**{percent(float(right))}** of the test {view.graph.noun.many} right. "
        f"**{view.say(colour.map_sentence(view.theme.dark))}**"
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
    if view.graph.names is None:
        st.button(
            "**Try it on things you know.** A graph of octopus, chess, caffeine and 1,300 other "
            "things, in words that everybody can read.",
            icon=":material/menu_book:",
            key="story_almanac",
            on_click=_open_almanac,
            width="stretch",
        )


def _open_almanac() -> None:
    selected_node.reset_for_graph()
    st.session_state.graph = almanac.SOURCE.name
    st.rerun()  # the sidebar, too


def stories(view: View) -> list[Story]:
    """The stories that this run has, about its own nodes."""
    candidates = (_mistake(view), _hub_and_leaf(view), _never_shown(view))
    return [story for story in candidates if story is not None]


def _open(story: Story) -> None:
    selected_node.pick(story.state["node"])
    st.session_state.update(story.state)
    st.rerun()  # the story may be about another run


def _mistake(view: View) -> Story | None:
    """The test node of a known class that the model gets wrong with the greatest confidence."""
    table = view.table
    wrong = table[table.correct.eq(False).fillna(False) & ~table.ood & (table.part == "test")]
    if not len(wrong):
        return None
    row = wrong.loc[wrong.confidence.idxmax()]
    sentence = (
        f"The model is {percent(row.confidence)} sure that {escaped(view.call(row.name, 'node'))} "
        f"belongs to {escaped(row.predicted)}. In truth it is {escaped(row.true)}."
    )
    if not why_no_reasons(view.result) and view.loaded_run.reasoner.is_fast:
        sentence += f" {sentences.because(view.loaded_run.reasons(int(row.name)), escaped)}"
    state = {"node": str(row.id), "tab": why.TAB}
    return Story("A confident mistake", sentence, ":material/cancel:", state)


def _hub_and_leaf(view: View) -> Story | None:
    """The node of most links among those with a leaf, and the most doubtful of its leaves."""
    graph, table = view.graph, view.table
    starts, ends = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    hubs = starts[graph.degree[ends] == 1]
    if not len(hubs):
        return None
    hub = int(hubs[graph.degree[hubs].argmax()])
    neighbours = graph.neighbours(hub)
    leaves = neighbours[graph.degree[neighbours] == 1]
    name, column = next(iter(columns.score_columns(table).items()))
    doubt = column.shade(table[name].to_numpy(float))
    leaf = int(leaves[np.argmax(doubt[leaves])])
    sentence = (
        f"{escaped(view.call(hub))} has {len(neighbours):,} links; "
        f"{escaped(graph.name_of(leaf))} has a single link, to that hub. {column.label}: "
        f"{table[name].iloc[hub]:.2f} and {table[name].iloc[leaf]:.2f}."
    )
    state = {"node": graph.node_id(leaf), "pin": graph.node_id(hub), "tab": "Compare"}
    return Story("A hub and a leaf", sentence, ":material/hub:", state)


def _never_shown(view: View) -> Story | None:
    """A node that the model gets wrong only because its class was left out of its training."""
    graph, spec = view.graph, view.spec
    hides = bool(spec.left_out)
    left_out = spec.left_out or (graph.num_classes - 1,)
    other = dataclasses.replace(spec, left_out=() if hides else left_out)
    loaded_run = run_cache.find(other, graph)
    if loaded_run is None:
        return None if METHODS[spec.method].is_imported else _one_to_train(view, other, left_out)
    without, with_class = (view.loaded_run, loaded_run) if hides else (loaded_run, view.loaded_run)
    nodes = errors_from_left_out(without.result, with_class.result, graph)
    if not len(nodes):
        return None
    node = int(nodes[0])
    row, row_with_class = without.table.iloc[node], with_class.table.iloc[node]
    sentence = (
        f"A model that has never seen {escaped(row.true)} takes {escaped(graph.name_of(node))} for "
        f"{escaped(row.predicted)}, {percent(row.confidence)} sure. Shown the class, the "
        f"same model is right, {percent(row_with_class.confidence)} sure."
    )
    return _unseen_story(sentence, left_out, node, graph)


def _one_to_train(view: View, other: Spec, left_out: tuple[int, ...]) -> Story | None:
    """The same story while the other run is not trained: about the surest node of this run."""
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
    takes = (
        f"The model takes {escaped(graph.name_of(row.name))} for {escaped(row.predicted)}, "
        f"{percent(row.confidence)} sure. "
    )
    sentence = takes + (
        f"It has never seen {escaped(name)}: train it with that class, in seconds, and compare."
        if view.spec.left_out
        else f"Train it without {escaped(name)}, in seconds, and see what it says then."
    )
    return _unseen_story(sentence, other.left_out, int(row.name), graph)


def _unseen_story(sentence: str, left_out: tuple[int, ...], node: int, graph: bup.Graph) -> Story:
    state = {"left_out": list(left_out), "tab": "Answer", "node": graph.node_id(node)}
    return Story("A class never shown", sentence, ":material/help:", state)


def _train_ahead(spec: Spec, view: View) -> None:
    """Train the story's run while the visitor reads: for the app's first run, on a small graph."""
    untouched = dict(spec.settings) == run_link.app_defaults(spec.method) and not view.spec.left_out
    if untouched and spec.method == Spec.method and view.graph.num_nodes <= MOST_NODES_AHEAD:
        try:
            training_queue().submit(run_of(spec, view.graph), view.graph, visitor_id())
        except bup.BupError:  # the queue is full: the run trains when the visitor opens the story
            return
