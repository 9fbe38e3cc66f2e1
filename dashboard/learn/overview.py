"""Where to begin: the lessons and what each is about."""

import streamlit as st

from dashboard.learn import lesson
from dashboard.session.navigation import page_link


def page() -> None:
    st.title("How sure is a network of what it says?")
    st.markdown(
        "Twelve small experiments about the uncertainty of neural networks on graphs. Each has "
        "something to drag, a guess to make before the answer shows, and one sentence to keep. "
        "They build on each other, but every one stands alone. Nothing needs to be installed or "
        "trained beforehand."
    )
    for row in (lesson.LESSONS[:4], lesson.LESSONS[4:8], lesson.LESSONS[8:]):
        for column, each in zip(st.columns(4), row, strict=False):
            with column, st.container(border=True, height="stretch"):
                st.markdown(f"{each.icon} **{each.question}**")
                page_link(each.address, f"{each.number}. {each.title}")
    st.markdown("**And then**")
    page_link("learn-tour", "A tour of the whole dashboard, in seven stops", ":material/route:")
    page_link(
        "learn-glossary", "Glossary: our words and the paper's symbols", ":material/dictionary:"
    )
    plan = "For lecturers: plans for 45 and 90 minutes, and a class"
    page_link("learn-lecturers", plan, ":material/cast_for_education:")
