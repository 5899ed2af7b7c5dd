"""The tab Log: what was recalled, stored, retired, restored and failed (pi/U-31, pi/I-09)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import HindsightError
from hindsight_core.panel.lines import plain, row, wrapped
from hindsight_core.panel.tab import ListTab
from hindsight_core.telemetry import ActivityLog

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.panel.keys import Key

LIMIT = 200
GLYPHS: Mapping[str, tuple[str, str]] = {
    "retain": ("↗", "green"),
    "recall": ("↙", "cyan"),
    "reflect": ("↙", "cyan"),
    "invalidate": ("↓", "yellow"),
    "restore": ("↑", "green"),
    "error": ("!", "red"),
}
_HIDDEN = ("ts", "type", "queries")


class LogTab(ListTab):
    """The last entries, newest first; Enter shows all of one."""

    title = "Log"
    hints = "↑↓ move · enter detail · u restore retired · r reload"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._entries: list[dict[str, Any]] = []
        self._malformed = 0
        self._open: int | None = None

    def count(self) -> int:
        """How many entries are shown."""
        return len(self._entries)

    async def load(self) -> None:
        """Read the files; a line that cannot be read hides no other (pi/D-23)."""
        log, bank = ActivityLog(self.view.loaded.paths.logs), self.view.loaded.bank.id

        def read() -> list[dict[str, Any]]:
            return log.read(LIMIT, where=lambda entry: entry.get("bank") in (None, bank))

        self._entries = await asyncio.to_thread(read)
        self._malformed = log.malformed
        self.cursor = min(self.cursor, max(0, len(self._entries) - 1))
        self._open = None

    def lines(self, width: int) -> list[Text]:
        """A line an entry, the open one with its fields below."""
        if not self._entries:
            return [row(("nothing yet: no turn has recalled or stored anything", "dim"))]
        found = self.items([], [self._item(at, width) for at in range(len(self._entries))])
        if self._malformed:
            found.append(row((f"{self._malformed} unreadable lines were left out", "yellow")))
        return found

    def _item(self, at: int, width: int) -> list[Text]:
        entry = self._entries[at]
        line = _line(entry, chosen=at == self.cursor)
        return [line, *(_details(entry, width) if at == self._open else [])]

    def pressed(self, key: Key) -> None:
        """Details, reload, restore."""
        if key.name == "enter" and self._entries:
            self._open = None if self._open == self.cursor else self.cursor
        elif key.name == "r":
            self.reload()
        elif key.name == "u" and self._entries:
            self._restore(self._entries[self.cursor])

    def _restore(self, entry: Mapping[str, Any]) -> None:
        kills = retired(entry)
        if not kills:
            self.say("nothing to restore here: this entry retired no fact")
        elif self.view.runtime is None:
            self.say("memory is not active here: nothing can be restored", style="yellow")
        elif self.view.runtime.read_only:
            self.say("bank.read_only is set: nothing is restored", style="yellow")
        else:
            self.start(self._bring_back(kills), doing="restoring")

    async def _bring_back(self, kills: Sequence[Mapping[str, Any]]) -> None:
        """Make the facts of one entry valid again, in their order, until one fails."""
        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        done, problem = [], None
        for kill in kills:
            try:
                await runtime.bank.set_state(_own(kill["id"], runtime.bank_id), "valid")
            except HindsightError as error:
                problem = str(error)
                break
            done.append(kill)
        if done:
            runtime.log.write("restore", bank=runtime.bank_id, facts=done)
        if problem:
            self.say(f"restored {len(done)}/{len(kills)} — {problem}", style="red")
        else:
            self.say(f"restored {len(done)}", style="green")
        opened = self._open
        await self.load()
        self._open = opened


def retired(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The facts that an entry retired; empty for every other kind of entry."""
    facts = entry.get("facts")
    if entry.get("type") != "invalidate" or not isinstance(facts, list):
        return []
    return [fact for fact in facts if isinstance(fact, Mapping) and fact.get("id")]


def _own(fact_id: object, bank: str) -> str:
    return str(fact_id).removeprefix(f"{bank}:")


def _line(entry: Mapping[str, Any], *, chosen: bool) -> Text:
    kind = str(entry.get("type"))
    glyph, style = GLYPHS.get(kind, ("·", "dim"))
    when = str(entry.get("ts", ""))[5:16].replace("T", " ")
    return row(
        ("› " if chosen else "  ", "bold"),
        (f"{glyph} ", style),
        (f"{when} ", "dim"),
        (f"{plain(kind)} ", "bold" if chosen else ""),
        plain(_said(entry)),
    )


def _said(entry: Mapping[str, Any]) -> str:
    kind = entry.get("type")
    if kind == "recall":
        found, injected = entry.get("found"), entry.get("injected")
        return f"{entry.get('outcome')} {found}→{injected} {_text(entry.get('reason'))}"
    if kind in ("invalidate", "restore"):
        facts = [f for f in entry.get("facts") or [] if isinstance(f, Mapping)]
        noun = "fact" if len(facts) == 1 else "facts"
        return f"{len(facts)} {noun} {_text(facts[0].get('text')) if facts else ''}"
    if kind == "retain":
        stored = entry.get("facts")
        number = len(stored) if isinstance(stored, list) else 0
        return f"{entry.get('outcome')} {number} facts {_text(entry.get('reason'))}"
    return _text(entry.get("reason") or entry.get("message") or entry.get("outcome"))


def _details(entry: Mapping[str, Any], width: int) -> list[Text]:
    found: list[Text] = []
    for name, value in entry.items():
        if name in _HIDDEN or value in (None, [], ""):
            continue
        items = value if isinstance(value, list) else [value]
        for item in items:
            found += wrapped(f"{name}: {_text(item)}", width, indent="      ")
    for query in entry.get("queries") or []:
        found += wrapped(f"query: {_text(query)}", width, indent="      ")
    return found


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        if set(value) == {"characters", "sha256"}:
            return f"<{value['characters']} characters; log.include_text keeps them>"
        shown = {k: v for k, v in value.items() if v not in (None, [], "")}
        return ", ".join(f"{key} {_text(item)}" for key, item in shown.items())
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


TAB = LogTab
