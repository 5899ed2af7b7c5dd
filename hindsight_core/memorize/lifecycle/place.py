"""The project of a memory (am/A-REC-5)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.layers import Project


def memory_project(project: Project) -> str:
    """Twenty hex digits of the remote's address, or of the folder where there is none."""
    named = (project.remote or "").strip() or str(project.root or "")
    return hashlib.sha256(named.encode(errors="surrogatepass")).hexdigest()[:20]
