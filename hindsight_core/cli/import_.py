"""``hindsight-mem import``: past sessions, git history, what other memories have kept."""

from __future__ import annotations

import click

from hindsight_core.cli.import_git import git
from hindsight_core.cli.import_sessions import sessions
from hindsight_core.cli.import_state import state


@click.group("import")
def import_() -> None:
    """Bring what you have: past sessions, git history, the state of the plugins replaced."""


import_.add_command(sessions)
import_.add_command(state)
import_.add_command(git)
