"""Graphs for node classification that PyTorch Geometric can download.

Only the files that the authors published are read, by parsers that build nothing but arrays. PyG's
processed files are pickles, so they are neither written nor read.
"""

import io
import json
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bup.datasets.citation.parse import parse_planetoid
from bup.datasets.graph_source import GraphSource
from bup.errors import BupError
from bup.graph import UNLABELLED, Graph
from bup.io import files
from bup.io.lazy import pandas as pd
from bup.io.lazy import sparse

PREFIX = "pyg:"
TEXTS = "node-text.csv.gz"  # what TAGDataset adds to a graph of OGB
_LONGEST_TITLE = 120  # letters of a text
_WIKICS_NAMES = "metadata.json"
_ARXIV_CLASSES = "arxiv/mapping/labelidx2arxivcategeory.csv.gz"  # so spelt
Parsed = dict[str, Any]
"""Arguments of ``Graph.from_arrays``."""


@dataclass(frozen=True)
class RawFiles:
    """The published files of a graph, and their parser."""

    folder: str  # below the folder of the set, as in PyG
    files: list[str]
    parse: Callable[[Mapping[str, bytes]], Parsed]
    url: str = ""  # of the folder with the files; empty: the set's URL in PyG
    about: str = ""  # a further file, with names: what was fetched without it is read without it


def _benchmark(raw: Mapping[str, bytes]) -> Parsed:
    """Adjacency and words as csr matrices, the format of the benchmark of Shchur et al."""
    (content,) = raw.values()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        words, links = (
            sparse.csr_array(
                tuple(arrays[f"{part}_{piece}"] for piece in ("data", "indices", "indptr")),
                shape=tuple(arrays[f"{part}_shape"]),
            )
            for part in ("attr", "adj")
        )
        words.data = (words.data > 0).astype(np.float32)  # as PyG does: a word occurs or does not
        words.eliminate_zeros()
        return {
            "features": words,
            "edges": np.stack(links.nonzero()).astype(np.int64),
            "labels": arrays["labels"].astype(np.int64),
            "class_names": _plain_names(arrays, "class_names"),
            "words": _plain_names(arrays, "attr_names"),
        }


def _plain_names(arrays: Any, name: str) -> tuple[str, ...] | None:
    """Names, if they are plain text; pickled objects, which some files have, are not opened."""
    try:
        names = arrays.get(name)
    except ValueError:
        return None
    is_text = names is not None and names.ndim == 1 and names.dtype.kind in "US"
    return tuple(map(str, names.astype(str))) if is_text else None


def _heterophilous(raw: Mapping[str, bytes]) -> Parsed:
    (content,) = raw.values()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {
            "features": arrays["node_features"],
            "edges": arrays["edges"].T.astype(np.int64),
            "labels": arrays["node_labels"].astype(np.int64),
        }


def _wikics(raw: Mapping[str, bytes]) -> Parsed:
    """The names of articles and classes are in a file of their own."""
    data = json.loads(raw["data.json"])
    names = {}
    if _WIKICS_NAMES in raw:
        about = json.loads(raw[_WIKICS_NAMES])
        names = {
            "titles": tuple(article["title"] for article in about["nodes"]),
            "class_names": tuple(about["labels"][str(k)] for k in range(len(about["labels"]))),
        }
    sources = np.repeat(np.arange(len(data["links"])), [len(to) for to in data["links"]])
    targets = np.array([j for to in data["links"] for j in to], dtype=np.int64)
    return {
        "features": np.array(data["features"], dtype=np.float32),
        "edges": np.stack([sources, targets]),
        "labels": np.array(data["labels"], dtype=np.int64),
        **names,
    }


def _tag(raw: Mapping[str, bytes]) -> Parsed:
    """OGB's tables; the beginnings of TAGDataset's texts become the titles."""
    texts = pd.read_csv(io.BytesIO(raw[TEXTS]), compression="gzip", dtype=str, na_filter=False)
    with zipfile.ZipFile(io.BytesIO(raw["arxiv.zip"])) as archive:

        def table(name: str) -> np.ndarray:
            content = io.BytesIO(archive.read(f"arxiv/raw/{name}.csv.gz"))
            return pd.read_csv(content, compression="gzip", header=None).to_numpy()

        return {
            "features": table("node-feat").astype(np.float32),
            "edges": table("edge").T.astype(np.int64),
            "labels": table("node-label")[:, 0].astype(np.int64),
            "titles": tuple(texts["text"].str.strip().str.slice(0, _LONGEST_TITLE).tolist()),
            "class_names": _arxiv_classes(archive),
        }


