"""What visitors drop is read by other processes, which may be killed and are replaced."""

import io
import os
import signal
import sys
import zipfile

import numpy as np
import pytest
from scipy import sparse

import bup
from bup.datasets.uploads.graph_tables import (
    ColumnChoice,
    guess_columns,
    make_graph,
    make_preview,
    read_tables,
)
from bup.imported import predictions
from bup.io import memory
from dashboard.network.clients import Client
from dashboard.uploads import reader
from dashboard.views.upload import example

NODES = b"id,label,title,size\na,red,Ann,1\nb,blue,Bob,2.5\nc,,Cid,0\nd,red,Dee,4\n"
EDGES = b"source,target\na,b\nb,c\nc,d\n"
FILES = [("nodes.csv", NODES), ("edges.csv", EDGES)]


@pytest.fixture
def readers(monkeypatch):
    """Processes of this test, started with its settings."""
    readers = reader.ReaderPool(at_once=1)
    monkeypatch.setattr(reader, "POOL", readers)
    yield readers
    readers.close()


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    reader.POOL.close()


def npz() -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, sparse.csr_matrix(np.eye(4)))
    return file.getvalue()


@pytest.mark.parametrize(
    "files", [FILES, [("example.zip", example.zipped())], [*FILES, ("features.npz", npz())]]
)
def test_another_process_reads_the_same_graph(files):
    draft = read_tables(files)
    preview, graph = reader.read_graph_files(files, None, None)
    assert preview == make_preview(draft)
    expected = make_graph(draft, guess_columns(draft), "own")
    assert graph.digest == expected.digest and graph.notes == expected.notes
    assert (graph.ids, graph.titles, graph.words) == (expected.ids, expected.titles, expected.words)


def test_another_process_makes_the_graph_of_a_choice():
    choice = ColumnChoice("title", "target", "source", id="id", features=("size",), decimal=".")
    chosen, expected = (
        reader.read_graph(FILES, ",", choice),
        make_graph(read_tables(FILES), choice, ""),
    )
    assert chosen.digest == expected.digest and chosen.class_names == ("Ann", "Bob", "Cid", "Dee")


def test_another_process_reads_the_same_predictions(path_graph):
    probs = np.tile([0.25, 0.75], (5, 1))
    file = io.BytesIO()
    np.savez(file, probs=probs, score_mine=np.arange(5.0), split=["train", "val", "test", "", ""])
    here = predictions.read(path_graph, "p.npz", file.getvalue())
    assert reader.read_predictions(path_graph, "p.npz", file.getvalue()).key == here.key


def test_what_is_wrong_is_said_in_the_same_words(path_graph):
    for files in ([], [("nodes.csv", b"\0"), FILES[1]], [("a.json", b"[" * 100_000)]):
        with pytest.raises(bup.BupError) as here:
            read_tables(files)
        with pytest.raises(bup.BupError) as there:
            reader.read_graph_files(files, None, None)
        assert str(there.value) == " ".join(str(here.value).split())
    with pytest.raises(bup.BupError, match="no column 'id'"):
        reader.read_predictions(path_graph, "p.csv", b"a,b\n1,2\n")


def test_columns_that_are_no_graph_yet_are_shown_to_choose_from():
    preview, graph = reader.read_graph_files(
        [("n.csv", b"id,label\na,x\nb,x\n"), FILES[1]], None, None
    )
    assert graph is None and list(preview.nodes) == ["id", "label"]


def test_what_takes_too_long_is_ended_and_the_next_is_read(readers, monkeypatch):
    reader.read_graph_files(FILES, None, None)
    (process,) = readers._idle
    os.kill(process.popen.pid, signal.SIGSTOP)
    monkeypatch.setenv("BUP_READ_SECONDS", "1")
    with pytest.raises(bup.BupError, match=r"more than 1 seconds \(BUP_READ_SECONDS\)"):
        reader.read_graph_files(FILES, None, None)
    assert process.popen.poll() == -signal.SIGKILL and not readers._idle
    monkeypatch.delenv("BUP_READ_SECONDS")
    assert reader.read_graph_files(FILES, None, None)[1].num_nodes == 4


def test_whoever_waits_too_long_for_a_turn_is_told_so(readers, monkeypatch):
    monkeypatch.setenv("BUP_READ_SECONDS", "1")
    with (
        readers._queue.acquire(Client("somebody else"), 0),
        pytest.raises(bup.BupError, match="other files"),
    ):
        reader.read_graph_files(FILES, None, None)


def test_no_process_is_left_when_something_else_goes_wrong(readers, monkeypatch):
    reader.read_graph_files(FILES, None, None)
    (process,) = readers._idle
    monkeypatch.setattr(process, "ask", lambda question, seconds: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        reader.read_graph_files(FILES, None, None)
    assert process.popen.poll() == -signal.SIGKILL and not readers._idle
    assert reader.read_graph_files(FILES, None, None)[1].num_nodes == 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds processes to this limit")
def test_what_needs_too_much_memory_ends_in_a_sentence(readers, monkeypatch):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("nodes.csv", b"id,label,text\na,x,y\nb,z," + b"word " * (60 * 2**20))
        archive.writestr("edges.csv", EDGES)
    monkeypatch.setenv("BUP_READ_MB", "600")
    with pytest.raises(bup.BupError, match="needs more memory"):
        reader.read_graph_files([("small.zip", file.getvalue())], None, None)
    assert reader.read_graph_files(FILES, None, None)[1].num_nodes == 4


def test_a_process_that_the_system_ends_is_replaced(readers):
    reader.read_graph_files(FILES, None, None)
    (process,) = readers._idle
    question = reader.reader_process.pack_request(
        "graph", [], names=[], separator=None, choice=None
    )
    os.kill(process.popen.pid, signal.SIGSTOP)
    os.kill(process.popen.pid, signal.SIGKILL)
    assert process.ask(question, 60) == b"" and "more memory" in reader._reason(_closed(process))
    assert reader.read_graph_files(FILES, None, None)[1].num_nodes == 4
    assert readers._idle != [process]


def _closed(process):
    process.close()
    return process


def test_a_process_that_ended_for_want_of_work_is_replaced_in_silence(readers, monkeypatch):
    reader.read_graph_files(FILES, None, None)
    (process,) = readers._idle
    process.popen.stdin.close()
    assert process.popen.wait() == 0
    monkeypatch.setattr(process.popen, "poll", lambda: None)  # as if it ended a moment later
    monkeypatch.setattr(process, "ask", lambda question, seconds: b"")
    assert reader.read_graph_files(FILES, None, None)[1].num_nodes == 4


def test_a_graph_that_would_be_too_large_here_is_refused(readers, monkeypatch):
    monkeypatch.setenv("BUP_GRAPH_BYTES", "50")
    assert reader.read_graph_files(FILES, None, None)[1] is None
    choice = guess_columns(read_tables(FILES))
    with pytest.raises(bup.BupError, match="BUP_GRAPH_BYTES"):
        reader.read_graph(FILES, None, choice)


def test_without_the_module_that_limits_memory_time_alone_does(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    memory.limit_memory(1)
    assert len(read_tables(FILES).nodes) == 4
