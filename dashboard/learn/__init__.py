"""Lessons to play with: they bring their own small data and need no chosen run."""

from __future__ import annotations

import streamlit as st

from dashboard.learn.lesson import LESSONS

PATH = "learn"
"""Every page of this section has an address that begins so."""


def top(title: str) -> None:
    """Above every page: where one is, and the switch for a projector.

    Called by the app and not by the pages, so that the switch stays as it is from page to page.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.caption(f"Learn · {title}", width="content")
        st.toggle(
            "Large text", key="large", bind="query-params", help="For a projector.", width="content"
        )


def pages() -> list:
    lessons = [
        st.Page(
            lesson.file,
            title=f"{lesson.number}. {lesson.title}",
            icon=lesson.icon,
            url_path=lesson.path,
        )
        for lesson in LESSONS
    ]
    start = st.Page("learn/start.py", title="Start here", icon=":material/school:", url_path=PATH)
    return [
        start,
        *lessons,
        st.Page(
            "learn/tour.py",
            title="A tour of the dashboard",
            icon=":material/route:",
            url_path=f"{PATH}-tour",
        ),
        st.Page(
            "learn/words.py",
            title="Glossary",
            icon=":material/dictionary:",
            url_path=f"{PATH}-glossary",
        ),
        st.Page(
            "learn/lecturers.py",
            title="For lecturers",
            icon=":material/cast_for_education:",
            url_path=f"{PATH}-lecturers",
        ),
    ]
