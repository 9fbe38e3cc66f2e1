import errno
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from bup.io import files
from bup.io.files import DamagedFile

ARRAYS = {"a": np.arange(6, dtype=np.int64).reshape(2, 3), "b": np.array([0.5], dtype=np.float32)}
VALUES = {"text": "é", "list": [1, None, True]}


def test_arrays_and_values_come_back():
    arrays, values = files.unpack(files.pack(ARRAYS, VALUES))
    assert values == VALUES and arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and np.array_equal(arrays[name], array)


def test_any_changed_byte_is_noticed():
    whole = files.pack(ARRAYS, VALUES)
    for i in range(len(whole)):
        damaged = bytearray(whole)
        damaged[i] ^= 1 << (i % 8)
        with pytest.raises(DamagedFile):
            files.unpack(bytes(damaged))


def test_any_truncation_is_noticed():
    whole = files.pack(ARRAYS, VALUES)
    for length in range(len(whole)):
        with pytest.raises(DamagedFile):
            files.unpack(whole[:length])


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "file"
    files.write_atomically(path, b"old")

    def disk_full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("readers", [2, 10_000])
def test_a_file_that_windows_reads_is_replaced_a_moment_later(tmp_path, monkeypatch, readers):
    replace, refusals = os.replace, iter(range(readers))

    def busy(*paths):
        if next(refusals, None) is not None:
            raise PermissionError("another process reads it")
        replace(*paths)

    monkeypatch.setattr(os, "replace", busy)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    path = tmp_path / "a"
    if readers < 10:
        files.write_atomically(path, b"new")
        assert path.read_bytes() == b"new"
    else:
        with pytest.raises(PermissionError):
            files.write_atomically(path, b"new")
    assert len(list(tmp_path.iterdir())) == (readers < 10)


def test_killed_while_writing_a_reader_sees_a_whole_file(tmp_path):
    path = tmp_path / "file"
    script = textwrap.dedent("""
        import itertools, sys
        from pathlib import Path
        from bup.io import files
        for i in itertools.count():
            files.write_atomically(Path(sys.argv[1]), bytes([i % 256]) * 3_000_000)
    """)
    for _ in range(4):
        writer = subprocess.Popen([sys.executable, "-c", script, str(path)])
        while not path.exists():
            time.sleep(0.005)
        time.sleep(0.05)
        writer.kill()
        writer.wait()
        data = path.read_bytes()
        assert len(data) == 3_000_000 and len(set(data)) == 1


def test_old_litter_is_removed_and_young_is_left(tmp_path):
    old, young = tmp_path / ".x.there-1.abc.tmp", tmp_path / ".x.there-2.abc.tmp"
    foreign = tmp_path / ".notes.tmp"  # of another program, in a folder of somebody's own
    for litter in (old, young, foreign):
        litter.write_bytes(b"half")
    for litter in (old, foreign):
        os.utime(litter, (0, 0))
    files.write_atomically(tmp_path / "x", b"data")
    assert not old.exists() and young.exists() and foreign.exists()


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    assert files.cache_folder() == tmp_path
    monkeypatch.delenv("BUP_CACHE")
    assert files.cache_folder().name == "bup-explorer"
