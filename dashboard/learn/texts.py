"""Texts of the Learn section: Markdown files with placeholders for computed numbers.

A file begins with lines ``name: value``; then come sections under ``## headings``. A section may
begin with fields of its own, ``- name: value``. A placeholder is written as in Python,
``{share:.0%}``. Lines may be wrapped anywhere: those of a paragraph are joined when a file is read.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bup import BupError

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Section:
    """What stands below one heading."""

    place: str  # file and heading, for errors
    fields: tuple[tuple[str, str], ...]  # a name may occur several times
    paragraphs: tuple[str, ...]

    def text(self, **values: object) -> str:
        return self.fill("\n\n".join(self.paragraphs), values)

    def fill(self, template: str, values: Mapping[str, object]) -> str:
        """The template with a value for each placeholder."""
        try:
            return template.format_map(values)
        except (LookupError, ValueError, AttributeError, TypeError) as error:
            raise BupError(
                f"{self.place}: a placeholder does not fit ({error!r}): it may be one of "
                f"{', '.join(values) or 'none'}"
            ) from error


@dataclass(frozen=True)
class QuestionText:
    """A question with its options, and what is said to each wrong guess."""

    words: str
    options: tuple[str, ...]
    replies: tuple[str, ...]  # empty for the right option


@dataclass(frozen=True)
class Text:
    """A Markdown file."""

    path: Path
    fields: Mapping[str, str]
    sections: Mapping[str, Section]

    def field(self, name: str) -> str:
        if name not in self.fields:
            raise BupError(f"{self.path.name} begins without a line “{name}: ...”: add it")
        return self.fields[name]

    def section(self, heading: str) -> Section:
        if heading not in self.sections:
            raise BupError(f"{self.path.name} has no section “## {heading}”: add it")
        return self.sections[heading]

    def text(self, heading: str, **values: object) -> str:
        return self.section(heading).text(**values)

    def question(self, name: str, **values: object) -> QuestionText:
        """``## Question: name``: words, then a list of options, each with a quoted reply."""
        section = self.section(f"Question: {name}")
        words = [p for p in section.paragraphs if not p.startswith("- ")]
        options = [p[2:].partition(" > ") for p in section.paragraphs if p.startswith("- ")]
        return QuestionText(
            section.fill(" ".join(words), values),
            tuple(section.fill(option, values) for option, _, _ in options),
            tuple(section.fill(reply.replace(" > ", " "), values) for _, _, reply in options),
        )


@functools.cache
def read_text(name: str) -> Text:
    """The text of a file in this folder, such as ``lessons/01-confident.md``; read once."""
    path = FOLDER / name
    head, *parts = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)
    fields = dict(re.findall(r"^(\w+): (.*)$", head, flags=re.M))
    sections = {}
    for part in parts:
        heading, _, body = part.partition("\n")
        sections[heading] = _section(f"{path.name}, “{heading}”", body)
    return Text(path, fields, sections)


def _section(place: str, body: str) -> Section:
    blocks = re.split(r"\n\s*\n|\n(?=- )", body.strip())
    paragraphs = [" ".join(line.strip() for line in block.splitlines()) for block in blocks]
    fields = []
    while paragraphs and (match := re.fullmatch(r"- (\w+): (.*)", paragraphs[0])):
        fields.append((match[1], match[2]))
        paragraphs.pop(0)
    return Section(place, tuple(fields), tuple(paragraphs))
