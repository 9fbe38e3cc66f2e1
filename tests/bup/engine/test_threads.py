"""The same run has the same bits, however many threads there are."""

import json
import os
import subprocess
import sys

import torch

from bup.engine.threads import one_thread
from tests.support import ROOT, needs_unix

METHODS = ("bup", "bbde")
SCRIPT = """
import json, sys
from click.testing import CliRunner
from bup.cli import app
for method in sys.argv[1:]:
    words = ["fit", "--method", method, "--left-out", "6", "--set", "epochs=3", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    del found["seconds"]
    print(json.dumps(found))
"""


@needs_unix
def test_one_and_two_threads_give_every_digit_alike(stocked_cache, tmp_path):
    def start(threads: int) -> subprocess.Popen:
        cache = tmp_path / str(threads)
        cache.mkdir()
        (cache / "graphs").symlink_to(stocked_cache / "graphs")
        more = {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT), "BUP_CACHE": str(cache)}
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *METHODS],
            env=os.environ | more,
            stdout=subprocess.PIPE,
            text=True,
        )

    found = []
    for process in [start(1), start(2)]:
        found.append(process.communicate()[0].splitlines())
        assert process.returncode == 0
    assert len(found[0]) == len(METHODS)
    for method, one, two in zip(METHODS, *found, strict=True):
        assert json.loads(one)["test"]["accuracy"] > 0
        assert one == two, method


def test_what_others_chose_is_restored():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
