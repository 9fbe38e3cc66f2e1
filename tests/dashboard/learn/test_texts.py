"""Texts are read from Markdown; what does not fit is one line that names the place."""

import pytest

from bup import BupError
from dashboard.learn import texts

TEXT = """title: A title
icon: hub

## Introduction

First line,
second line: {share:.0%}.

Another paragraph.

## Question: expect

How many of {count}?

- none
- all {count}
  > A reply,
  > on two lines.

## Notes

- ask: One?
- ask: Two,
  on two lines?

Text.
"""


@pytest.fixture
def text(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    (tmp_path / "a.md").write_text(TEXT, encoding="utf-8")
    yield texts.read_text("a.md")
    texts.read_text.cache_clear()


def test_lines_are_joined_and_placeholders_filled(text):
    assert text.fields == {"title": "A title", "icon": "hub"}
    wanted = "First line, second line: 25%.\n\nAnother paragraph."
    assert text.text("Introduction", share=0.25) == wanted
    notes = text.section("Notes")
    assert notes.fields == (("ask", "One?"), ("ask", "Two, on two lines?"))
    assert notes.text() == "Text."


def test_a_question_has_options_and_replies(text):
    question = text.question("expect", count=3)
    assert question.words == "How many of 3?"
    assert question.options == ("none", "all 3")
    assert question.replies == ("", "A reply, on two lines.")


@pytest.mark.parametrize(
    "read, words",
    [
        (lambda text: text.text("Introduction"), "a.md, “Introduction”: .*'share'"),
        (lambda text: text.text("Introduction", share="x", more=1), "may be one of share, more"),
        (lambda text: text.question("expect"), "Question: expect.*'count'"),
        (lambda text: text.text("Conclusion"), "a.md has no section “## Conclusion”"),
        (lambda text: text.field("words"), "a.md begins without a line “words: ...”"),
    ],
)
def test_what_is_missing_is_named(text, read, words):
    with pytest.raises(BupError, match=words):
        read(text)
