"""The glossary as a page."""

from urllib.parse import quote

import streamlit as st

from dashboard.learn import lesson
from dashboard.learn.glossary import TERMS
from dashboard.learn.texts import FOLDER
from dashboard.session.navigation import page_link


def page() -> None:
    st.title("What do the words mean?")
    wanted = st.text_input("Find a word", key="word", placeholder="variance").strip().lower()
    terms = {
        word: term
        for word, term in TERMS.items()
        if wanted in word.lower() or wanted in term.meaning.lower()
    }
    if not terms:
        st.info("The glossary has no such word.")
        return
    words = sorted(terms, key=str.lower)
    half = -(-len(words) // 2)
    for column, some in zip(st.columns(2, gap="large"), (words[:half], words[half:]), strict=True):
        with column:
            for word in some:
                _entry(word)
    st.caption(
        "Symbols are those of Xu, Lawrence, Shaker and Siarheyeu, “Uncertainty Propagation in Node "
        "Classification” (ICDM 2022)."
    )


def _entry(word: str) -> None:
    term = TERMS[word]
    symbol = f" ${term.symbol}$" if term.symbol else ""
    one, two = st.columns([1, 6], vertical_alignment="center")
    one.html(picture(word))
    with two:
        st.markdown(f"**{word}**{symbol}  \n{term.meaning}")
        with st.container(horizontal=True, gap="small"):
            if term.lesson:
                about = lesson.LESSONS[term.lesson - 1]
                page_link(about.address, f"Lesson {term.lesson}", about.icon)
            page_link(term.page, "See it in this run", ":material/open_in_new:")


def picture(word: str) -> str:
    """The small picture of a word, as an image: Streamlit removes SVG between words.

    It has no alternative text: the words beside it say the same.
    """
    svg = (FOLDER / "svg" / f"{word.replace(' ', '-')}.svg").read_text(encoding="utf-8")
    return f'<img class="word" alt="" src="data:image/svg+xml,{quote(svg)}">'
