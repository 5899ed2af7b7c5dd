"""``hindsight-mem facts``: look at single facts and correct them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from hindsight_core.banks.records import exported, listed
from hindsight_core.cli.app import App, check_editor, common, confirm
from hindsight_core.cli.facts_standing import bring_back, expire, retire, standing
from hindsight_core.cli.facts_standing import mark as worth
from hindsight_core.cli.facts_verify import verify
from hindsight_core.cli.one_by_one import one_by_one
from hindsight_core.errors import BankError, ConfigError, MemoryOff

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Fact, FactState
    from hindsight_core.runtime import Runtime
    from hindsight_core.worktree.tree import Tree

_STATES = ("valid", "superseded", "invalidated", "pending", "all")
_IDS = click.argument("ids", nargs=-1, required=True, metavar="ID...")
_ID = click.argument("fact_id", metavar="ID")


@click.group()
def facts() -> None:
    """Facts: list, show, edit, invalidate, expire, restore, verify, pin, unpin, delete.

    An ID is as listings show it, with or without the bank's name before it.
    """


facts.add_command(verify)
facts.add_command(expire)


@facts.command("list")
@common
@click.option("--limit", default=50, show_default=True, type=click.IntRange(min=0))
@click.option("--offset", default=0, show_default=True, type=click.IntRange(min=0))
@click.option("--state", default="valid", show_default=True, type=click.Choice(_STATES))
@click.option("--search", metavar="TEXT", help="Facts that contain this text.")
@click.option("--document", metavar="ID", help="Facts of this document.")
def list_(app: App, limit: int, offset: int, state: str, **which: str | None) -> None:
    """Facts, newest first."""
    app.run(_list(app, limit, offset, state, which))


async def _list(
    app: App, limit: int, offset: int, state: str, which: dict[str, str | None]
) -> None:
    wanted: FactState | None = None if state == "all" else state  # type: ignore[assignment]
    async with app.runtime(read_only=True) as runtime:
        bank = runtime.bank
        page = await bank.list_facts(
            state=wanted,
            limit=limit,
            offset=offset,
            search=which["search"],
            document_id=which["document"],
        )
        stand = await standing(runtime, page.facts)
        rows = [listed(f, bank=bank.id) | stand.get(f.id, {}) for f in page.facts]

    def human(console: Console) -> None:
        for row in rows:
            mark = "" if row["state"] == "valid" else f" ({row['state']})"
            kind = f"[{row['kind']}]{mark}{worth(row)}"
            console.print(f"{row['id']}  {kind} {row['text']}", markup=False)
        console.print(f"{len(rows)} of {page.total}", markup=False, style="dim")

    app.emit({"facts": rows, "total": page.total}, human)


@facts.command()
@common
@_IDS
def show(app: App, ids: tuple[str, ...]) -> None:
    """Everything about facts, in any state."""

    async def look(runtime: Runtime, fact: Fact) -> Fact:
        return fact

    app.run(_each(app, ids, look, full=True, writes=False))


@facts.command()
@common
@_ID
@click.option("--text", help="The new text; without it and without --tag, your editor opens.")
@click.option("--tag", "tags", multiple=True, help="Replace the tags; may be repeated.")
def edit(app: App, fact_id: str, text: str | None, tags: tuple[str, ...]) -> None:
    """Change a fact's text or tags; its id stays."""
    if text is None and not tags:
        check_editor("the new text with --text, or tags with --tag")
    app.run(_edit(app, fact_id, text, tags))


async def _edit(app: App, fact_id: str, text: str | None, tags: tuple[str, ...]) -> None:
    async with app.runtime() as runtime:
        bank = writable(runtime)
        fact = await find(bank, fact_id)
        if text is None and not tags:
            text = click.edit(fact.text)
            if text is None:
                raise ConfigError("nothing was changed; give --text or save in the editor")
        if text is not None:
            limit = runtime.settings.security.max_fact_characters
            text = runtime.sanitiser.fact_text(text, limit=limit)
            if not text:
                raise ConfigError("a fact needs a text; use `facts delete` or `facts invalidate`")
        clean = runtime.sanitiser.tags(tags)
        changed = await bank.edit_fact(fact.id, text=text, tags=clean or None)
        _emit(app, [changed], bank.id)


@facts.command()
@common
@_IDS
@click.option("--reason", help="Why, for whoever looks at it later.")
def invalidate(app: App, ids: tuple[str, ...], reason: str | None) -> None:
    """Retire facts that are wrong; memorizing does not bring them back."""
    app.run(_each(app, ids, lambda runtime, fact: retire(runtime, fact, reason=reason)))


@facts.command()
@common
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--entry", metavar="ID", help="All facts that one entry of the log retired.")
@click.option("--reason", help="Why, for the log.")
def restore(app: App, ids: tuple[str, ...], entry: str | None, reason: str | None) -> None:
    """Make retired facts valid again; `log --type invalidate` lists entries."""
    if bool(ids) == bool(entry):
        raise ConfigError("name facts, or one entry of `log --type invalidate` with --entry")
    if entry:
        app.run(_restore_entry(app, entry))
    else:
        app.run(_each(app, ids, lambda runtime, fact: bring_back(runtime, fact, reason=reason)))


