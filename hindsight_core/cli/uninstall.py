"""``hindsight-mem uninstall``: see `hindsight_core.cli.install`."""

from __future__ import annotations

from hindsight_core.cli.install import uninstall

__all__ = ["uninstall"]
