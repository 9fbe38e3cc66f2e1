"""What several tests share."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

needs_unix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no signals, pipes or links that a test may make"
)
