"""A small part of what ``tox -e faults`` does, with every run of the tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.timeout(600),
]


def tally(*arguments: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, str(RUN), "--json", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    assert found["problems"] == []
    assert (found["lost"], found["doubled"], found["blocked"]) == (0, 0, 0)
    return found


@pytest.mark.spec("br/BR-11", "br/BR-29")
def test_whoever_writes_may_be_killed():
    found = tally("--only", "kills", "--kills", "12")
    assert found["kills"] >= 12
    assert found["acknowledged"] > 12


@pytest.mark.parametrize(
    "disaster",
    [
        pytest.param("clock-jumps", marks=pytest.mark.spec("br/BR-37")),
        pytest.param("full-disk", marks=pytest.mark.spec("br/BR-76")),
        pytest.param("upgrade-under-a-bridge", marks=pytest.mark.spec("br/BR-31")),
        pytest.param("servers", marks=[pytest.mark.slow, pytest.mark.spec("br/BR-35")]),
        pytest.param("read-only-home", marks=[pytest.mark.slow, pytest.mark.spec("br/BR-76")]),
        pytest.param("sixteen-processes", marks=[pytest.mark.slow, pytest.mark.spec("br/BR-14")]),
        pytest.param("lock-held-30-s", marks=[pytest.mark.slow, pytest.mark.spec("br/BR-14")]),
        pytest.param("damaged-files", marks=pytest.mark.slow),
    ],
)
def test_the_ground_may_give_way(disaster):
    found = tally("--only", "disasters", "--disaster", disaster)
    if found["skipped"]:
        pytest.skip(str(found["skipped"]))
    assert found["faults"] >= 1
