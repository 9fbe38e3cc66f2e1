"""Graphs that people drop: foreign files become graphs, hostile ones sentences."""

import dataclasses
import io
import json
import os
import stat
import struct
import time
import zipfile

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import streamlit as st_module
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from streamlit.testing.v1 import AppTest

import bup
from bup import datasets
from bup.datasets import uploads
from bup.datasets.uploads import store
from bup.datasets.uploads.graph_tables import ColumnChoice, guess_columns, make_graph, read_tables
from bup.run.spec import Run, Spec
from bup.training import fitting
from dashboard.views.upload import example

NODES = "id,label,title,size\na,red,Ann,1\nb,blue,Bob,2.5\nc,,Cid,0\nd,red,Dee 🦊,4\n"
EDGES = "source,target\na,b\nb,c\nc,d\nd,d\nb,a\n"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


def dropped(**texts: str | bytes) -> list[tuple[str, bytes]]:
    """Files by name, an underscore for the dot."""
    return [
        (name.replace("_", "."), text.encode() if isinstance(text, str) else text)
        for name, text in texts.items()
    ]


def read(files: list[tuple[str, bytes]], **changes) -> bup.Graph:
    draft = read_tables(files)
    return make_graph(draft, guess_with(draft, **changes), "own")


def guess_with(draft, **changes) -> ColumnChoice:
    return dataclasses.replace(guess_columns(draft), **changes)


def zipped(files: dict[str, bytes], **options) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def npz(matrix) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, sparse.csr_matrix(matrix))
    return file.getvalue()


def test_two_tables_become_a_graph_and_what_is_dropped_is_said():
    graph = read(dropped(nodes_csv=NODES, edges_csv=EDGES + "a,nobody\n"))
    assert graph.ids == ("a", "b", "c", "d") and graph.titles == ("Ann", "Bob", "Cid", "Dee 🦊")
    assert graph.class_names == ("blue", "red") and graph.labels.tolist() == [1, 0, -1, 1]
    assert graph.features.ravel().tolist() == [1, 2.5, 0, 4]
    assert graph.edges.tolist() == [[0, 1, 2], [1, 2, 3]]
    said = " ".join(graph.notes)
    for words in ("'a' to 'nobody'", "1 nodes have no class", "itself", "repeat"):
        assert words in said


def test_semicolons_decimal_commas_and_other_encodings():
    nodes = "Nr;Klasse;Größe\n1;süß;1,5\n2;sauer;2\n3;süß;-0,25\n"
    edges = "von;nach\n1;2\n2;3\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        files = dropped(nodes_csv=nodes.encode(encoding), edges_csv=edges.encode(encoding))
        graph = read(files, label="Klasse")
        assert graph.class_names == ("sauer", "süß"), encoding
        assert graph.features.ravel().tolist() == [1.5, 2.0, -0.25]
        assert ("not UTF-8" in " ".join(graph.notes)) == (encoding in ("utf-16", "cp1252"))


def test_columns_of_any_name_can_be_chosen():
    nodes = "who,what,said\nx,p,graphs and words\ny,q,words and graphs\nz,q,graphs\n"
    draft = read_tables(dropped(people_csv=nodes, links_tsv="a\tb\nx\ty\ny\tz\n"))
    choice = ColumnChoice(label="what", source="b", target="a", id="who", text=("said",))
    graph = make_graph(draft, choice, "own")
    assert graph.words is not None and set(graph.words) == {"graphs", "words"}
    assert graph.num_edges == 2


def test_words_and_numbers_can_be_chosen_together():
    nodes = "who,what,said,size\nx,p,graphs and words,1\ny,q,words and graphs,3\nz,q,graphs,5\n"
    draft = read_tables(dropped(people_csv=nodes, links_tsv="a\tb\nx\ty\ny\tz\n"))
    choice = ColumnChoice("what", "b", "a", id="who", text=("said",), features=("size",))
    graph = make_graph(draft, choice, "own")
    assert graph.words == ("graphs", "words", "size")
    assert graph.to_pyg().x[:, 2].tolist() == [0.0, 0.5, 1.0]


