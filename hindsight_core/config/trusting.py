"""Trust and changes made by the user's own hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hindsight_core.config.trust import TrustStore
from hindsight_core.services import utc_now

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded


@contextmanager
def keep_trust(loaded: Loaded) -> Iterator[None]:
    """A project that was trusted stays so through a change that its user makes with us."""
    project = loaded.project
    yield
    if project.trusted and project.root and project.checkout:
        store = TrustStore(loaded.paths.trust)
        if str(project.root) in store.projects():
            store.add(project.root, project.checkout, now=utc_now())
