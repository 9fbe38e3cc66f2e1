import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bup.datasets import folder
from bup.errors import BupError
from tests.support.folder_files import (
    BAG,
    EXAMPLES,
    TABLE,
    TEXT_NODES,
    assert_readable,
    csr_parts,
    dense,
    fuzz,
    graph_or_error,
    message,
    npy,
    npy_claiming,
    put,
    save_csr,
    savez,
    set_limit,
    zipped,
)


@pytest.mark.parametrize(
    ("features", "fragments"),
    [
        (b"", ["truncated or no npz"]),
        (b"id,x\na,1\n", ["truncated or no npz", r"\na,1\n"]),
        (npy(TABLE), ["truncated or no npz"]),
        (savez(features=TABLE)[:-1], ["truncated or no npz"]),
        (zipped({}), ["no array 'features' but nothing"]),
        (savez(words=TABLE), ["no array 'features'", "'words.npy'", "numpy.savez"]),
        (savez(features=TABLE, format=b"csr"), ["both", "keep one"]),
        (zipped({"features.npy": b"junk"}), ["damaged"]),
        (
            zipped({"features.npy": npy(TABLE)[:-1]}),
            ["'features'", "float64", "(4, 2)", "has 63 bytes"],
        ),
        (
            zipped({"features.npy": npy(TABLE) + b"x"}),
            ["'features'", "float64", "(4, 2)", "has 65 bytes"],
        ),
        (zipped({"features.npy": b"\x93NUMPY\x07" + npy(TABLE)[7:]}), ["damaged"]),
        (zipped({"features.npy": npy_claiming("<f8", (-2, -4), bytes(64))}), ["(-2, -4)"]),
        (zipped({"features.npy": npy_claiming("<f8", (2**62, 2**62))}), ["'features' claims"]),
        (zipped({"features.npy": npy_claiming("<f8", (10**4000, 2))}), ["'features' claims"]),
        (savez(features=TABLE.astype(object)), ["'features'", "'object'", "numbers"]),
        (savez(features=TABLE.astype(complex)), ["'complex128'"]),
        (savez(features=TABLE.astype(str)), ["'<U"]),
        (savez(features=np.zeros(4, [("a", float)])), ["'features'", "[('a', '<f8')]"]),
        (savez(features=np.zeros(4)), ["'features'", "(4,)", "2-dimensional numbers"]),
        (savez(features=np.zeros((4, 1, 1))), ["(4, 1, 1)", "2-dimensional"]),
        (savez(features=np.zeros((3, 2))), ["3 rows", "nodes.csv has 4 nodes"]),
        (savez(features=np.zeros((4, 0))), ["0 columns"]),
        (savez(features=np.where(TABLE == 4, np.nan, TABLE)), ["row 3", "'c'", "column 2", "nan"]),
        (savez(features=np.where(TABLE == 6, -np.inf, TABLE)), ["row 4", "'d'", "-inf"]),
        (savez(features=np.where(TABLE == 6, np.inf, TABLE).astype(np.float16)), ["inf"]),
        (savez(features=np.where(TABLE == 2, 1e300, TABLE)), ["row 2", "'b'", "1e+300", "scale"]),
        (
            savez(features=np.full((4, 1), np.iinfo(np.int64).min)),
            ["row 1", "-9223372036854775808"],
        ),
        (save_csr(sparse.csc_array(BAG)), ["b'csc'", ".tocsr()"]),
        (save_csr(sparse.coo_array(BAG)), ["b'coo'", ".tocsr()"]),
        (csr_parts(format=b"csr" * 30), ["format '?'", ".tocsr()"]),
        (csr_parts(format=7), ["'format'", "'int64'", "text"]),
        (csr_parts(indptr=None), ["no array 'indptr'"]),
        (csr_parts(shape=(4,)), ["1 dimensions"]),
        (csr_parts(shape=(4, 4, 1)), ["3 dimensions"]),
        (csr_parts(shape=(4.0, 4.0)), ["'shape'", "'float64'", "whole numbers"]),
        (csr_parts(shape=(5, 4)), ["5 rows", "nodes.csv has 4 nodes"]),
        (csr_parts(shape=(4, -4)), ["-4 columns"]),
        (csr_parts(shape=(4, 2**40)), ["1,099,511,627,776 columns"]),
        (csr_parts(data=np.ones(2)), ["'indices'", "3 entries where 2 belong"]),
        (csr_parts(data=np.array([1, 2, {}])), ["'data'", "'object'"]),
        (csr_parts(indptr=np.array([0, 1, 3])), ["'indptr'", "3 entries where 5 belong"]),
        (csr_parts(indptr=np.array([0, 2, 1, 2, 3])), ["row 2", "'indptr'", "from 2 to 1"]),
        (csr_parts(indptr=np.array([1, 1, 2, 2, 3])), ["row 1", "'indptr'", "from 1 to 1"]),
        (csr_parts(indptr=np.array([0, 1, 2, 2, 2])), ["row 4", "'indptr'", "from 2 to 2"]),
        (csr_parts(indptr=np.array([0, 1, 2, 2, 2**32 + 3])), ["row 4", "to 4294967299"]),
        (csr_parts(indices=np.array([3, 1, 4])), ["row 4", "'indices'", "has 4", "0 and 3"]),
        (csr_parts(indices=np.array([3, -1, 0])), ["row 2", "'indices'", "has -1"]),
        (csr_parts(indices=np.array([3, 2**32, 0])), ["row 2", "'indices'", "has 4294967296"]),
        (csr_parts(indices=np.array([3.0, 1, 0])), ["'indices'", "'float64'"]),
        (csr_parts(data=np.array([1, np.nan, 2])), ["row 2", "'b'", "column 2", "nan"]),
        (csr_parts(data=np.array([1, 2, np.inf])), ["row 4", "'d'", "column 1", "inf"]),
        (csr_parts(data=np.array([1, 2, 10**9])), ["row 4", "'d'", "1000000000", "scale"]),
        (
            # Each within the limit, their sum is not.
            csr_parts(data=np.full(3, 7e5), indices=np.zeros(3, int), indptr=[0, 0, 2, 2, 3]),
            ["row 2", "'b'", "column 1", "1400000.0", "scale"],
        ),
    ],
)
def test_bad_features_npz_says_what_and_how_to_mend(tmp_path, features, fragments):
    text = message(tmp_path, TEXT_NODES, features=features)
    for fragment in ["features.npz", *fragments]:
        assert fragment in text


