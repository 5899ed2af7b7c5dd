"""Print the n-th fenced ``sh`` block of the README."""

from __future__ import annotations

import re
import sys
from pathlib import Path

number = int(sys.argv[1])
text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
if len(blocks) < number:
    sys.exit(f"README.md has {len(blocks)} fenced sh blocks, and number {number} is wanted")
print(blocks[number - 1].rstrip())
