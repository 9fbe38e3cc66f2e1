"""The published figures of the graphs, and the hashes of their files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CitationGraph:
    label: str
    title: str
    nodes: int
    edges: int
    features: int
    class_sizes: Mapping[str, int]  # in the order of the class numbers
    members: Mapping[str, str]  # file name -> SHA-256
    note: str = ""


CITATION_GRAPHS: dict[str, CitationGraph] = {
    name: CitationGraph(**facts)
    for name, facts in tomllib.loads(
        Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
    ).items()
}
