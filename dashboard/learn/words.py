"""The glossary as a page."""

from __future__ import annotations

import streamlit as st

from dashboard.learn import lesson
from dashboard.learn.glossary import TERMS


def page() -> None:
    st.title("What do the words mean?")
    wanted = st.text_input("Find a word", key="word", placeholder="variance").strip().lower()
    found = {
        word: term
        for word, term in TERMS.items()
        if wanted in word.lower() or wanted in term.meaning.lower()
    }
    if not found:
        st.info("No word of ours has that in it.")
        return
    words = sorted(found, key=str.lower)
    half = -(-len(words) // 2)
    for column, some in zip(st.columns(2, gap="large"), (words[:half], words[half:]), strict=True):
        column.markdown("\n\n".join(_entry(word) for word in some))
    st.caption(
        "Symbols are those of Xu, Lawrence, Shaker and Siarheyeu, “Uncertainty Propagation in Node "
        "Classification” (ICDM 2022)."
    )


def _entry(word: str) -> str:
    term = TERMS[word]
    symbol = f" ${term.symbol}$" if term.symbol else ""
    number = term.lesson
    where = f" [Lesson {number}]({lesson.LESSONS[number - 1].address})" if number else ""
    return f"**{word}**{symbol}  \n{term.meaning}{where}"
