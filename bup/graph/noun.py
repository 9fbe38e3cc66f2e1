"""What people call the nodes of a graph: papers, pages, products."""

import re
from dataclasses import dataclass

from bup.errors import BupError

LONGEST = 30


@dataclass(frozen=True)
class Noun:
    """The word for a node. Texts are written about nodes; ``apply_to`` puts this word into them."""

    one: str = "node"
    many: str = "nodes"

    def __post_init__(self) -> None:
        for word in (self.one, self.many):
            # A word from a file appears in sentences, charts and tables: no markup.
            if not re.fullmatch(rf"\w[\w -]{{0,{LONGEST - 1}}}", word):
                raise BupError(
                    f"a noun for nodes is a word of at most {LONGEST} letters, got {word!r}"
                )

    def apply_to(self, text: str) -> str:
        """The text with this word in place of "node": "a node" becomes "an article"."""
        return _NODES.sub(self._replacement, text) if self != NODE else text

    def count(self, number: int) -> str:
        return f"{number:,} {self.one if number == 1 else self.many}"

    def _replacement(self, match: re.Match[str]) -> str:
        article, space, node, plural = match.groups()
        word = self.many if plural else self.one
        if node == "N":
            word = word[0].upper() + word[1:]
        if article and self.one[0].lower() in "aeiou":
            article += "n"
        return f"{article or ''}{space or ''}{word}"


_NODES = re.compile(r"\b(?:([Aa])( ))?([Nn])ode(s?)\b")

NODE = Noun()
PAPER = Noun("paper", "papers")