async def _restore_entry(app: App, entry: str) -> None:
    from hindsight_core.engine.restoring import entry_of, restore_all

    async with app.runtime() as runtime:
        writable(runtime)
        found = entry_of(runtime.log, entry)
        done = await restore_all(runtime, found)

    def human(console: Console) -> None:
        console.print(done.said, markup=False)

    ids = [f"{done.bank}:{fact_id}" for fact_id in done.restored]
    app.emit({"entry": found["id"], "restored": ids, "total": done.total}, human)
    if done.error:
        raise BankError(f"{done.said}. What is left can be restored by the same command.")


@facts.command()
@common
@_IDS
def pin(app: App, ids: tuple[str, ...]) -> None:
    """Protect facts from being retired automatically."""
    app.run(_each(app, ids, lambda runtime, fact: runtime.bank.pin_fact(fact.id, pinned=True)))


@facts.command()
@common
@_IDS
def unpin(app: App, ids: tuple[str, ...]) -> None:
    """End that protection."""
    app.run(_each(app, ids, lambda runtime, fact: runtime.bank.pin_fact(fact.id, pinned=False)))


@facts.command()
@common
@_IDS
@click.option("--hard", is_flag=True, help="From our own files too; refused where a bank cannot.")
@click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
def delete(app: App, ids: tuple[str, ...], hard: bool, yes: bool) -> None:  # noqa: FBT001
    """Delete facts for good: no trace of the text stays in the bank."""
    confirm(f"Delete {len(ids)} fact(s) for good?", yes=yes)
    app.run(_delete(app, ids, hard=hard))


async def _delete(app: App, ids: tuple[str, ...], *, hard: bool) -> None:
    from hindsight_core.state.erasure import erase_text

    async with app.runtime() as runtime:
        bank = writable(runtime)
        found = [await find(bank, fact_id) for fact_id in ids]
        if hard and not bank.capabilities.hard_delete:
            raise ConfigError(
                f"bank {bank.id} ({bank.backend}) cannot delete a single fact for good. Delete its "
                "document (`documents delete`), or retire the fact (`facts invalidate`)."
            )
        done, error = await one_by_one(found, lambda fact: bank.delete_fact(fact.id))
        gone = found[: len(done)]
        if hard:
            for fact in gone:
                await erase_text(runtime.queue, runtime.sessions, bank.id, fact.text)
        await runtime.active.forget([fact.id for fact in gone])
        deleted = [f"{bank.id}:{fact.id}" for fact in gone]
    app.emit(
        {"deleted": deleted},
        lambda console: console.print("\n".join(f"deleted {i}" for i in deleted), markup=False),
    )
    if error is not None:
        raise error


async def _each(
    app: App,
    ids: tuple[str, ...],
    change: Callable[[Runtime, Fact], Awaitable[Fact]],
    *,
    full: bool = False,
    writes: bool = True,
) -> None:
    async with app.runtime(read_only=not writes) as runtime:
        bank = writable(runtime) if writes else runtime.bank
        found = [await find(bank, fact_id) for fact_id in ids]
        changed, error = await one_by_one(found, lambda fact: change(runtime, fact))
        stand = await standing(runtime, changed, full=full)
        tree = runtime.worktree if full else None
        if changed:
            _emit(app, changed, bank.id, full=full, tree=tree, stand=stand)
    if error is not None:
        raise error


def writable(runtime: Runtime) -> Bank:
    """The bank, where it may be written."""
    if runtime.read_only:
        raise MemoryOff("bank.read_only is set: facts are not changed")
    return runtime.bank


async def find(bank: Bank, fact_id: str) -> Fact:
    """A fact by the id that a person typed, whole first: ids may hold colons themselves."""
    prefix = f"{bank.id}:"
    for wanted in dict.fromkeys((fact_id.removeprefix(prefix), fact_id)):
        fact = await bank.get_fact(wanted)
        if fact is not None:
            return fact
    raise ConfigError(
        f"no fact {fact_id} in bank {bank.id}; `facts list --state all` shows the ids"
        " (--bank NAME for another bank)"
    )


def _emit(
    app: App,
    found: list[Fact],
    bank: str,
    *,
    full: bool = False,
    tree: Tree | None = None,
    stand: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    rows: list[dict[str, Any]] = []
    for fact in found:
        row = listed(fact, bank=bank) | (stand or {}).get(fact.id, {})
        if full or fact.state != "valid" or fact.pinned:
            row |= _more(fact)
        if tree is not None:
            row |= _against(fact, tree)
        rows.append(row)

    def human(console: Console) -> None:
        for row in rows:
            pinned = ", pinned" if row.get("pinned") else ""
            console.print(f"{row['id']}  ({row['state']}{pinned}) {row['text']}", markup=False)
            if full:
                for key, value in row.items():
                    if key not in ("id", "text", "state", "pinned") and value:
                        console.print(f"  {key}: {value}", markup=False)

    app.emit({"facts": rows, "total": len(rows)}, human)


def _against(fact: Fact, tree: Tree) -> dict[str, Any]:
    """What the working tree says against a fact."""
    from hindsight_core.worktree.freshness import freshness

    seen = freshness(fact, tree)
    against = {"missing": list(seen.missing), "changed": list(seen.changed)}
    return {name: paths for name, paths in against.items() if paths}


def _more(fact: Fact) -> dict[str, Any]:
    whole = exported(fact)
    keys = ("created_at", "superseded_by", "reason", "pinned", "provenance")
    return {key: whole[key] for key in keys if key in whole}
