"""Fail when a test was skipped for want of something that could have been installed.

Reads the ``-ra`` summary of pytest: a skip is fine only where its reason says why this machine or
this kind of run cannot have it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FINE = re.compile(
    r"slow: |has no configuration file|by its facts alone|\broot\b|mounted here|this platform", re.I
)
lines = Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").splitlines()
skipped = [line for line in lines if re.match(r"(\S+: )?SKIPPED \[\d+\]", line.strip())]
bad = [line for line in skipped if not FINE.search(line)]
for line in bad:
    print(f"skipped without need: {line.strip()}", file=sys.stderr)
if not any(re.search(r"\b\d+ passed\b", line) for line in lines):
    sys.exit(f"{sys.argv[1]}: no test has passed; was anything run?")
sys.exit(1 if bad else 0)
