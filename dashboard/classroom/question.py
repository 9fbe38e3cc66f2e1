"""What a lesson asks, and how a class answered."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

import bup

MOST_OPTIONS = 12
MOST_LETTERS = 2000  # of the question, and of all its options together


@dataclass(frozen=True)
class LessonQuestion:
    """A question with its options; ``right`` is the place of the right one, None if it has none."""

    name: str
    words: str
    options: tuple[str, ...]
    right: int | None

    def __post_init__(self) -> None:
        if not 2 <= len(self.options) <= MOST_OPTIONS:
            raise bup.BupError(
                f"a question has 2 to {MOST_OPTIONS} options, got {len(self.options)}"
            )
        if self.right is not None and not 0 <= self.right < len(self.options):
            raise bup.BupError(
                f"the right option must be one of {len(self.options)}, got number {self.right}"
            )
        longest = max(len(self.name) + len(self.words), sum(map(len, self.options)))
        if longest > MOST_LETTERS:
            raise bup.BupError(
                f"a question has at most {MOST_LETTERS:,} letters, and so have its options: "
                f"got {longest:,}"
            )

    @property
    def id(self) -> str:
        """The same for the same words: what is asked otherwise is counted apart."""
        content = json.dumps([self.name, self.words, self.options, self.right])
        return hashlib.sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Tally:
    """How often each option of a question was guessed, and before a discussion if there was one."""

    question: LessonQuestion
    counts: tuple[int, ...]
    revealed: bool
    before: tuple[int, ...] = ()

    @property
    def guesses(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Guess:
    student: int  # counts from 1, in no order that tells who it is
    question: LessonQuestion
    choice: int


def as_csv(guesses: Iterable[Guess]) -> str:
    """A row per guess."""
    import pandas as pd  # slow to import, and few ask for this

    from bup.io.csv import csv_text

    columns = ["student", "question", "guess", "right answer", "right"]
    rows = []
    for guess in guesses:
        question, right = guess.question, guess.question.right
        judged = (
            ("", "")
            if right is None
            else (
                question.options[right],
                "yes" if guess.choice == right else "no",
            )
        )
        rows.append((guess.student, question.words, question.options[guess.choice], *judged))
    return csv_text(pd.DataFrame(rows, columns=columns))
