import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bup.datasets import folder
from bup.errors import BupError
from tests.support import needs_unix
from tests.support.folder_files import (
    EDGES,
    EXAMPLES,
    NODES,
    TABLE,
    TEXT_NODES,
    assert_readable,
    csr_parts,
    csv_of,
    dense,
    fuzz,
    graph_or_error,
    load,
    message,
    put,
    savez,
    set_limit,
)


@pytest.mark.parametrize(
    ("nodes", "fragments"),
    [
        ("", ["nodes.csv is empty", "id,label"]),
        ("\ufeff", ["nodes.csv is empty"]),
        ("\n\r\n", ["nodes.csv is empty"]),
        ("id,label,x\n", ["nodes.csv has a header but no rows"]),
        ("name,label,x\n", ["nodes.csv, line 1", "'id'", "'name', 'label', 'x'"]),
        ("\nid;label;x\na;b;1\n", ["nodes.csv, line 2", "'id;label;x'", "separated by commas"]),
        ("id,x\na,1\n", ["nodes.csv, line 1", "'label'"]),
        ("id,label,x,x\na,r,1,2\n", ["nodes.csv, line 1", "2 columns are called 'x'"]),
        ("id,label, id,x\na,r,a,2\n", ["nodes.csv, line 1", "2 columns are called 'id'"]),
        (",id,label,x\n0,a,r,1\n", ["nodes.csv, line 1", "column 1 is ''"]),
        ("id,label\na,r\nb,s\n", ["no features", "nodes.csv", "features.npz"]),
        ("id,label,x\na,r,1\nb,s\n", ["nodes.csv, line 3", "'b'", "cells: 2, columns: 3"]),
        ("id,label,x\na,r,1\nb,s,1,2\n", ["nodes.csv, line 3", "cells: 4", "'b'"]),
        ('id,label,x\n"a\n\na",r,1\n\nb,s\n', ["nodes.csv, line 6", "cells: 2"]),
        ("id,label,x\r\na,r,1\r\n\r\nb,s,z\r\n", ["nodes.csv, line 4", "column 'x'", "'z'"]),
        ("id,label,x\na,r,1\n ,s,1\n", ["nodes.csv, line 3", "'id'", "empty"]),
        ('id,label,x\na,r,1\n"b\n",s,1\na,r,1\n', ["nodes.csv, line 5", "id 'a'", "on line 2"]),
        ("id,label,x\na,r,1\nb,r,1\n", ["nodes.csv", "'label'", "only the class 'r'"]),
        ("id,label,x\na,,1\nb, ,1\n", ["nodes.csv", "'label'", "no label at all"]),
        ('id,label,x\na,r,1\n"b,r,1\nc,r,1\n', ["nodes.csv, line 3", "quote"]),
        ('id,label,x\na,r,1\n"b"b,r,1\n', ["nodes.csv, line 3", "quote"]),
        ("id,label,x\ra,r,1\rb,s,1\r", ["nodes.csv, line 1", "LF or CRLF"]),
        ("id,label,x\na,r,1\nb\0,s,1\n", ["nodes.csv, line 3", "NUL"]),
        (f"id,label,x\na,r,1\n{'b' * 200_000},s,1\n", ["nodes.csv, line 3", "131072"]),
        (NODES.encode("utf-16"), ["nodes.csv, line 1", "NUL"]),
        (b"id,label,x\na,r,1\nb\xe9,s,1\n", ["nodes.csv, line 3", "0xe9", "offset 18", "UTF-8"]),
        (b"\xef\xbb\xbfid,label,x\n\xff,r,1\n", ["nodes.csv, line 2", "0xff", "offset 14"]),
    ],
)
def test_bad_nodes_say_where_what_and_how_to_mend(tmp_path, nodes, fragments):
    text = message(tmp_path, nodes)
    for fragment in fragments:
        assert fragment in text


@pytest.mark.parametrize(
    ("cell", "fragments"),
    [
        ("nan", ["'nan'", "not finite"]),
        ("-inf", ["'-inf'", "not finite"]),
        ("1e400", ["'1e400'", "not finite"]),
        ("1e300", ["'1e300'", "beyond 1,000,000", "scale"]),
        ("-1000000.1", ["'-1000000.1'", "beyond 1,000,000", "scale"]),
        ("", ["''", "empty"]),
        ("  ", ["empty"]),
        ("\u00a0", ["empty"]),
        ("red", ["'red'", "not a number"]),
        ("1_0", ["'1_0'", "not a number"]),
        ("٣", ["'٣'", "not a number"]),
        ("0x1", ["'0x1'", "not a number"]),
        ("1 2", ["'1 2'", "not a number"]),
        ('"1,5"', ["'1,5'", "not a number"]),
        ("\x1b[31m\x07" + "z" * 100, [r"'\x1b[31m\x07zz", "'...", "not a number"]),
    ],
)
def test_a_bad_feature_is_named_by_line_column_and_value(tmp_path, cell, fragments):
    text = message(tmp_path, f"id,x,label,odd name\na,1,r,2\nb,1,s,{cell}\n")
    for fragment in ["nodes.csv, line 3, column 'odd name'", *fragments]:
        assert fragment in text