def test_a_text_is_known_by_its_length():
    texts = ("红烧豆腐酱油面条很长的文字内容", "量子纠缠光子粒子很长的文字内容")
    rows = [f"页{i},{'甲乙'[i % 2]},第{i}页,{texts[i % 2]}\n" for i in range(8)]
    nodes = "编号,类别,标题,正文\n" + "".join(rows)
    draft = read_tables(dropped(nodes_csv=nodes, edges_csv="从,到\n页0,页2\n页1,页3\n"))
    assert guess_columns(draft) == ColumnChoice(
        "类别", "从", "到", id="编号", title="标题", text=("正文",)
    )
    words = make_graph(draft, guess_columns(draft), "own").words
    assert words is not None and {"量子", "豆腐"} <= set(words)


def test_features_may_come_as_a_matrix():
    nodes = "id,label\na,x\nb,y\nc,x\n"
    matrix = np.array([[0, 1], [1, 0], [0, 0.5]])
    files = dropped(nodes_csv=nodes, edges_csv="source,target\na,b\n", features_npz=npz(matrix))
    assert np.allclose(read(files).to_pyg().x.numpy(), matrix)
    archive = zipped({f"deep/{name}": content for name, content in files} | {"__MACOSX/x": b""})
    assert read([("graph.zip", archive)]).digest == read(files).digest


def foreign() -> nx.Graph:
    graph = nx.Graph()
    for i, name in enumerate(("王小明", "Ünal", "🦊 & <b>", "d")):
        graph.add_node(f"n{i}", club="officer" if i % 2 else "mr", title=name, age=20 + i)
    graph.add_edges_from([("n0", "n1"), ("n1", "n2"), ("n2", "n3")])
    return graph


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "json"])
def test_other_tools_files_say_the_same(form):
    graph, file = foreign(), io.BytesIO()
    if form == "json":
        file.write(json.dumps(nx.node_link_data(graph, edges="links")).encode())
    else:
        if form == "gml":  # its ids are whole numbers
            graph = nx.convert_node_labels_to_integers(graph)
        getattr(nx, f"write_{form}")(graph, file)
    found = read([(f"club.{form}", file.getvalue())])
    assert found.class_names == ("mr", "officer") and found.num_edges == 3
    assert found.titles == ("王小明", "Ünal", "🦊 & <b>", "d")
    assert found.features.ravel().tolist() == [20, 21, 22, 23]


def test_vectors_in_json_are_features():
    data = {
        "nodes": [{"id": i, "label": "ab"[i % 2], "x": [i, 0.5]} for i in range(3)],
        "edges": [{"source": 0, "target": 1}, {"source": 1, "target": 2}],
    }
    graph = read(dropped(g_json=json.dumps(data)))
    assert graph.to_pyg().x.tolist() == [[0, 0.5], [1, 0.5], [2, 0.5]]


BOMB = b'<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'
LOCAL = b'<!DOCTYPE g [<!ENTITY f SYSTEM "file:///etc/passwd">]><gexf>&f;</gexf>'
BIG = zipped({"nodes.csv": b"0" * (500 * 2**20)}, compression=zipfile.ZIP_DEFLATED)


MANY = zipped({f"{i}.csv": b"" for i in range(2000)})


def with_second_directory(small: bytes, many: bytes) -> bytes:
    """A zip whose plain end record lists few files, and whose 64-bit one lists many.

    ``zipfile`` believes the latter.
    """
    count, size, offset = struct.unpack("<HII", many[-12:-2])
    second = struct.pack(
        "<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, offset
    )
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(many) - 22, 1)
    return many[:-22] + second + locator + small[-22:]


TWO_ENDS = with_second_directory(zipped({"nodes.csv": b""}), MANY)


def test_what_zipfile_would_believe_of_two_directories():
    assert len(zipfile.ZipFile(io.BytesIO(TWO_ENDS)).namelist()) == 2000


def test_a_zip_may_have_a_comment():
    file = io.BytesIO(zipped({"nodes.csv": NODES.encode(), "edges.csv": EDGES.encode()}))
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"made by hand"
    assert read([("g.zip", file.getvalue())]).num_nodes == 4


def attributes(rows: int) -> str:
    """A small file, and a large table: every node has an attribute that no other has."""
    nodes = [{"id": i, "label": "ab"[i % 2], f"k{i}": i} for i in range(rows)]
    return json.dumps({"nodes": nodes, "links": [{"source": 0, "target": 1}]})


