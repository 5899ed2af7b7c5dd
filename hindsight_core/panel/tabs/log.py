"""The tab Log: what was recalled, stored, retired, restored and failed (pi/U-31, pi/I-09)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
_HIDDEN = ("ts", "type", "queries", "kills")


class LogTab(ListTab):
    """The last entries, newest first; Enter shows all of one."""

    title = "Log"
    hints = "↑↓ move · enter detail · u restore retired · r reload"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._entries: list[dict[str, Any]] = []
        self._malformed = 0
        self._texts: dict[str, str] = {}
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
        return [line, *(_details(entry, self._texts, width) if at == self._open else [])]

    def pressed(self, key: Key) -> None:
        """Details, reload, restore."""
        if key.name == "enter" and self._entries:
            self._open = None if self._open == self.cursor else self.cursor
            kills = retired(self._entries[self.cursor])
            if self._open is not None and kills and self.view.runtime is not None:
                self.start(self._look_up(kills), doing="looking up")
        elif key.name == "r":
            self.reload()
        elif key.name == "u" and self._entries:
            self._restore(self._entries[self.cursor])

    def _restore(self, entry: Mapping[str, Any]) -> None:
        if entry.get("type") != "invalidate" or not retired(entry):
            self.say("nothing to restore here: this entry retired no fact")
        elif self.view.runtime is None:
            self.say("memory is not active here: nothing can be restored", style="yellow")
        elif self.view.runtime.read_only:
            self.say("bank.read_only is set: nothing is restored", style="yellow")
        else:
            self.start(self._bring_back(entry), doing="restoring")

    async def _bring_back(self, entry: Mapping[str, Any]) -> None:
        """Make the facts of one entry valid again, in their order, until one fails."""
        from hindsight_core.engine.restoring import restore_all

        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        restored = await restore_all(runtime, entry)
        self.say(restored.said, style="red" if restored.error else "green")
        opened = entry if self._open is not None else None
        await self.load()
        self._open = next((at for at, found in enumerate(self._entries) if found == opened), None)

    async def _look_up(self, kills: Sequence[Mapping[str, Any]]) -> None:
        """The texts of facts, which the log does not keep unless it is told to."""
        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        for kill in kills:
            fact = await runtime.bank.get_fact(str(kill["id"]))
            if fact is not None:
                self._texts[str(kill["id"])] = fact.text


def retired(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The facts that an entry retired or brought back; empty for every other kind of entry."""
    kills = entry.get("kills")
    if entry.get("type") not in ("invalidate", "restore") or not isinstance(kills, list):
        return []
    return [kill for kill in kills if isinstance(kill, Mapping) and kill.get("id")]


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
        kills = retired(entry)
        noun = "fact" if len(kills) == 1 else "facts"
        return f"{len(kills)} {noun} {_text(kills[0].get('text')) if kills else ''}"
    if kind == "retain":
        stored = entry.get("facts")
        number = len(stored) if isinstance(stored, list) else 0
        return f"{entry.get('outcome')} {number} facts {_text(entry.get('reason'))}"
    return _text(entry.get("reason") or entry.get("message") or entry.get("outcome"))


def _details(entry: Mapping[str, Any], texts: Mapping[str, str], width: int) -> list[Text]:
    rows: list[str] = []
    for name, value in entry.items():
        if name not in _HIDDEN and value not in (None, [], ""):
            items = value if isinstance(value, list) else [value]
            rows += [f"{name}: {_text(item)}" for item in items]
    for kill in retired(entry):
        rows.append(f"fact {kill['id']}: {texts.get(str(kill['id'])) or _text(kill.get('text'))}")
        if kill.get("quote"):
            rows.append(f"because: {_text(kill['quote'])}")
    rows += [f"query: {_text(query)}" for query in entry.get("queries") or []]
    return [line for text in rows for line in wrapped(text, width, indent="      ")]


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
