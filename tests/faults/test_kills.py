from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).with_name("kills.py")


@pytest.mark.spec("br/BR-11", "br/BR-62")
@pytest.mark.timeout(1800)
def test_killed_writers_lose_nothing_and_store_nothing_twice(kills):
    done = subprocess.run(
        [sys.executable, str(KILLS), "--kills", str(kills), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    tally = json.loads(done.stdout)
    print(f"{tally['kills']} kills: lost {tally['lost']}, doubled {tally['doubled']}")
    assert tally["problems"] == []
    assert tally["kills"] >= kills
    assert tally["acknowledged"] > kills
    assert (tally["lost"], tally["doubled"], tally["pending"], tally["dead"]) == (0, 0, 0, 0)
