"""What one drag in each lesson costs the server: a run of the page without a browser."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard.learn.lesson import LESSONS
from tests.support import ROOT

APP = ROOT / "dashboard" / "app.py"
REPEATS = 15
TARGET = 0.2
PATIENCE = 120

# A lesson, and two values between which its slider goes back and forth.
DRAGS: dict[str, tuple[str, float, float]] = {
    "confident": ("believe", 0.6, 0.7),
    "message": ("std_0", 0.8, 1.2),
    "travel": ("node_variance", 2.0, 3.0),
    "loss": ("margin", -0.5, 0.5),
    "calibration": ("temperature", 0.6, 0.8),
    "unseen": ("flag_confidence", 0.3, 0.4),
    "kinds": ("kind_labels", 20, 50),
    "sees": ("strangers", 20, 80),
    "coverage": ("set_level", 0.8, 0.95),
}


def _knob(app: AppTest, key: str) -> Any:
    """The slider of that key, if the page has it by now."""
    return next((each for each in [*app.slider, *app.select_slider] if each.key == key), None)


def run() -> None:
    """The whole script runs here; in a browser a drag reruns the lesson's fragment only."""
    os.chdir(ROOT)
    addresses = {lesson.name: lesson.address for lesson in LESSONS}
    app = AppTest.from_file(str(APP), default_timeout=300).run()
    print(f"one drag, server side, median of {REPEATS} (longest), target {TARGET} s")
    for page, (key, *values) in DRAGS.items():
        # ``AppTest.switch_page`` knows only pages that are files.
        app._page_hash = calc_hash(addresses[page])
        app.run()
        deadline = time.monotonic() + PATIENCE  # its model may have to be trained first
        while _knob(app, key) is None and time.monotonic() < deadline:
            time.sleep(0.5)
            for question in list(app.radio):  # some sliders come with a guess
                question.set_value(0)
            app.run()
        seconds = []
        for turn in range(REPEATS + 1):
            start = time.perf_counter()
            _knob(app, key).set_value(values[turn % 2]).run()
            seconds.append(time.perf_counter() - start)
        _, *others = seconds  # the first may still load what the page keeps
        print(f"  {page:<12} {statistics.median(others):6.3f} s  ({max(others):.3f} s)")
