"""What a page is given to draw: a finished run, a picked node, colours."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from bup.calibrators import Calibrator
from bup.errors import BupError
from bup.graph import Graph
from bup.graph.noun import NODE, Noun
from bup.methods import METHODS, probability_calibrator, why_no_interval
from bup.methods.base import Explains
from bup.propagation import RULES, Rule
from bup.results.result import EvalSet, Result
from bup.run.spec import Run, Spec
from dashboard.cache import graphs
from dashboard.cache.run_cache import LoadedRun
from dashboard.ui.theme import Theme


@dataclass(frozen=True, eq=False)
class View:
    """Everything that a page draws: a trained run, a picked node and the theme."""

    loaded_run: LoadedRun
    node: int  # the first test node until the visitor picks one
    theme: Theme
    picked: bool = True

    @property
    def marked(self) -> tuple[int, ...]:
        """The nodes that charts mark with a ring: the picked one, if there is one."""
        return (self.node,) if self.picked else ()

    @property
    def run(self) -> Run:
        return self.loaded_run.run

    @property
    def spec(self) -> Spec:
        return self.run.spec

    @property
    def graph(self) -> Graph:
        return self.loaded_run.graph

    @property
    def result(self) -> Result:
        return self.loaded_run.result

    @property
    def table(self) -> pd.DataFrame:
        return self.loaded_run.table

    @property
    def positions(self) -> np.ndarray:
        return graphs.layout(self.graph).points

    @property
    def explains(self) -> Explains:
        """What the run's method can explain of a node beside its probabilities."""
        return METHODS[self.spec.method].explains

    @property
    def rule(self) -> Rule | None:
        """The run's propagation rule; None if its method has none."""
        return RULES.get(str(dict(self.spec.settings).get("propagation")))

    @property
    def recalibrated(self) -> Calibrator | None:
        """The calibrator of the probabilities; None if they follow from the messages alone."""
        return probability_calibrator(self.spec)

    @property
    def no_interval(self) -> str:
        """Why the probabilities have no credible interval; empty if they have one."""
        return why_no_interval(self.spec)

    @property
    def answers(self) -> list[str]:
        """Names of the classes that the model predicts, in the order of its outputs."""
        return [self.graph.class_names[c] for c in self.result.split.classes]

    def judged(self) -> EvalSet:
        return self.result.judged(self.graph)

    def call(self, node: int, noun: str = "Node") -> str:
        """A node's name, or such as "Paper 35" where nodes have none; ``noun`` may begin small."""
        name = self.graph.name_of(node)
        return name if self.graph.names else f"{self.say(noun)} {name}"

    def describe(self, node: int) -> str:
        """The same, and what there is to read about the node."""
        about = self.graph.about(node)
        return self.call(node) + (f": {about}" if about else "")

    def name_of_id(self, node_id: str) -> str:
        """The name behind an id that the session holds; the id, if the graph has no such node."""
        try:
            return self.graph.name_of(self.graph.find(node_id))
        except BupError:
            return node_id

    def say(self, text: str) -> str:
        """Put the graph's word for its nodes into a text; it must hold no names from the data."""
        return self.graph.noun.apply_to(text)


def current_theme(noun: Noun = NODE) -> Theme:
    return Theme(
        dark=st.context.theme.type == "dark",
        large=bool(st.session_state.get("large", False)),
        noun=noun,
    )
