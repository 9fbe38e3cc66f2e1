"""Tours that walk: a card goes along from page to page and shows what it speaks of.

Where one is stands in the address (``tour=3``), so that a stop can be left, resumed and sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st

from dashboard.cache import graphs
from dashboard.components.guide import guide
from dashboard.learn import cases
from dashboard.session import run_link
from dashboard.session.navigation import addresses, page_link

PARAMETER = "tour"
FOR_LECTURERS = "lecturers-"
"""Before the number of a stop, in the address, of the lecturers' tour."""


@dataclass(frozen=True)
class Stop:
    title: str
    look: str  # what to look at, and do
    address: str
    shows: str  # a CSS selector of what it speaks of
    query: dict[str, str] = field(default_factory=dict)


def visitors_stops() -> list[Stop]:
    """On Cora, or on the synthetic graph where Cora has not been fetched."""
    name = cases.graph_name()
    here = {"graph": run_link.graph_label(name)}
    hidden = graphs.graph(name).class_names[-1]
    return [
        Stop(
            "The map",
            "Every point is a paper, and its colour is how unsure the model is of its message: "
            "bright is doubt. Click a point, and what the model thinks of it stands beside the "
            "map. Press N for the next paper, X for a random one.",
            "explore",
            ".st-key-explore_map",
            here | {"colour": "Message uncertainty"},
        ),
        Stop(
            "Why so unsure?",
            "“Why?” takes the doubt about this paper apart: what every neighbour did to it, step "
            "by step, in numbers that add up.",
            "explore",
            ".st-key-explore_node",
            here | {"tab": "Why?"},
        ),
        Stop(
            "What if?",
            "Remove a link of this paper, or add one, and see its answer change at once. Nothing "
            "is trained again.",
            "explore",
            ".st-key-explore_node",
            here | {"tab": "What if?"},
        ),
        Stop(
            "Can the confidence be trusted?",
            "Of all answers given with 80% confidence, 80% should be right: then a bar ends on "
            "the diagonal. The GCN stands beside it. Click a bin to see its papers.",
            "reliability",
            ".stMain .stPlotlyChart, .stMain .bup-chart",
            here | {"rival": "GCN"},
        ),
        Stop(
            "A class it has never seen",
            f"This model never saw {hidden}. Change the score, and watch how well it tells known "
            "papers from unknown ones.",
            "ood",
            ".stMain .stPlotlyChart, .stMain .bup-chart",
            here | {"left_out": hidden},
        ),
        Stop(
            "Does doubt follow the links?",
            "Each point is a paper: its doubt against its number of links, and against the way to "
            "the nearest labels. Further down: how much of the doubt links alone explain.",
            "structure",
            ".st-key-against_degree",
            here,
        ),
        Stop(
            "Which method is better?",
            "Choose rivals here: they are judged on the same papers, side by side, with a test of "
            "whether the difference is more than luck. That was the tour; the lessons are next.",
            "compare",
            ".st-key-rivals",
            here,
        ),
    ]


def lecturers_stops() -> list[Stop]:
    here = {"graph": run_link.graph_label(cases.graph_name())}
    return [
        Stop(
            "A plan for your time",
            "Choose 45 or 90 minutes: the pages in their order, what to say, what to ask, and the "
            "wrong answer that you will usually hear.",
            "learn-lecturers",
            ".st-key-plan",
        ),
        Stop(
            "Start a class",
            "One click gives a code and a QR picture. Students join with their phones, without an "
            "account or a name, and the class ends by itself.",
            "class",
            ".st-key-class_start, .st-key-class_way_in",
        ),
        Stop(
            "Guess first",
            "Every lesson asks before it tells. In a class you see here what the room guesses, "
            "and the answer waits until you show it.",
            "learn-1-confident",
            "[class*=st-key-asked]",
        ),
        Stop(
            "Readable from the last row",
            "“Large text” is for the projector. It travels in the address, so links that you "
            "prepare keep it.",
            "learn-3-travel",
            ".st-key-large",
        ),
        Stop(
            "Any view is a link",
            "Pick a paper, colour the map, open a tab: the address says it all. In a class, “Send "
            "everybody here” above brings every phone to exactly this.",
            "explore",
            ".st-key-explore_bar",
            here,
        ),
        Stop(
            "One message, number by number",
            "For the blackboard minutes: every number of one paper's answer, each linked to its "
            "term in the formula.",
            "learn-8-follow",
            ".st-key-follow_canvas",
        ),
        Stop(
            "For afterwards",
            "An exercise sheet whose solutions are computed by the app, to print, and a notebook "
            "to start from.",
            "learn-lecturers",
            ".st-key-exercises",
        ),
    ]


def _address(stop: Stop, mark: str) -> str:
    """Relative to any page."""
    page = "." if stop.address == addresses()[0] else stop.address
    return f"{page}?{urlencode(stop.query | {PARAMETER: mark})}"


def walk() -> None:
    """The card of the stop that the address names, if it names one."""
    mark = st.query_params.get(PARAMETER, "")
    series = FOR_LECTURERS if mark.startswith(FOR_LECTURERS) else ""
    number = mark.removeprefix(series)
    stops = lecturers_stops() if series else visitors_stops() if number else []
    if number not in {str(i + 1) for i in range(len(stops))}:
        return
    at = int(number) - 1
    st.session_state[f"tour_at_{series}"] = at

    def way(to: int) -> str | None:
        return _address(stops[to], f"{series}{to + 1}") if 0 <= to < len(stops) else None

    stop = stops[at]
    guide(
        f"Stop {number} of {len(stops)}", stop.title, stop.look, stop.shows, way(at - 1),
        way(at + 1), PARAMETER,
    )  # fmt: skip


def page() -> None:
    st.title("What is there to see?")
    st.markdown(
        "Seven stops, three minutes. A card goes along from page to page and marks what it "
        "describes; everything works while it is there. Leave whenever you like: you can go on "
        "here later. Where no model has been trained yet, the page offers to train one, in seconds."
    )
    _tour("The tour", visitors_stops(), "")
    _tour("For lecturers", lecturers_stops(), FOR_LECTURERS)


def _tour(name: str, stops: list[Stop], series: str) -> None:
    with st.container(border=True):
        st.subheader(name)
        at = st.session_state.get(f"tour_at_{series}", 0)
        label = "Start" if at == 0 else f"Go on at stop {at + 1}: {stops[at].title}"
        stop = stops[at]
        mark = {PARAMETER: f"{series}{at + 1}"}
        page_link(stop.address, label, ":material/play_arrow:", stop.query | mark)
        st.caption(" · ".join(rf"{number}\. {stop.title}" for number, stop in enumerate(stops, 1)))