def _arxiv_classes(archive: zipfile.ZipFile) -> tuple[str, ...] | None:
    """The names that OGB gives the classes, such as "arxiv cs na"."""
    if _ARXIV_CLASSES not in archive.namelist():
        return None
    content = io.BytesIO(archive.read(_ARXIV_CLASSES))
    table = pd.read_csv(content, compression="gzip", dtype=str, na_filter=False)
    return tuple(table.iloc[:, 1].tolist())


_PARSERS = {
    "benchmark": _benchmark,
    "heterophilous": _heterophilous,
    "planetoid": parse_planetoid,
    "tag": _tag,
    "wikics": _wikics,
}
_TABLE = Path(__file__).with_name("pyg.toml").read_text(encoding="utf-8")
GRAPHS = {
    key: RawFiles(**facts | {"parse": _PARSERS[facts["parse"]]})
    for key, facts in tomllib.loads(_TABLE).items()
}


def load(name: str) -> Graph:
    """``pyg:Amazon/Photo``: from raw files in the cache, downloaded there if need be."""
    key = name.removeprefix(PREFIX)
    if key not in GRAPHS:
        raise BupError(f"PyG's {key!r} cannot be loaded here: choose {', '.join(GRAPHS)}")
    folder = raw_folder(key)
    if not is_downloaded(name):
        _download(key, folder)
    raw = GRAPHS[key]
    try:
        there = [file for file in (*raw.files, raw.about) if file and (folder / file).is_file()]
        parsed = raw.parse({file: (folder / file).read_bytes() for file in there})
        unlabelled = int((parsed["labels"] == UNLABELLED).sum())
        notes = [f"{unlabelled:,} nodes have no class."] if unlabelled else []
        return Graph.from_arrays(**parsed, name=name, notes=notes)
    except (BupError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can fail in a dozen ways
        raise BupError(
            f"the files of {key} in {folder} cannot be read ({type(error).__name__}: {error}): "
            "delete them and try again"
        ) from error


def raw_folder(key: str) -> Path:
    return files.cache_folder() / "pyg" / key.partition("/")[0] / GRAPHS[key].folder


def is_downloaded(name: str) -> bool:
    key = name.removeprefix(PREFIX)
    return key in GRAPHS and all((raw_folder(key) / file).is_file() for file in GRAPHS[key].files)


def _download(key: str, folder: Path) -> None:
    """Let PyG fetch what is missing, each file whole or not at all."""
    from torch_geometric import datasets
    from torch_geometric.data import download_google_url, download_url

    raw = GRAPHS[key]
    kind = getattr(datasets, key.partition("/")[0])
    for file in filter(None, (*raw.files, raw.about)):
        if (folder / file).is_file():
            continue
        partial = folder / f".{file}.part"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
            if file == TEXTS:
                text_id = kind.raw_text_id[key.partition("/")[2]]
                download_google_url(text_id, str(folder), partial.name, log=False)
            else:
                base = (raw.url or kind.url).removesuffix("/")
                url = base.format(Path(file).stem) if "{}" in base else f"{base}/{file}"
                download_url(url, str(folder), log=False, filename=partial.name)
            partial.replace(folder / file)
        except Exception as error:  # without a network, many exceptions are possible
            partial.unlink(missing_ok=True)
            raise BupError(
                f"{key} is not on this machine and PyG cannot download it "
                f"({type(error).__name__}: {error}): connect to the internet and try again, or put "
                f"{', '.join(raw.files)} into {folder}"
            ) from error


SOURCE = GraphSource(
    name=f"{PREFIX}SET/NAME",
    title="A graph that PyTorch Geometric can download, such as pyg:Amazon/Photo",
    load=load,
    matches=lambda name: name.startswith(PREFIX),
    label=lambda name: name.removeprefix(PREFIX),
    data="downloaded by PyG on first use",
    # A visitor chooses among the graphs that are on the server already.
    list_names=lambda: [f"{PREFIX}{key}" for key in GRAPHS if is_downloaded(key)],
)
