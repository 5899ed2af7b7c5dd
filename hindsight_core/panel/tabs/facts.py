"""The tab Facts: search, look at, edit, retire, restore and pin single facts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.records import iso
from hindsight_core.panel.lines import plain, row, wrapped
from hindsight_core.panel.modal import Edit, TextInput
from hindsight_core.panel.tab import ListTab
from hindsight_core.worktree.freshness import FRESH, Freshness, freshness

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.memory import Fact, FactState
    from hindsight_core.panel.keys import Key
    from hindsight_core.runtime import Runtime
    from hindsight_core.worktree.tree import Tree

PAGE = 100
STATES: tuple[FactState | None, ...] = ("valid", "invalidated", "superseded", "pending", None)
_MARKS = {"valid": " ", "invalidated": "↓", "superseded": "↻", "pending": "?"}


class FactsTab(ListTab):
    """Facts of the bank, newest first."""

    title = "Facts"
    hints = "/ search · s state · e edit · x retire · u restore · p pin · enter detail"
    fixed = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._facts: list[Fact] = []
        self._total = 0
        self._search = ""
        self._state: FactState | None = "valid"
        self._open: str | None = None
        self._against: dict[str, Freshness] = {}

    def count(self) -> int:
        """How many facts are listed."""
        return len(self._facts)

    async def load(self) -> None:
        """The first page of what matches."""
        runtime = self.view.runtime
        if runtime is None:
            return
        await self._read(runtime, size=max(PAGE, len(self._facts)))

    def lines(self, width: int) -> list[Text]:
        """What is listed, and a line a fact."""
        if self.view.runtime is None:
            return [row((f"memory is not active here: {plain(self.view.reason)}", "dim"))]
        shown = self._state or "all"
        head = [("valid facts" if shown == "valid" else f"facts ({shown})", "bold")]
        if self._search:
            head.append((f" with “{plain(self._search)}”", "cyan"))
        found = [row(*head, (f"  {len(self._facts)} of {self._total}", "dim"))]
        if not self._facts and not self.busy:
            return [*found, row(("no facts", "dim"))]
        return self.items(found, [self._item(at, width) for at in range(len(self._facts))])

    def _item(self, at: int, width: int) -> list[Text]:
        fact, runtime = self._facts[at], self.view.runtime
        seen = self._against.get(fact.id, FRESH)
        line = _line(fact, chosen=at == self.cursor, seen=seen)
        if fact.id != self._open or runtime is None:
            return [line]
        return [line, *_details(fact, runtime.bank_id, width, seen=seen)]

    def key(self, key: Key) -> None:
        """As in every list; at the end the next page is read."""
        super().key(key)
        more = len(self._facts) < self._total and self.cursor >= len(self._facts) - 1
        if more and key.name in ("down", "pagedown", "end") and self.view.runtime is not None:
            size = len(self._facts) + PAGE
            self.start(self._read(self.view.runtime, size=size), doing="loading")

    def pressed(self, key: Key) -> None:
        """Search, filter, and what one can do to a fact."""
        if self.view.runtime is None:
            return
        if key.name == "/":
            self.modal = TextInput("search", self._search, self._searched)
        elif key.name == "s":
            self._state = STATES[(STATES.index(self._state) + 1) % len(STATES)]
            self._anew()
        elif key.name == "r":
            self.reload()
        elif self._facts:
            self._on_fact(key, self._facts[self.cursor], self.view.runtime)

    def _on_fact(self, key: Key, fact: Fact, runtime: Runtime) -> None:
        bank = runtime.bank
        if key.name == "enter":
            self._open = None if self._open == fact.id else fact.id
        elif key.name not in ("e", "x", "u", "p"):
            return
        elif runtime.read_only:
            self.say("bank.read_only is set: facts are not changed", style="yellow")
        elif key.name == "e":
            self.ask_editor(Edit("Fact", fact.text, lambda text: self._edited(fact, text)))
        elif key.name == "x":
            self.modal = TextInput("why retire it", "", lambda why: self._retired(fact, why))
        elif key.name == "u":
            self._change(lambda: bank.set_state(fact.id, "valid"), "restored")
        else:
            pinned = not fact.pinned
            doing = "pinned" if pinned else "no longer pinned"
            self._change(lambda: bank.pin_fact(fact.id, pinned=pinned), doing)

    def _searched(self, text: str) -> None:
        self._search = text.strip()
        self._anew()

    def _anew(self) -> None:
        self.cursor, self._facts = 0, []
        self.reload()

    def _retired(self, fact: Fact, why: str) -> None:
        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        reason = runtime.sanitiser.text(why.strip()) or None
        self._change(
            lambda: runtime.bank.set_state(fact.id, "invalidated", reason=reason), "retired"
        )

    def _edited(self, fact: Fact, text: str | None) -> None:
        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        limit = runtime.settings.security.max_fact_characters
        clean = runtime.sanitiser.fact_text(text or "", limit=limit)
        if not clean or clean == fact.text:
            self.say("nothing was changed")
            return
        self._change(lambda: runtime.bank.edit_fact(fact.id, text=clean), "changed")

    def _change(self, work: Callable[[], Awaitable[Fact]], said: str) -> None:
        async def run() -> None:
            changed = await work()
            self.say(f"{said}: {changed.text}", style="green")
            await self.load()

        self.start(run(), doing="changing the fact")

    async def _read(self, runtime: Runtime, *, size: int) -> None:
        page = await runtime.bank.list_facts(
            state=self._state, limit=size, search=self._search or None
        )
        self._facts, self._total = list(page.facts), page.total
        self._against = await against_tree(self._facts, runtime.worktree)
        self.cursor = max(0, min(self.cursor, len(self._facts) - 1))


async def against_tree(facts: Sequence[Fact], tree: Tree | None) -> dict[str, Freshness]:
    """Id to what the working tree says against a fact, of those that it says something against."""
    if tree is None:
        return {}
    try:
        seen = await asyncio.to_thread(lambda: {f.id: freshness(f, tree) for f in facts})
    except OSError:
        return {}
    return {fact_id: found for fact_id, found in seen.items() if not found.fresh}


def _line(fact: Fact, *, chosen: bool, seen: Freshness) -> Text:
    style = "" if fact.state == "valid" else "dim"
    return row(
        ("› " if chosen else "  ", "bold"),
        ("▪" if fact.pinned else " ", "yellow"),
        (_MARKS.get(fact.state, " ") + " ", "yellow"),
        ("✗ " if seen.missing else "~ " if seen.changed else "", "red"),
        (f"[{plain(fact.kind)}] ", "cyan"),
        (plain(fact.text), "bold" if chosen else style),
    )


def _details(fact: Fact, bank: str, width: int, *, seen: Freshness) -> list[Text]:
    told = fact.provenance
    rows = {
        "id": f"{bank}:{fact.id}",
        "text": fact.text,
        "state": fact.state + (", pinned" if fact.pinned else ""),
        "said": iso(fact.timestamp),
        "stored": iso(fact.created_at),
        "category": fact.category,
        "tags": ", ".join(fact.tags),
        "document": fact.document_id,
        "from": " ".join(filter(None, (told.source, told.host, told.session_id))),
        "words": told.quote,
        "on": " ".join(filter(None, (told.branch, (told.commit or "")[:12]))),
        "gone": ", ".join(seen.missing),
        "changed since": ", ".join(seen.changed),
        "replaced by": fact.superseded_by,
        "why": fact.reason,
    }
    return [
        line
        for name, value in rows.items()
        if value
        for line in wrapped(f"{name}: {value}", width, indent="      ")
    ]


TAB = FactsTab
