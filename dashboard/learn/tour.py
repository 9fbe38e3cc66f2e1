"""A guided tour of the dashboard: every stop opens a page at the right place."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from dashboard import graphs, state
from dashboard.learn import cases
from dashboard.links import link


@dataclass(frozen=True)
class Stop:
    title: str
    look: str  # what to look at, and do
    address: str
    query: dict[str, str] = field(default_factory=dict)


def stops() -> list[Stop]:
    """On Cora, or on the synthetic graph where Cora has not been fetched."""
    name = cases.graph_name()
    here = {"graph": state.graph_label(name)}
    hidden = graphs.graph(name).class_names[-1]
    return [
        Stop(
            "The map",
            "Every point is a paper, and its colour is how unsure the model is of its message. "
            "Click a point: on the right you see its class probabilities with their intervals. "
            "Press N for the next paper, X for any.",
            "explore",
            here | {"colour": "Message std"},
        ),
        Stop(
            "Why this uncertainty?",
            "Beside the map, *Why?* takes a paper's variance apart: what "
            "every neighbour did to it, step by step.",
            "explore",
            here | {"tab": "Why?"},
        ),
        Stop(
            "What if?",
            "Remove a link of the picked paper, or add one, and see its answer change at once. "
            "Nothing is trained again.",
            "explore",
            here | {"tab": "What if?"},
        ),
        Stop(
            "Can the confidence be trusted?",
            "The reliability diagram of the chosen model, with the GCN's beside it. Click a bin to "
            "see its papers. Further down: answer only when sure.",
            "reliability",
            here | {"rival": "GCN"},
        ),
        Stop(
            "A class it has never seen",
            f"The model trained without {hidden}. Change the score and watch how well it tells "
            "known from unknown. At the bottom: unknown papers with confident answers.",
            "ood",
            here | {"left_out": hidden},
        ),
        Stop(
            "Does uncertainty follow the links?",
            "Uncertainty against degree and against distance to the training papers, and how much "
            "of it the links alone explain.",
            "structure",
            here,
        ),
        Stop(
            "Which method is better?",
            "Several methods on the same papers, side by side, and where they disagree.",
            "compare",
            here,
        ),
    ]


def page() -> None:
    st.title("What is there to see?")
    st.markdown(
        "Seven stops. Each link opens a page at the right place; come back with your browser's "
        "back button. A model that nobody has trained yet offers to train first, which takes "
        "seconds."
    )
    for number, stop in enumerate(stops(), start=1):
        with st.container(border=True):
            st.markdown(f"**{number}. {stop.title}**")
            st.markdown(stop.look)
            link(stop.address, "Go there", ":material/arrow_forward:", stop.query)
