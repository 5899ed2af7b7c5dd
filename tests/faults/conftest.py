"""Processes that really die, locks that are really held, disks that are really full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def usual() -> int:
    return int(os.environ.get("HINDSIGHT_MEM_TEST_KILLS") or 12)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kills",
        type=int,
        default=usual(),
        help="how many writers to kill (also HINDSIGHT_MEM_TEST_KILLS)",
    )


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    # The option is known only where this folder was named on the command line.
    count: int = request.config.getoption("--kills", default=usual())
    return count


@pytest.fixture
def worker():
    """Start a worker over a home; what still runs at the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(home: Path, *arguments: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), str(home), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with 2 MB; mounted read-only or filled by the test."""
    point = tmp_path / "disk"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(point)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield point
    subprocess.run(["umount", "-l", str(point)], check=True)
