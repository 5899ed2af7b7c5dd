"""Failing asserts of the shipped suites are explained like our own; a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.register_assert_rewrite("hindsight_core.testing.banks")


CACHE = Path(__file__).parents[2] / ".ci/cache"
SCRIPT = Path(__file__).parents[1] / "servers/hindsight.py"
VERSION = os.environ.get("HINDSIGHT_TEST_SERVER_VERSION", "1.1.0")


@pytest.fixture(scope="session")
def hindsight_url():
    """The address in HINDSIGHT_TEST_URL, else a server of our own; skips where it cannot be."""
    if os.environ.get("HINDSIGHT_TEST_URL"):
        yield os.environ["HINDSIGHT_TEST_URL"]
        return
    venv = Path(os.environ.get("HINDSIGHT_TEST_SERVER", CACHE / f"hindsight-{VERSION}"))
    # PostgreSQL may have to run as another user, to whom pytest's own folders are closed.
    folder = Path(tempfile.mkdtemp(prefix="hindsight-server-"))
    folder.chmod(0o755)
    state = folder / "state"
    try:
        run("install", venv, "--version", VERSION)
        url = run("start", venv, state).strip().removeprefix("HINDSIGHT_URL=")
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", None) or error
        shutil.rmtree(folder)
        pytest.skip(f"no Hindsight server {VERSION}: {str(said)[-300:]}")
    yield url
    run("stop", state)
    folder.rmdir()


def run(*arguments: object) -> str:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    return done.stdout
