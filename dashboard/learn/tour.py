"""Guided tours: a card goes along from page to page and marks what it describes.

The address holds the number of the stop (``tour=3``), so that a tour can be left, resumed and sent.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dashboard.cache import graphs
from dashboard.components.guide import Card, guide
from dashboard.learn import cases
from dashboard.learn.texts import read_text
from dashboard.session import run_link, url
from dashboard.session.navigation import addresses, page_link

PARAMETER = "tour"
FOR_LECTURERS = "lecturers-"
TOURS = {"": "tour.md", FOR_LECTURERS: "tour-lecturers.md"}
"""The file of a tour by what stands before the number of its stop in the address."""


@dataclass(frozen=True)
class Stop:
    title: str
    text: str
    address: str
    marks: str  # a CSS selector of what the text describes
    query: dict[str, str]


def stops_of(series: str) -> list[Stop]:
    """The stops of a tour: on Cora, or on the almanac where Cora has not been fetched."""
    name = cases.graph_name()
    graph = graphs.graph(name)
    values = {"graph": run_link.graph_label(name), "hidden": graph.class_names[-1]}
    stops = []
    for title, section in read_text(TOURS[series]).sections.items():
        fields = dict(section.fields)
        query = {
            key: section.fill(value, values) for key, value in parse_qsl(fields.get("query", ""))
        }
        text = graph.noun.apply_to(section.text(**values))
        stops.append(Stop(title, text, fields["page"], fields["marks"], query))
    return stops


def _address(stop: Stop, mark: str) -> str:
    """Relative to any page."""
    page = "." if stop.address == addresses()[0] else stop.address
    return f"{page}?{urlencode(stop.query | {PARAMETER: mark})}"


def walk() -> None:
    """The card of the stop that the address names, if it names one."""
    mark = url.get(PARAMETER)
    series = FOR_LECTURERS if mark.startswith(FOR_LECTURERS) else ""
    number = mark.removeprefix(series)
    stops = stops_of(series) if number else []
    if number not in {str(i + 1) for i in range(len(stops))}:
        return
    at = int(number) - 1
    st.session_state[f"tour_at_{series}"] = at

    def way(to: int) -> str | None:
        return _address(stops[to], f"{series}{to + 1}") if 0 <= to < len(stops) else None

    stop = stops[at]
    place = f"Stop {number} of {len(stops)}"
    back, onward = way(at - 1), way(at + 1)
    guide(Card(place, stop.title, stop.text, stop.marks, back, onward, PARAMETER))


def page() -> None:
    st.title("What is there to see?")
    st.markdown(
        "Seven stops, three minutes. A card goes along from page to page and marks what it "
        "describes; everything works while it is there. Leave whenever you like: you can go on "
        "here later. Where no model has been trained yet, the page offers to train one, in seconds."
    )
    _tour("The tour", "")
    _tour("For lecturers", FOR_LECTURERS)


def _tour(name: str, series: str) -> None:
    stops = stops_of(series)
    with st.container(border=True):
        st.subheader(name)
        at = st.session_state.get(f"tour_at_{series}", 0)
        label = "Start" if at == 0 else f"Go on at stop {at + 1}: {stops[at].title}"
        stop = stops[at]
        mark = {PARAMETER: f"{series}{at + 1}"}
        page_link(stop.address, label, ":material/play_arrow:", stop.query | mark)
        st.caption(" · ".join(rf"{number}\. {stop.title}" for number, stop in enumerate(stops, 1)))
