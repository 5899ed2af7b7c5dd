"""``hindsight-mem import``: past sessions, git history, what other memories have kept."""

from __future__ import annotations

import click

from hindsight_core.cli.import_git import git
from hindsight_core.cli.import_memories import claude_mem, mem0, notes
from hindsight_core.cli.import_sessions import sessions
from hindsight_core.cli.import_state import state


@click.group("import")
def import_() -> None:
    """Bring what you have: past sessions, git history, the state of the plugins replaced."""


for command in (sessions, git, state, notes, claude_mem, mem0):
    import_.add_command(command)
