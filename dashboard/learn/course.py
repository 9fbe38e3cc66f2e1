"""The lessons, in their order: a Markdown file each, named by number and address."""

import re
from dataclasses import dataclass

from bup.graph.noun import PAPER, Noun
from dashboard.learn.texts import FOLDER, QuestionText, Text, read_text


@dataclass(frozen=True)
class Lesson:
    number: int
    name: str
    """Part of the address of its page."""
    texts: Text
    noun: Noun = PAPER
    """What its texts, which are about papers, call the nodes of the graph that is chosen."""

    @property
    def address(self) -> str:
        return f"learn-{self.number}-{self.name}"

    @property
    def title(self) -> str:
        return self.texts.field("title")

    @property
    def question(self) -> str:
        return self.texts.field("question")

    @property
    def icon(self) -> str:
        return f":material/{self.texts.field('icon')}:"

    @property
    def words(self) -> list[str]:
        """Words of the glossary that the lesson uses."""
        return self.texts.field("words").split(", ")

    def text(self, heading: str, **values: object) -> str:
        return self.say(self.texts.text(heading, **values))

    def asked(self, name: str, **values: object) -> QuestionText:
        question = self.texts.question(name, **values)
        options, replies = (
            tuple(map(self.say, texts)) for texts in (question.options, question.replies)
        )
        return QuestionText(self.say(question.words), options, replies)

    def say(self, text: str) -> str:
        """Put the noun of the graph into a text about papers."""
        return re.sub(r"\bpaper(s?)\b", lambda m: self.noun.many if m[1] else self.noun.one, text)

    @property
    def takeaway(self) -> str:
        """What to keep, in one sentence."""
        return self.text("To keep")


def _lesson(name: str) -> Lesson:
    number, _, rest = name.partition("-")
    return Lesson(int(number), rest, read_text(f"lessons/{name}.md"))


LESSONS = tuple(_lesson(path.stem) for path in sorted((FOLDER / "lessons").glob("*.md")))