def wide(rows: int, columns: int, first: str = "") -> str:
    line = ",".join(map(str, range(columns)))
    return first + "\n".join([line] * (rows + 1))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (dropped(a_json=attributes(400)), "160,800 cells"),
        (dropped(a_json=attributes(21_000)), "21,002 columns"),
        (dropped(nodes_csv=wide(100, 999), edges_csv=EDGES), "cells, more than 50,000"),
        (dropped(nodes_csv=wide(100, 999, "\n\n"), edges_csv=EDGES), "cells, more than"),
        (dropped(nodes_csv=wide(100, 999, '"a\nb",c,'), edges_csv=EDGES), "cells, more than"),
        (dropped(nodes_csv=wide(0, 30_000), edges_csv=EDGES), "30,000 columns"),
        (dropped(nodes_csv="\n" + wide(1, 30_000), edges_csv=EDGES), "30,000 columns"),
        (dropped(a_json=json.dumps({
            "nodes": [{"id": i, "x": [0] * 600} for i in range(100)],
            "links": [{"source": 0, "target": 1}],
        })), "60,000 cells"),
        (dropped(a_zip=TWO_ENDS), "truncated or no zip"),
        (dropped(nodes_csv=NODES, edges_csv=EDGES, x_npz=TWO_ENDS), "truncated or no npz"),
        (dropped(a_zip=MANY), "too many files"),
    ],
)  # fmt: skip
def test_what_is_small_and_would_become_large_is_refused_by_its_size(files, message, monkeypatch):
    monkeypatch.setenv("BUP_OWN_CELLS", "50000")
    with pytest.raises(bup.BupError, match=message):
        read(files)


def test_integers_beyond_any_number_are_text_or_refused():
    vectors = [{"id": i, "label": "ab"[i % 2], "x": [1, 10**400]} for i in range(3)]
    links = [{"source": 0, "target": 1}, {"source": 1, "target": 2}]
    graph = read(dropped(g_json=json.dumps({"nodes": vectors, "links": links})), text=())
    assert graph.num_nodes == 3
    with pytest.raises(bup.BupError, match="cannot be read as JSON"):
        read(dropped(g_json='{"nodes": [{"id": 1' + "0" * 5000 + "}]}"))


def test_classes_with_names_of_thousands_of_digits_are_sorted_as_numbers_are():
    long = "9" * 5000
    nodes = pd.DataFrame({"id": list("abcdef"), "label": [long, "10", "9", "007", long + "1", "9"]})
    links = pd.DataFrame({"source": ["a"], "target": ["b"]})
    graph = bup.Graph.from_frames(nodes, links)
    assert graph.class_names == ("007", "9", "10", long, long + "1")


LONG = "x" * 501


@pytest.mark.parametrize(
    "nodes", [f"id,label,{LONG}\na,x,1\nb,y,2\n", f"id,label\na,{LONG}\nb,y\nc,y\n",
              f"id,label\n{LONG},x\nb,y\nc,y\n", f"id,label\na,{'9' * 5000}\nb,1\nc,1\n"],
)  # fmt: skip
def test_names_that_no_menu_could_show_are_refused(nodes):
    with pytest.raises(bup.BupError, match="at most 500") as error:
        read(dropped(nodes_csv=nodes, edges_csv="source,target\na,b\nb,c\n"), id="id")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (dropped(nodes_csv=NODES), "drop nodes.csv and edges.csv"),
        ([], "the files are none"),
        (dropped(model_pt=b"\x80"), "could run code"),
        (dropped(graph_zip=zipped({"features.pkl": b"x"})), "could run code"),
        (dropped(notes_docx=b"x"), "of no use here"),
        (dropped(a_graphml=BOMB), "document type or entities"),
        (dropped(a_gexf=LOCAL), "document type or entities"),
        (dropped(a_graphml=BOMB.decode().encode("utf-16")), "document type|cannot be read"),
        (dropped(a_gexf=b"<gexf>"), "cannot be read as GEXF"),
        (dropped(a_gml="graph [ node ["), "cannot be read as GML"),
        (dropped(a_json="[" * 100_000), "cannot be read as JSON"),
        (dropped(a_json="[1, 2]"), "no node-link JSON"),
        (dropped(a_json='{"nodes": [], "links": []}'), "has 0 nodes"),
        (dropped(a_zip=BIG), "unpacks to 500 MB"),
        (dropped(a_zip=b"PK\x03\x04 not"), "truncated or no zip"),
        (dropped(a_zip=zipped({"b.zip": b""})), "a zip inside it"),
        (dropped(a_zip=zipped({"a/x.csv": b"", "b/x.csv": b""})), "two files of one name"),
        (dropped(a_zip=zipped({f"{i}.csv": b"" for i in range(101)})), "lists 101 files"),
        (dropped(a_zip=zipped({"x.csv": b"1"}, compression=zipfile.ZIP_LZMA)), "method 14"),
        (dropped(nodes_csv=b"id,label\n\0\0", edges_csv=EDGES), "NUL bytes"),
        (dropped(nodes_csv="", edges_csv=EDGES), "nodes.csv"),
        (dropped(nodes_csv=NODES + "e,red\nf,red,g,1,2,3\n", edges_csv=EDGES), "nodes.csv"),
        (dropped(nodes_csv=NODES, edges_csv="source\na\n"), "only the column 'source'"),
        (dropped(nodes_csv=NODES, edges_csv="source,target\nx,y\n"), "no link joins"),
        (dropped(nodes_csv="id,label\na,x\nb,x\n", edges_csv=EDGES), "no column .* class"),
        (dropped(nodes_csv=NODES, edges_csv=EDGES, x_npz=b"PK\x05\x06"), "npz"),
        (dropped(nodes_csv=NODES, edges_csv=EDGES, x_npz=npz(np.ones((3, 1)))), "3 rows"),
    ],
)
def test_what_is_no_graph_gets_a_sentence(files, message):
    with pytest.raises(bup.BupError, match=message):
        read(files)


