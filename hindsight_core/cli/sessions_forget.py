"""``hindsight-mem sessions forget``: everything that a session has left in memory goes."""

from __future__ import annotations

import click

from hindsight_core.cli.app import App, common, confirm


@click.command()
@common
@click.argument("session_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def forget(app: App, session_id: str, yes: bool) -> None:  # noqa: FBT001
    """Delete what a session stored and what of it waits; it is ignored from now on.

    What another session has stated as well stays. `sessions set ID --mode normal` ends that the
    session is ignored.
    """
    confirm(f"Delete everything that session {session_id} left in memory?", yes=yes)
    app.run(_forget(app, session_id))


async def _forget(app: App, session_id: str) -> None:
    from hindsight_core.cli.sessions import one
    from hindsight_core.engine.forgetting import forget_session

    async with app.runtime() as runtime:
        found = (await one(runtime, session_id)).session_id
        done = await forget_session(runtime, found)
        bank = runtime.bank_id
    data = {"session": found, "bank": bank, "documents": list(done.documents), "facts": done.facts}
    text = f"session {found}: {len(done.documents)} document(s), {done.facts} fact(s) deleted"
    app.emit(data, lambda console: console.print(text, markup=False))
