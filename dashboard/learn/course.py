"""The lessons, in their order: a Markdown file each, named by number and address."""

from dataclasses import dataclass

from dashboard.learn.texts import FOLDER, Text, read_text


@dataclass(frozen=True)
class Lesson:
    number: int
    name: str
    """Part of the address of its page."""
    texts: Text

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
        return self.texts.text(heading, **values)

    @property
    def takeaway(self) -> str:
        """What to keep, in one sentence."""
        return self.text("To keep")


def _lesson(name: str) -> Lesson:
    number, _, rest = name.partition("-")
    return Lesson(int(number), rest, read_text(f"lessons/{name}.md"))


LESSONS = tuple(_lesson(path.stem) for path in sorted((FOLDER / "lessons").glob("*.md")))