def linked(name: str, target: str) -> bytes:
    link = zipfile.ZipInfo(name)
    link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return zipped({link: target.encode(), "edges.csv": EDGES.encode()})


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped({"../../etc/nodes.csv": NODES.encode()}), "points out of the archive"),
        (zipped({"/nodes.csv": NODES.encode()}), "points out of the archive"),
        (linked("nodes.csv", "/etc/passwd"), "is a link to a file"),
    ],
)
def test_names_in_an_archive_lead_nowhere(tmp_path, archive, message):
    with pytest.raises(bup.BupError, match=message):
        read([("g.zip", archive)])
    assert list(tmp_path.iterdir()) == []


GEPHI = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">
 <meta lastmodifieddate="2024-03-01"><creator>Gephi 0.10.1</creator></meta>
 <graph defaultedgetype="undirected" mode="static">
  <attributes class="node" mode="static">
   <attribute id="party" title="party" type="string"><default>none</default></attribute>
   <attribute id="pagerank" title="PageRank" type="double"/>
  </attributes>
  <nodes>{nodes}</nodes>
  <edges>
   <edge id="0" source="0.0" target="1.0" weight="2.5"/>
   <edge id="1" source="2.0" target="3.0"/>
  </edges>
 </graph>
</gexf>"""
PERSON = """<node id="{i}.0" label="Söhne &amp; {i}"><attvalues>
<attvalue for="party" value="{party}"/><attvalue for="pagerank" value="0.{i}"/></attvalues>
<viz:size value="4.0"/><viz:position x="1.5" y="-2.0" z="0.0"/>
<viz:color r="153" g="0" b="255" a="0.6"/></node>"""


def test_what_gephi_writes_is_read_without_its_drawing():
    people = "".join(PERSON.format(i=i, party=("red", "blue")[i % 2]) for i in range(4))
    graph = read([("gephi.gexf", GEPHI.format(nodes=people).encode())])
    assert graph.ids == ("0.0", "1.0", "2.0", "3.0") and graph.class_names == ("blue", "red")
    assert graph.titles[3] == "Söhne & 3" and graph.num_features == 1 and graph.num_edges == 2
    assert any("'weight' of links is not used" in note for note in graph.notes)


def test_the_example_is_a_graph():
    graph = read([("example.zip", example.zipped())])
    assert graph.num_nodes == 120 and 0.5 < graph.homophily < 1 and "melody" in graph.words


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("BUP_OWN_NODES", "3", "4 nodes: .* at most 3"),
        ("BUP_OWN_LINKS", "4", "5 links"),
        ("BUP_OWN_CELLS", "8", "features.npz"),
        ("BUP_OWN_NODES", "many", "BUP_OWN_NODES must be a whole number"),
    ],
)
def test_limits_are_settings(setting, value, message, monkeypatch):
    monkeypatch.setenv(setting, value)
    with pytest.raises(bup.BupError, match=message):
        read(dropped(nodes_csv=NODES, edges_csv=EDGES))


def test_all_that_is_dropped_counts(monkeypatch):
    monkeypatch.setenv("BUP_UPLOAD_MB", "1")
    with pytest.raises(bup.BupError, match=r"at most 1 \(BUP_UPLOAD_MB\)"):
        read_tables(dropped(nodes_csv="x" * 600_000, edges_csv="x" * 600_000))


@given(st.binary(max_size=200), st.sampled_from(["csv", "json", "gml", "gexf", "graphml", "zip"]))
@settings(max_examples=150, deadline=None)
def test_random_bytes_are_a_graph_or_a_sentence(content, form):
    files = [(f"nodes.{form}", content)]
    try:
        read([*files, ("edges.csv", EDGES.encode())] if form == "csv" else files)
    except bup.BupError as error:
        assert "\n" not in str(error)


def test_a_graph_is_kept_under_a_name_that_nobody_can_guess():
    graph = read(dropped(nodes_csv=NODES, edges_csv=EDGES), title=None)
    name = uploads.save(graph, "Häuser & <b>Straßen</b>")
    assert name.startswith("own:") and len(uploads.token_of(name)) == 20
    assert name != uploads.save(graph, "Häuser & <b>Straßen</b>")
    again = bup.load_graph(name)
    assert again.digest == graph.digest and again.titles is None and again.notes == graph.notes
    assert again.name == name
    assert [n for s in datasets.SOURCES for n in s.names() if n.startswith("own:")] == []


def test_words_and_sparse_features_come_back():
    nodes = "id,label,text\n" + "".join(
        f"{i},{'xy'[i % 2]},graphs of words {i}\n" for i in range(9)
    )
    graph = read(dropped(nodes_csv=nodes, edges_csv="source,target\n0,1\n1,2\n"))
    again = bup.load_graph(uploads.save(graph))
    assert again.words == graph.words and again.digest == graph.digest


@pytest.mark.parametrize(
    "name", ["own:", "own:aaaaaaaaaaaaaaaaaaaa", "own:../../runs/x", "own:" + "a" * 20 + "/../b"]
)
def test_a_name_that_is_not_there_tells_nothing(name):
    uploads.save(read(dropped(nodes_csv=NODES, edges_csv=EDGES)), "secret")
    with pytest.raises(bup.BupError) as caught:
        bup.load_graph(name)
    assert str(caught.value) == uploads.STORE.not_found


def runs_of(name: str) -> list[str]:
    root = bup.Store().root
    return (
        [p.name for p in root.iterdir() if uploads.token_of(name) in p.name]
        if root.exists()
        else []
    )


def test_deleting_takes_the_runs_along_and_leaves_the_others():
    graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    one, two = (uploads.save(graph, "same") for _ in range(2))
    for name in (one, two):
        mine = bup.load_graph(name)
        fitting.save(bup.fit(mine, "mlp", per_class=2, validation=2, test=2, epochs=1), mine)
    assert runs_of(one) and runs_of(two)
    uploads.delete(one)
    assert not runs_of(one) and runs_of(two)
    with pytest.raises(bup.BupError, match="not here"):
        bup.load_graph(one)
    assert bup.load_graph(two).digest == graph.digest


def test_runs_on_what_is_made_from_a_graph_go_with_it():
    graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    name, other = uploads.save(graph, "mine"), uploads.save(graph)
    changes = [s.name for s in datasets.SOURCES if s.base is not None]
    root = bup.Store().root
    for place, inner in enumerate((name, other, "folder:my-own-abc")):
        made = [change.replace("GRAPH", inner).replace("SHARE", "0.5") for change in changes]
        made += [change.replace("GRAPH", made[0]).replace("SHARE", "0.5") for change in changes]
        for graph_name in made:
            (root / Run(Spec(graph=graph_name), "0" * 64).key).mkdir(parents=True)
        assert len(list(root.iterdir())) == 4 * (place + 1)
    uploads.delete(name)
    assert len(list(root.iterdir())) == 8
    uploads.STORE.delete(uploads.token_of(other))
    store.sweep()
    assert ["folder" in folder.name for folder in root.iterdir()] == [True] * 4


@pytest.fixture
def clock(monkeypatch):
    """The machine's, as whoever deletes what has expired reads it."""

    class Clock:
        ahead = 0.0

        def turn(self, days):
            self.ahead += days * 86_400

    clock, right = Clock(), time.time
    monkeypatch.setattr(store.time, "time", lambda: right() + clock.ahead)
    return clock


