"""The glossary as a page."""

from __future__ import annotations

import streamlit as st

from dashboard.learn import lesson
from dashboard.learn.glossary import TERMS


def main() -> None:
    lesson.head("Learn · Glossary", "What do the words mean?")
    wanted = st.text_input("Find a word", key="word", placeholder="variance").strip().lower()
    found = {
        word: term
        for word, term in TERMS.items()
        if wanted in word.lower() or wanted in term.meaning.lower()
    }
    if not found:
        st.info("No word of ours has that in it.")
        return
    rows = ["| Word | In the paper | Meaning | Lesson |", "|---|---|---|---|"]
    for word, term in sorted(found.items(), key=lambda item: item[0].lower()):
        # A bar would end the table's cell, so the symbols are written without one.
        symbol = f"${term.symbol}$" if term.symbol else ""
        rows.append(f"| **{word}** | {symbol} | {term.meaning} | {_where(term.lesson)} |")
    st.markdown("\n".join(rows))
    st.caption(
        "Symbols are those of Xu, Lawrence, Shaker and Siarheyeu, “Uncertainty Propagation in Node "
        "Classification” (ICDM 2022)."
    )


def _where(number: int | None) -> str:
    if number is None:
        return ""
    return f"[{number}]({lesson.LESSONS[number - 1].path})"


main()
