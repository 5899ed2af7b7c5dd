"""The tab Memories: one fuzzy finder over all of them, and what is done with the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ConfigError, MemoryOff
from hindsight_core.panel.fuzzy import best
from hindsight_core.panel.lines import plain, row, wrapped
from hindsight_core.panel.memory_form import editable, read_form
from hindsight_core.panel.modal import Choice, Confirm, Edit
from hindsight_core.panel.tab import ListTab

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rich.text import Text

    from hindsight_core.memorize.lifecycle.memory import Memory
    from hindsight_core.panel.keys import Key
    from hindsight_core.panel.view import PanelView
    from hindsight_core.runtime import Runtime

MOST = 5_000
_STATES = {"valid": "active", "invalidated": "deleted"}
_MARKS = {"valid": " ", "invalidated": "↓", "superseded": "↻", "pending": "?"}


class MemoriesTab(ListTab):
    """Typing searches text, id, scope, kind, state and project at once."""

    title = "Memories"
    fixed = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        place = self.view.place
        own = place if place is not None and place.tab == self.title else None
        self._query = own.query if own else ""
        self._mode = own.mode if own else ""
        self._all: list[Memory] = []
        self._found: Sequence[Memory] = ()

    @property
    def hints(self) -> str:  # type: ignore[override]
        """What Enter does."""
        does = {"edit": "enter edit", "forget": "enter delete"}.get(self._mode, "enter choose")
        return f"type to search · ↑↓ · {does}"

    def count(self) -> int:
        """How many are listed."""
        return len(self._found)

    async def load(self) -> None:
        """All memories of this project and the global ones, newest first."""
        runtime = self.view.runtime
        if runtime is None:
            return
        page = await runtime.bank.list_facts(state=None, limit=MOST)
        memories = await runtime.active.of_facts(page.facts)
        self._all = [memory for memory in memories if runtime.active.is_here(memory)]
        self._search()

    def lines(self, width: int) -> list[Text]:
        """The query, and a line a memory; the chosen one with its particulars."""
        if self.view.runtime is None:
            return [row((f"memory is not active here: {plain(self.view.reason)}", "dim"))]
        counts = f"  {len(self._found)} of {len(self._all)}"
        found = [row(("find: ", "bold"), plain(self._query), ("▏", "bold"), (counts, "dim"))]
        if not self._found and not self.busy:
            return [*found, row(("nothing matches", "dim"))]
        return self.items(found, [self._item(at, width) for at in range(len(self._found))])

    def key(self, key: Key) -> None:
        """Every printable key belongs to the query."""
        if key.text:
            self._query += key.text
        elif key.name == "backspace":
            self._query = self._query[:-1]
        elif key.name == "ctrl+u":
            self._query = ""
        else:
            super().key(key)
            return
        self.cursor = 0
        self._search()

    def pressed(self, key: Key) -> None:
        """Enter takes the chosen one."""
        runtime = self.view.runtime
        if key.name != "enter" or not self._found or runtime is None:
            return
        memory = self._found[self.cursor]
        if runtime.read_only:
            self.say("bank.read_only is set: memories are not changed", style="yellow")
        elif self._mode == "edit":
            self._edit(memory)
        elif self._mode == "forget":
            self._ask(memory)
        else:
            self._choose(memory)

    def _search(self) -> None:
        self._found = best(self._query, self._all, text=_haystack)
        self.cursor = max(0, min(self.cursor, len(self._found) - 1))

    def _choose(self, memory: Memory) -> None:
        actions: dict[str, tuple[str, Callable[[], None]]] = {
            "e": ("edit", lambda: self._edit(memory))
        }
        if memory.is_active:
            actions["d"] = ("delete", lambda: self._ask(memory))
        else:
            actions["u"] = ("restore", lambda: self._restore(memory))
        pinned = memory.fact.pinned
        actions["p"] = ("unpin" if pinned else "pin", lambda: self._pin(memory))
        self.modal = Choice(plain(memory.fact.text), actions)

    def _edit(self, memory: Memory) -> None:
        self.ask_editor(Edit("Memory", editable(memory), lambda text: self._edited(memory, text)))

    def _edited(self, memory: Memory, text: str | None) -> None:
        if text is None or text.strip() == editable(memory).strip():
            self.say("nothing was changed")
            return
        try:
            edit = read_form(text)
        except ConfigError as error:
            self.say(str(error), style="red")
            return
        self._change(
            lambda r: r.active.edit(memory.fact.id, edit, session_id=self._session), "saved"
        )

    def _ask(self, memory: Memory) -> None:
        self.modal = Confirm(f"delete “{plain(memory.fact.text)}”?", lambda: self._forget(memory))

    def _forget(self, memory: Memory) -> None:
        why = "forgotten by the user"
        self._change(
            lambda r: r.active.delete(memory.fact.id, reason=why, session_id=self._session),
            "deleted, restorable here",
        )

    def _restore(self, memory: Memory) -> None:
        self._change(
            lambda r: r.active.restore(memory.fact.id, session_id=self._session), "restored"
        )

    def _pin(self, memory: Memory) -> None:
        pinned = not memory.fact.pinned
        said = "pinned" if pinned else "no longer pinned"
        self._change(lambda r: r.bank.pin_fact(memory.fact.id, pinned=pinned), said)

    def _change(self, work: Callable[[Runtime], Awaitable[object]], said: str) -> None:
        async def run() -> None:
            runtime = self.view.runtime
            if runtime is None:
                raise MemoryOff("memory is not active here")
            await work(runtime)
            self.say(said, style="green")
            await self.load()

        self.start(run(), doing="changing the memory")

    @property
    def _session(self) -> str | None:
        live = self.view.live
        return live.opening.session.id if live is not None else None

    def _item(self, at: int, width: int) -> list[Text]:
        memory, chosen = self._found[at], at == self.cursor
        fact, record = memory.fact, memory.record
        about = f"{record.confidence:.2f} {record.scope} {fact.kind}"
        line = row(
            ("› " if chosen else "  ", "bold"),
            ("▪" if fact.pinned else " ", "yellow"),
            (_MARKS.get(fact.state, " ") + " ", "yellow"),
            (f"[{plain(about)}] ", "cyan"),
            (plain(fact.text), "bold" if chosen else ("" if memory.is_active else "dim")),
        )
        return [line, *_details(memory, width)] if chosen else [line]


def _details(memory: Memory, width: int) -> list[Text]:
    told, record = memory.record.told, memory.record
    rows = {
        "id": memory.fact.id,
        "from": f"{told.actor}, session {told.session_id}",
        "cause": told.cause,
        "why": told.reason,
        "rated": f"{record.useful} useful, {record.unhelpful} unhelpful",
        "deleted": memory.fact.reason,
    }
    told_rows = [(name, value) for name, value in rows.items() if value]
    return [
        line
        for name, value in told_rows
        for line in wrapped(f"{name}: {value}", width, indent="      ")
    ]


def _haystack(memory: Memory) -> str:
    fact, record = memory.fact, memory.record
    state = _STATES.get(fact.state, fact.state)
    return " ".join((fact.text, fact.id, record.scope, fact.kind, state, record.project))


def offered(view: PanelView) -> bool:
    """With ``tools.memory``, as the commands that open it."""
    return view.loaded.settings.tools.memory


TAB = MemoriesTab