def test_a_clock_that_is_wrong_for_a_while_costs_nobody_a_graph(clock):
    graph = read(dropped(nodes_csv=NODES, edges_csv=EDGES))
    name = uploads.save(graph)
    clock.turn(days=8)
    for _ in range(3):
        uploads.save(graph)  # which sweeps
    clock.turn(days=-8)
    uploads.save(graph)
    assert bup.load_graph(name).digest == graph.digest
    # Marks of that time do not count when its end has really come.
    clock.turn(days=8)
    store.sweep()
    assert uploads.STORE.path(uploads.token_of(name)).exists()


def test_what_nobody_opened_expires(monkeypatch, clock):
    graph = read(dropped(nodes_csv=NODES, edges_csv=EDGES))
    old, used = uploads.save(graph), uploads.save(graph)
    past = time.time() - 8 * 86_400
    for name in (old, used):
        os.utime(uploads.STORE.path(uploads.token_of(name)), (past, past))
    with pytest.raises(bup.BupError, match="not here"):
        bup.load_graph(old)
    monkeypatch.setenv("BUP_OWN_DAYS", "30")
    bup.load_graph(used)  # puts its end off
    monkeypatch.delenv("BUP_OWN_DAYS")
    store.sweep()
    clock.turn(days=1.1)
    store.sweep()
    assert not uploads.STORE.path(uploads.token_of(old)).exists()
    assert not list(uploads.STORE.path(uploads.token_of(old)).parent.glob("*.expired"))
    clock.turn(days=-1.1)
    left = uploads.STORE.expires_at(uploads.token_of(used)).timestamp() - time.time()
    assert 6.9 < left / 86_400 <= 7