@pytest.mark.parametrize("cell", ["-1", "1e6", "-1e6", "+.5", " 2 ", "1e-400", "1e-3", "-0"])
def test_any_finite_number_within_the_limit_is_a_feature(tmp_path, cell):
    graph = load(tmp_path, f"id,label,x\na,r,{cell}\nb,s,1\n", "source,target\na,b\n")
    assert dense(graph.features)[0, 0] == np.float32(float(cell))


@pytest.mark.parametrize(
    ("edges", "fragments"),
    [
        ("", ["edges.csv is empty", "source,target"]),
        ("source,target\n", ["edges.csv has a header but no rows"]),
        ("from,to\na,b\n", ["edges.csv, line 1", "'source'", "source and target", "'from', 'to'"]),
        ("source,target\na,b\na,z\n", ["edges.csv, line 3", "'target'", "'z'", "nodes.csv", "add"]),
        ("source,target\n,b\n", ["edges.csv, line 2", "'source'", "''"]),
        ('w,target,source\n"\n",b,a\n1,a,A\n', ["edges.csv, line 4", "'source'", "'A'"]),
        ("source,target\na,b\na\n", ["edges.csv, line 3", "cells: 1, columns: 2"]),
        ("source,target\na,a\nb,b\n", ["edges.csv", "all 2 rows", "itself"]),
        (b"source,target\na,\xc3\n", ["edges.csv, line 2", "0xc3", "offset 16"]),
        ("source,target\na,\0\n", ["edges.csv, line 2", "NUL"]),
    ],
)
def test_bad_edges_say_where_what_and_how_to_mend(tmp_path, edges, fragments):
    text = message(tmp_path, NODES, edges)
    for fragment in fragments:
        assert fragment in text


@given(
    st.lists(st.sampled_from(["\n", "\r\n", '"{}\n",s,1\n', '{},"s\r\n\r\n",1\r\n', "{},s,1\n"]))
)
@settings(max_examples=60, deadline=None)
def test_the_line_is_right_after_any_blank_lines_and_quoted_newlines(before):
    lines = "id,label,x\n" + "".join(row.format(f"n{i}") for i, row in enumerate(before))
    expected = f"line {lines.count(chr(10)) + 1}, column 'x': 'bad'"
    with tempfile.TemporaryDirectory() as place:
        assert expected in message(place, lines + 'z,"s\n",bad\n')


def test_feature_columns_and_features_npz_together_are_refused(tmp_path):
    text = message(tmp_path, NODES, features=savez(features=TABLE))
    assert "'x', 'y'" in text and "features.npz" in text and "keep one" in text


@pytest.mark.parametrize("missing", ["nodes.csv", "edges.csv"])
def test_a_missing_file_is_named(tmp_path, missing):
    put(tmp_path, NODES)
    (tmp_path / missing).unlink()
    assert f"has no {missing}" in message(tmp_path, edges=None)


@pytest.mark.parametrize("path", ["", "nowhere", "a\0b", "\ud800", "x" * 5000, "file", "loop"])
@needs_unix
def test_what_is_not_a_folder_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    os.symlink("loop", "loop")
    with pytest.raises(BupError, match=r"nodes\.csv and edges\.csv") as caught:
        folder.load(path)
    assert_readable(caught.value)
    assert repr(path)[:30] in str(caught.value)


@pytest.mark.parametrize("name", ["nodes.csv", "edges.csv", "features.npz"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "nothing"])
@needs_unix
def test_what_is_not_a_file_is_refused_without_waiting_for_it(tmp_path, name, kind):
    put(tmp_path, TEXT_NODES, features=savez(features=TABLE))
    place = tmp_path / name
    place.unlink()
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(place if kind == "loop" else tmp_path / "nothing")
    assert name in message(tmp_path, edges=None)


@pytest.mark.parametrize("name", ["nodes.csv", "edges.csv", "features.npz"])
def test_permission_denied_names_the_file(tmp_path, monkeypatch, name):
    """Patched, because the superuser may read everything."""

    def forbidden(path, mode):
        if path.endswith(name):
            raise PermissionError(13, "Permission denied", path)
        return open(path, mode)

    monkeypatch.setattr(folder, "open", forbidden, raising=False)
    text = message(tmp_path, TEXT_NODES, features=savez(features=TABLE))
    assert f"{name}' (Permission denied)" in text


