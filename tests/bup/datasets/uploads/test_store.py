"""Who may keep how much of what is brought."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bup
from bup.datasets import uploads
from bup.datasets.uploads import store
from bup.datasets.uploads.store import Uploader
from bup.io import limits


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))


def of_megabytes(size: float) -> bytes:
    return bytes(int(size * limits.MEGABYTE))


def test_all_who_write_at_once_stay_within_the_space(monkeypatch):
    monkeypatch.setenv("BUP_OWN_SPACE_MB", "4")
    start = threading.Barrier(8)

    def save(_: int) -> bool:
        start.wait()
        try:
            uploads.STORE.save(store.new_token(), of_megabytes(1))
        except bup.BupError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, range(8))) == 4
    assert sum(kept.size for kept in store._stored_files()) == 4 * limits.MEGABYTE


def test_a_visitor_has_a_share_in_which_the_longest_unopened_goes_first(monkeypatch):
    monkeypatch.setenv("BUP_OWN_SPACE_MB", "8")
    ann, bob = Uploader("ann", "here"), Uploader("bob", "here")

    def keep(owner: Uploader, size: float) -> str:
        token = store.new_token()
        uploads.STORE.save(token, of_megabytes(size), owner)
        return token

    others = keep(bob, 0.5)
    old, opened = keep(ann, 0.4), keep(ann, 0.4)
    for token, age in ((old, 200), (opened, 300), (others, 900)):
        os.utime(uploads.STORE.path(token), (time.time() - age,) * 2)
    uploads.STORE.touch(opened)
    newest = keep(ann, 0.4)
    assert (
        not uploads.STORE.path(old).exists()
        and not uploads.STORE.path(old).with_suffix(".owner").exists()
    )
    assert all(uploads.STORE.path(token).exists() for token in (opened, newest, others))
    with pytest.raises(bup.BupError, match=r"a visitor may keep 1\.0 MB"):
        keep(ann, 1.1)
    assert uploads.STORE.path(opened).exists(), "nothing goes for what there is no room for"


def test_new_names_at_one_address_leave_room_for_others(monkeypatch):
    monkeypatch.setenv("BUP_OWN_SPACE_MB", "8")
    kept = 0
    with pytest.raises(bup.BupError, match=r"in your network keep 4\.0 MB"):
        for number in range(30):
            uploads.STORE.save(
                store.new_token(), of_megabytes(1), Uploader(f"eve{number}", "there")
            )
            kept += 1
    assert kept == 4
    uploads.STORE.save(store.new_token(), of_megabytes(1), Uploader("ann", "here"))