def test_the_space_is_bounded(monkeypatch):
    features = np.random.RandomState(0).random_sample((400, 1000))  # 1.6 MB
    graph = bup.Graph.from_arrays(features, np.array([[0], [1]]), np.arange(400) % 2)
    monkeypatch.setenv("BUP_OWN_SPACE_MB", "4")
    uploads.save(graph)
    kept = uploads.save(graph)
    with pytest.raises(bup.BupError, match=r"no room.*BUP_OWN_SPACE_MB"):
        uploads.save(graph)
    uploads.delete(kept)
    uploads.save(graph)


def is_own_origin(files: list[tuple[str, bytes]]) -> None:
    from types import SimpleNamespace

    import streamlit as st

    from dashboard.views.upload import page

    dropped = [SimpleNamespace(name=name, getvalue=lambda data=data: data) for name, data in files]
    st.file_uploader = lambda *args, **options: dropped
    page.page()


def open_page(files: list[tuple[str, bytes]]) -> AppTest:
    page = AppTest.from_function(is_own_origin, kwargs={"files": files}, default_timeout=60)
    return page.run()


def test_the_page_shows_what_the_graph_will_be(monkeypatch):
    monkeypatch.setattr(st_module, "file_uploader", st_module.file_uploader)  # put back afterwards
    page = open_page(dropped(nodes_csv=NODES, edges_csv=EDGES))
    assert not page.exception and not page.error
    facts = {metric.label: metric.value for metric in page.metric}
    assert facts["Nodes"] == "4" and facts["Links"] == "3" and facts["Classes"] == "2"
    assert "dropped" in page.info[0].value and "Dee 🦊" in page.dataframe[1].value.to_string()
    page.selectbox(key="own_label").select("title").run()
    assert {m.label: m.value for m in page.metric}["Classes"] == "4"
    assert "7 days" in page.caption[0].value


def test_the_page_says_what_is_wrong(monkeypatch):
    monkeypatch.setattr(st_module, "file_uploader", st_module.file_uploader)
    page = open_page(dropped(nodes_csv="<b>", edges_csv=EDGES))
    assert not page.exception and len(page.error) == 1
