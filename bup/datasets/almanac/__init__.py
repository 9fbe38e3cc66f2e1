"""Almanac: things that everybody knows, in text files that a person can edit.

A file holds one class, and a line of it one thing: ``title | words about it | see also; see also``.
A link goes both ways, and one of its two lines names it. ``docs/almanac.md`` tells more.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bup.datasets.graph_source import GraphSource
from bup.errors import BupError, quote
from bup.graph import Graph, simple_edges
from bup.graph.noun import Noun
from bup.graph.words import tfidf

_FOLDER = Path(__file__).parent
_NOTE = "Features are {:,} words of the lines about the things, by TF-IDF."


@dataclass(frozen=True)
class Line:
    """What a file says of one thing, and where."""

    where: str
    label: int
    words: str
    see_also: list[str]


def load(name: str, folder: Path = _FOLDER) -> Graph:
    """The graph of the text files in a folder, each named after its class."""
    files = sorted(folder.glob("*.txt"))
    lines = _read(files)
    number = {title: i for i, title in enumerate(lines)}
    links = np.array([(number[a], number[b]) for a, b in _links(lines)]).T
    texts = tuple(line.words for line in lines.values())
    features, words = tfidf(texts, fewest=1)
    return Graph(
        name=name,
        features=features,
        edges=simple_edges(*links),
        labels=np.array([line.label for line in lines.values()]),
        class_names=tuple(file.stem.replace("-", " ") for file in files),
        ids=tuple(lines),
        titles=texts,
        notes=(_NOTE.format(len(words)),),
        words=words,
        noun=Noun("thing", "things"),
    )


def _read(files: list[Path]) -> dict[str, Line]:
    """The lines of all files by their titles."""
    lines: dict[str, Line] = {}
    for label, file in enumerate(files):
        for at, text in enumerate(file.read_text("utf-8").splitlines(), 1):
            where = f"{file.name}, line {at}"
            title, *rest = (field.strip() for field in text.split("|"))
            if len(rest) != 2 or not title or not rest[0]:
                raise BupError(
                    f"{where}: {quote(text)} is not a thing: write 'title | words | see also; "
                    "see also'"
                )
            if title in lines:
                raise BupError(
                    f"{where}: {quote(title)} is already in {lines[title].where}: give each thing "
                    "one line and its own title"
                )
            see_also = [other.strip() for other in rest[1].split(";")] if rest[1] else []
            lines[title] = Line(where, label, rest[0], see_also)
    return lines


def _links(lines: dict[str, Line]) -> list[tuple[str, str]]:
    """All links, each once."""
    where: dict[frozenset[str], str] = {}
    links = []
    for title, line in lines.items():
        for other in line.see_also:
            link = frozenset((title, other))
            if other not in lines:
                problem = "no line has this title: correct it, or add a line"
            elif other == title:
                problem = "a thing does not link to itself: take this link out"
            elif link in where:
                problem = f"this link is already in {where[link]}: keep one of the two"
            else:
                where[link] = line.where
                links.append((title, other))
                continue
            raise BupError(f"{line.where}: {quote(title)} links to {quote(other)}: {problem}")
    return links


SOURCE = GraphSource(
    name="almanac",
    title="Things that everybody knows, in words that everybody can read",
    load=load,
    label=str.capitalize,
    data="in the package",
    open_to_visitors=True,
)
