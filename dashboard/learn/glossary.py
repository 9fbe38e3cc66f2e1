"""The glossary, read from its file: the glossary page and every explanation show these words."""

from dataclasses import dataclass

from bup.metrics import METRICS
from dashboard.learn.texts import Section, read_text


@dataclass(frozen=True)
class Term:
    meaning: str
    page: str  # the address of the page that shows it in the chosen run
    symbol: str = ""  # as the paper writes it, in LaTeX
    lesson: int | None = None  # the lesson about it


def _term(section: Section) -> Term:
    fields = dict(section.fields)
    return Term(
        METRICS[fields["metric"]].meaning if "metric" in fields else section.text(),
        fields["page"],
        fields.get("symbol", ""),
        int(fields["lesson"]) if "lesson" in fields else None,
    )


TERMS = {word: _term(section) for word, section in read_text("glossary.md").sections.items()}


def meaning(word: str) -> str:
    return TERMS[word].meaning
