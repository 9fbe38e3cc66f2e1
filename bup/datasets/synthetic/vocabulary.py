"""Words for the features of a drawn graph: those of a topic belong together."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

TOPICS = [
    line.split()
    for line in Path(__file__).with_name("topics.txt").read_text(encoding="utf-8").splitlines()
]
"""The words of each topic, the commonest first."""


def words_of(topic: np.ndarray) -> tuple[str, ...]:
    """A word for each feature, given the class [f] whose topic word it is; no word twice."""
    numbers: defaultdict[int, Iterator[int]] = defaultdict(count)
    return tuple(_word(k, next(numbers[k])) for k in topic.tolist())


def _word(topic: int, number: int) -> str:
    """The plain words of a topic, then pairs of them, then pairs with a number."""
    turn, place = divmod(topic, len(TOPICS))
    words = TOPICS[place]
    if number < len(words):
        word = words[number]
    else:
        times, pair = divmod(number - len(words), len(words) * (len(words) - 1))
        first, second = divmod(pair, len(words))
        # Along diagonals, so that the first pairs begin with different words.
        word = f"{words[second]}-{words[(first + second + 1) % len(words)]}"
        word += f"-{times + 1}" if times else ""
    return f"{word} {'I' * (turn + 1)}" if turn else word
