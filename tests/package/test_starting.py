"""Who asks for little waits for little: what a command imports on its way."""

import json
import os
import subprocess
import sys

import pytest
import torch

from bup.engine.adam import Adam

SLOW = {"torch", "pandas", "sklearn", "scipy.optimize", "scipy.stats", "networkx", "streamlit"}
COMMAND = """
import sys
from bup import cli
sys.argv = ["bup", *sys.argv[1:]]
try:
    cli.main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(cache, *arguments: str) -> tuple[str, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"BUP_CACHE": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(done.stderr.split())


def test_help_waits_for_no_library(tmp_path):
    said, loaded = imported(tmp_path, "--help")
    assert "dashboard" in said and "bup.cli.fitting" in loaded
    assert not loaded & {*SLOW, "numpy", "scipy"}


@pytest.mark.parametrize("arguments", [["graphs"], ["methods"], ["methods", "bup", "--json"]])
def test_lists_need_no_more_than_numpy(tmp_path, arguments):
    said, loaded = imported(tmp_path, *arguments)
    assert ("cora" in said) or ("BUP" in said)
    assert not loaded & {*SLOW, "scipy"}


def test_a_stored_run_needs_no_torch(stocked_cache):
    said, loaded = imported(stocked_cache, "fit", "--left-out", "6", "--json")
    assert json.loads(said)["stored"] and "ood" in json.loads(said)
    assert not loaded & SLOW


def test_training_does_not_import_the_compiler(tmp_path):
    graph = "synthetic:nodes=60,classes=2,words=20"
    sizes = ["--per-class", "2", "--validation", "2", "--test", "20", "--set", "epochs=2"]
    said, loaded = imported(tmp_path, "fit", "--graph", graph, *sizes, "--json")
    assert not json.loads(said)["stored"] and "torch" in loaded
    assert not loaded & {"torch._dynamo", "torch._inductor", "sympy", "torch_geometric"}


@pytest.mark.parametrize("fused", [False, True])
def test_adam_is_torchs_bit_by_bit(fused):
    ours, theirs = ([torch.linspace(-1, 1, 6).view(2, 3), torch.ones(4)] for _ in range(2))
    for tensor in (*ours, *theirs):
        tensor.requires_grad_()
    pairs = (
        (ours, Adam(ours, 0.01, 0.1, fused=fused)),
        (theirs, torch.optim.Adam(theirs, lr=0.01, weight_decay=0.1, fused=fused)),
    )
    for step in range(30):
        for (matrix, row), optimiser in pairs:
            optimiser.zero_grad()
            loss = (matrix.sin() * (step + 1)).sum()
            (loss if step % 3 else loss + row.square().sum()).backward()
            optimiser.step()
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
    assert not torch.equal(ours[1], torch.ones(4))
