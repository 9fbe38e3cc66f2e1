"""What files may name and load; which folder may use which is in pyproject.toml (lint-imports)."""

import re
import subprocess
import sys

from tests.support import ROOT


def test_no_file_names_a_registry_or_needs_a_pickle():
    for path in ROOT.glob("bup/**/*.py"):
        source = path.read_text()
        assert "pypi" not in source.lower(), path
        assert "torch.load(" not in source and "allow_pickle=True" not in source, path


def test_training_does_not_wait_for_packages_that_few_need():
    """Every training process would: together they take longer to load than a model to train."""
    script = "import sys, bup.jobs.sweep; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "bup.jobs.sweep" in loaded
    assert not loaded & {"torch_geometric", "gpytorch", "sklearn.cluster"}


def test_the_process_that_keeps_the_queue_needs_no_torch():
    script = "import sys, dashboard.server.balancer; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "dashboard.training_queue.local_queue" in loaded and not loaded & {
        "torch",
        "streamlit",
        "pandas",
    }


def test_no_page_and_no_lesson_trains_inside_the_server():
    """Runs go through the queue; only what was predicted elsewhere becomes one on the spot."""
    # What follows >>> is an example in a docstring.
    trains = re.compile(r"^(?! *>>>).*\b((bup|fitting)\.fit|fit_specs|fit_many)\(", re.MULTILINE)
    found = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("dashboard/**/*.py"))
        if trains.search(path.read_text())
    ]
    assert found == ["dashboard/views/upload/predictions.py"]
