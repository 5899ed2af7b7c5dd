"""Bridges at once on one home; the full count is in ``tests/bench/many_bridges.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "bench" / "many_bridges.py"


def test_three_at_once_lose_nothing_and_double_nothing() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--bridges", "3", "--turns", "4"],
        env=dict(os.environ), capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
