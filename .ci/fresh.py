"""Install the built wheels in a fresh environment, as a user would, and use them once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "session.jsonl"
folder_of_wheels = Path(sys.argv[1])
hosts = sorted(wheel.name.split("-")[0] for wheel in folder_of_wheels.glob("hindsight_host_*.whl"))
if len(list(folder_of_wheels.glob("hindsight_core-*.whl"))) != 1:
    sys.exit(f"one wheel of the core is wanted in {folder_of_wheels}")
# what a user types: the host alone; the core comes with it
wanted = [name.replace("_", "-") for name in hosts] or ["hindsight-core"]
with tempfile.TemporaryDirectory() as folder:
    place = Path(folder)
    venv.create(place / "venv", with_pip=True)
    binaries = place / "venv" / "bin"
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HINDSIGHT_", "PYTHON", "VIRTUAL_ENV"))
    }
    env |= {"HOME": folder, "HINDSIGHT_MEM_HOME": str(place / "home")}
    pip = [binaries / "python", "-m", "pip", "install", "--quiet"]
    for command in (
        [*pip, "--find-links", folder_of_wheels, *wanted],
        [binaries / "hindsight-mem", "--version"],
        [binaries / "hindsight-mem", "prompts", "check"],
        [binaries / "hindsight-mem", "prompts", "show", "recall/judge"],
        [binaries / "hindsight-mem", "plugins"],
        [binaries / "hindsight-mem", "install", "pi", "--dry-run"],
        [binaries / "hindsight-mem", "install", "omp", "--dry-run"],
        [binaries / "hindsight-mem", "remember", "--bank", "demo", EXAMPLE],
        [binaries / "hindsight-mem", "doctor", "--bank", "demo"],
    ):
        subprocess.run([str(part) for part in command], cwd=folder, env=env, check=True)  # noqa: S603