def with_claimed_size(archive, size):
    """Make the zip's directory and local header claim that the first member unpacks to ``size``."""
    directory = archive.index(b"PK\x01\x02")
    claim = struct.pack("<I", size)
    archive = archive[: directory + 24] + claim + archive[directory + 28 :]
    return archive[:22] + claim + archive[26:]


BOMB = zipped({"features.npy": npy(np.zeros((4, 2_000_000)))})
CSR_BOMB = zipped(
    {
        "format.npy": npy(np.array(b"csr")),
        "shape.npy": npy(np.array([4, 4])),
        "data.npy": npy(np.zeros(5_000_000, np.uint8)),
        "indices.npy": npy(np.zeros(5_000_000, np.uint8)),
        "indptr.npy": npy(np.array([0, 0, 0, 0, 5_000_000])),
    }
)
LONG_HEADER = b"\x93NUMPY\x02\x00" + struct.pack("<I", 60_000_000) + b" " * 60_000_000


@pytest.mark.parametrize(
    ("features", "fragment"),
    [
        (BOMB, "unpacks to 64,000,128 bytes"),
        (CSR_BOMB, "features.npz unpacks to 10,000,"),
        (with_claimed_size(BOMB, 20_000), "(4, 2000000)' but has 19,872 bytes"),
        (
            with_claimed_size(zipped({"features.npy": npy(TABLE)}), 2**31),
            "unpacks to 2,147,483,648",
        ),
        (
            with_claimed_size(zipped({"features.npy": npy(TABLE) + bytes(60_000_000)}), 192),
            "damaged",
        ),
        (zipped({"features.npy": npy(TABLE)}, zipfile.ZIP_BZIP2), "zip compression 12"),
        (zipped({"features.npy": npy(TABLE)}, zipfile.ZIP_LZMA), "zip compression 14"),
        (zipped({f"{k}.npy": b"" for k in range(2000)}), "too many files"),
        (with_claimed_size(zipped({"features.npy": LONG_HEADER}), 5_000_000), "damaged"),
    ],
)
def test_bombs_are_refused_before_they_are_unpacked(tmp_path, monkeypatch, features, fragment):
    set_limit(monkeypatch, "npz_bytes", 9_000_000)
    put(tmp_path, TEXT_NODES, features=features)
    tracemalloc.start()
    try:
        text = message(tmp_path, edges=None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fragment in text
    assert peak < 2_000_000


def test_a_second_zip_directory_of_64_bits_is_refused(tmp_path):
    """``zipfile`` would believe it rather than the small one that was checked."""
    archive = savez(features=TABLE)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    text = message(tmp_path, TEXT_NODES, features=archive[:-22] + locator + archive[-22:])
    assert "truncated or no npz file" in text


@pytest.mark.parametrize("archive", EXAMPLES.values(), ids=EXAMPLES)
def test_a_damaged_byte_anywhere_gives_a_graph_or_an_error(tmp_path, archive):
    put(tmp_path, TEXT_NODES)
    refused = 0
    for position in range(len(archive)):
        damaged = bytearray(archive)
        damaged[position] ^= 0xFF if position % 2 else 0x01
        (tmp_path / "features.npz").write_bytes(damaged)
        try:
            graph = folder.load(tmp_path)
        except BupError as error:
            assert_readable(error)
            refused += 1
        else:
            assert dense(graph.features).tolist() in (BAG.tolist(), TABLE.tolist())
    assert refused > len(archive) / 3


def test_a_truncated_archive_is_always_refused(tmp_path):
    put(tmp_path, TEXT_NODES)
    archive = EXAMPLES["compressed csr"]
    for length in range(0, len(archive), 3):
        (tmp_path / "features.npz").write_bytes(archive[:length])
        assert "truncated or no npz" in message(tmp_path, edges=None)


@given(st.data())
@fuzz
def test_damage_inside_a_member_with_a_right_checksum_gives_a_graph_or_an_error(data):
    """Checksums hide the parsing behind them from the tests that damage the archive itself."""
    archive = zipfile.ZipFile(io.BytesIO(EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))]))
    members = {name: bytearray(archive.read(name)) for name in archive.namelist()}
    victim = members[data.draw(st.sampled_from(sorted(members)))]
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(victim) - 1))
        length = data.draw(st.integers(0, 3))
        victim[position : position + length] = data.draw(st.binary(max_size=3))
        if not victim:
            break
    content = {name: bytes(member) for name, member in members.items()}
    graph_or_error(nodes=TEXT_NODES, features=zipped(content, zipfile.ZIP_STORED))


@given(
    st.sampled_from(
        ["'<f8'", "'|O'", "'<U3'", "[('a','<f8')]", "('<f8',(2,))", "-" * 500, "x", "()"]
    ),
    st.sampled_from(["(4, 2)", "(True, 8)", "(8,)", "(4, 2.0)", "'ab'", "None", "(-1, -8)"]),
    st.sampled_from(["False", "True", "None", "(" * 150, "[" * 9000, "'\\x1b'"]),
)
@settings(fuzz, max_examples=60)
def test_any_header_gives_a_graph_or_an_error(descr, shape, fortran):
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}}}\n".encode()
    member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64)
    graph_or_error(nodes=TEXT_NODES, features=zipped({"features.npy": member}))
