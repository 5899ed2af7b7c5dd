"""Tells once that a repository has a history which its bank knows nothing of; reads none itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.engine.notices import Notices
    from hindsight_core.runtime import Runtime

TOLD = "offered:history"
OFFER = (
    "Memory knows nothing of this repository yet. `hindsight-mem import git` reads its commit "
    "messages, `hindsight-mem import sessions` what agents have kept; both count first with "
    "--dry-run. Nothing is read unless you ask, and this is told once."
)
_REF = re.compile(r"ref: (\S+)")


async def offer_history(runtime: Runtime, notices: Notices) -> None:
    """At the first session of a repository with commits, whose bank is empty.

    Raises:
        HindsightError: The bank or the state cannot be asked; the next session tries again.
    """
    root = runtime.loaded.project.root
    if root is None or runtime.read_only or not has_commits(root):
        return
    bank = runtime.bank_id
    if await runtime.sessions.cursor(bank, TOLD) is not None:
        return
    counts = await runtime.bank.stats()
    if not counts.documents and not counts.facts:
        notices.say(OFFER)
    # A bank that holds something by now needs no offer later either.
    await runtime.sessions.set_cursor(bank, TOLD, "told")


def has_commits(root: Path) -> bool:
    """Whether a main worktree has a commit; git is not started for it."""
    folder = root / ".git"
    try:
        head = (folder / "HEAD").read_text("utf-8").strip()
        found = _REF.fullmatch(head)
        if found is None:
            return bool(re.fullmatch(r"[0-9a-f]{40,64}", head))
        if (folder / found[1]).is_file():
            return True
        packed = (folder / "packed-refs").read_text("utf-8", "replace")
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.endswith(f" {found[1]}") for line in packed.splitlines())