def test_a_lack_of_memory_is_an_error_in_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(folder, "simple_edges", full)
    assert "not enough memory" in message(tmp_path, NODES)


@pytest.mark.parametrize(
    ("limit", "value", "files", "fragment"),
    [
        ("csv_bytes", 50, {"nodes": NODES}, "nodes.csv has 54 bytes"),
        ("row_bytes", 12, {"nodes": NODES}, "nodes.csv, line 1: the row has over 12"),
        ("nodes", 3, {"nodes": NODES}, "nodes.csv, line 5: more than 3 rows"),
        ("edges", 1, {"nodes": NODES}, "edges.csv, line 3: more than 1 rows"),
        ("features", 1, {"nodes": NODES}, "nodes.csv has 2 feature columns"),
        ("values", 7, {"nodes": NODES}, "nodes.csv has 8 or more feature values"),
        ("classes", 1, {"nodes": NODES}, "2 different labels ('blue', 'red')"),
        ("npz_bytes", 99, {"features": savez(features=TABLE)}, "features.npz has"),
        ("features", 1, {"features": savez(features=TABLE)}, "features.npz has 2 columns"),
        ("values", 7, {"features": savez(features=TABLE)}, "features.npz has 8"),
        ("features", 3, {"features": csr_parts()}, "features.npz has 4 columns"),
        ("values", 2, {"features": csr_parts()}, "features.npz has 3"),
    ],
)
def test_too_much_is_refused(tmp_path, monkeypatch, limit, value, files, fragment):
    files = {"nodes": TEXT_NODES} | files
    assert load(tmp_path, **files)
    set_limit(monkeypatch, limit, value)
    assert fragment in message(tmp_path, **files)


def test_a_row_does_not_outgrow_its_limit_over_quoted_newlines(tmp_path, monkeypatch):
    set_limit(monkeypatch, "row_bytes", 60)
    many_short_rows = "id,label,x\n" + "".join(f"n{i},c{i % 2},1\n" for i in range(50))
    assert load(tmp_path, many_short_rows, "source,target\nn1,n2\n").num_nodes == 50
    one_long_row = "id,label,x\n" + '"a","\n",' * 50 + "1\n"
    assert "nodes.csv, line 2: the row has over 60 bytes" in message(tmp_path, one_long_row)


@given(st.sampled_from(["nodes", "edges", "features"]), st.binary(max_size=60), st.booleans())
@fuzz
def test_any_bytes_give_a_graph_or_an_error(name, content, after_a_good_start):
    files = {"nodes": NODES, "edges": EDGES}
    if name == "features":
        files = {"nodes": TEXT_NODES, "features": EXAMPLES["table"]}
    start = files[name] if after_a_good_start else ""
    files[name] = (start if isinstance(start, bytes) else start.encode()) + content
    graph_or_error(**files)


words = "id label x title source target a b c red 0 1.5 -2 nan"
marks = [",", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', " ", ";", "\ufeff", "\0", "é", "_"]
pieces = st.sampled_from(words.split() + marks)


@given(
    st.sampled_from(["", "id,label,x\n", NODES]),
    st.lists(pieces, max_size=40).map("".join),
    st.sampled_from(["", "source,target\n", EDGES]),
    st.lists(pieces, max_size=20).map("".join),
)
@fuzz
def test_any_text_gives_a_graph_or_an_error(nodes_start, nodes, edges_start, edges):
    graph_or_error(nodes=nodes_start + nodes, edges=edges_start + edges)


@given(
    st.lists(st.lists(st.text("01.e-+_ an\xa0٣", max_size=4), min_size=2, max_size=2), min_size=2)
)
@fuzz
def test_a_table_is_accepted_exactly_if_every_cell_is_a_plain_number(rows):
    def is_plain_number(cell):
        try:
            return cell.isascii() and "_" not in cell and abs(float(cell)) <= 1e6
        except ValueError:
            return False

    nodes = csv_of(
        ["id", "label", "x", "y"], ([f"n{i}", i % 2, *row] for i, row in enumerate(rows))
    )
    graph = graph_or_error(nodes=nodes, edges="source,target\nn0,n1\n")
    if all(is_plain_number(cell) for row in rows for cell in row):
        expected = np.array([[float(cell) for cell in row] for row in rows], np.float32)
        np.testing.assert_array_equal(dense(graph.features), expected)
    else:
        assert graph is None
