"""``python -m hindsight_core``: the same as ``hindsight-mem``."""

from __future__ import annotations

from hindsight_core.cli.entry import main

main()
