"""What one drag in each lesson costs the server: a run of the page without a browser."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from bup import runs
from dashboard.learn import cases

APP = Path(__file__).parent.parent / "dashboard" / "app.py"
REPEATS = 15
TARGET = 0.3

# A lesson's file, and two values between which its slider goes back and forth.
DRAGS: dict[str, tuple[str, float, float]] = {
    "confident": ("believe", 0.6, 0.7),
    "message": ("std_0", 0.8, 1.2),
    "travel": ("node_variance", 2.0, 3.0),
    "loss": ("margin", -0.5, 0.5),
    "calibration": ("temperature", 0.6, 0.8),
    "unseen": ("flag_confidence", 0.3, 0.4),
}


def run() -> None:
    """The whole script runs here; in a browser a drag reruns the lesson's fragment only."""
    os.chdir(APP.parent.parent)
    app = AppTest.from_file(str(APP), default_timeout=300).run()
    print(f"one drag, server side, median of {REPEATS} (longest), target {TARGET} s")
    for page, (key, one, other) in DRAGS.items():
        app.switch_page(f"learn/{page}.py").run()

        def drag(turn: int, key: str = key, values: tuple[float, float] = (one, other)) -> None:
            app.slider(key).set_value(values[turn % 2]).run()

        _report(page, drag)

    def retrain(turn: int) -> None:
        cases._trained.clear()
        app.slider("strength").set_value(round(0.5 + 0.1 * turn, 1))
        app.button[0].click().run()

    # Nothing is found in the store and nothing is kept: every turn trains.
    with patch.object(runs, "stored", return_value=None), patch.object(runs, "keep"):
        app.switch_page("learn/truth.py").run()
        _report("truth, with its training", retrain, repeats=4)


def _report(name: str, interaction: Callable[[int], None], repeats: int = REPEATS) -> None:
    interaction(0)
    seconds = []
    for turn in range(1, repeats + 1):
        start = time.perf_counter()
        interaction(turn)
        seconds.append(time.perf_counter() - start)
    print(f"  {name:<26} {statistics.median(seconds):6.3f} s  ({max(seconds):.3f} s)")
