"""Install the built wheel alone in a fresh environment and use it once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

wheels = list(Path(sys.argv[1]).glob("*.whl"))
if len(wheels) != 1:
    sys.exit(f"one wheel is wanted in {sys.argv[1]}, there are {len(wheels)}")
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
    for command in (
        [binaries / "python", "-m", "pip", "install", "--quiet", str(wheels[0])],
        [binaries / "hindsight-mem", "--version"],
        [binaries / "hindsight-mem", "prompts", "check"],
        [binaries / "hindsight-mem", "prompts", "show", "recall/judge"],
        [binaries / "hindsight-mem", "plugins"],
    ):
        subprocess.run([str(part) for part in command], cwd=folder, env=env, check=True)  # noqa: S603
