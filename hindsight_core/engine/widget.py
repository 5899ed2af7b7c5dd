"""The widget: one line that says how memory is and what it did last (pi/U-40 to pi/U-46)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.transcript.characters import repair

if TYPE_CHECKING:
    from hindsight_core.turns import RecallOutcome

Tone = Literal["", "accent", "dim", "success", "warning", "error"]
Health = Literal["unknown", "checking", "ok", "error"]
Style = Literal["off", "text", "emoji", "nerdfont"]
UserState = Literal["shown", "stale", "unavailable", "unasked"]

WIDTH = 72
BANK_WIDTH = 20
QUERY_WIDTH = 40
REASON_WIDTH = 30
WAITING = "↙ waiting for bank… (clears on reply)"
_SIGNS: Mapping[Style, str] = {"text": "memory", "emoji": "🧠", "nerdfont": "\U000f09d1", "off": ""}
_ICONS: Mapping[Health, tuple[str, Tone]] = {
    "unknown": ("○", "dim"),
    "checking": ("◐", "dim"),
    "ok": ("●", "success"),
    "error": ("●", "error"),
}
_CUES = {(True, True): "↙↗", (False, True): "↗", (True, False): "↙", (False, False): "auto off"}
_USER: Mapping[UserState, str] = {
    "shown": "≡{}",
    "stale": "≡{}→",
    "unavailable": "≡!",
    "unasked": "≡–",
}


@dataclass(frozen=True, slots=True)
class UserFragment:
    """Where the facts about the user stand (pi/U-46).

    Attributes:
        state: In the prompt; in it but changed since; asked for and not there; not asked for.
        facts: How many are in the prompt.
    """

    state: UserState
    facts: int = 0

    @property
    def said(self) -> str:
        """The last action, when it was about them."""
        return {
            "shown": f"≡ {self.facts} user facts in this prompt",
            "stale": "≡ user facts change at the next boundary",
            "unavailable": "≡ user facts are unavailable",
            "unasked": "≡ no user facts were asked for",
        }[self.state]


@dataclass(frozen=True, slots=True)
class WidgetState:
    """Everything that the line depends on.

    Attributes:
        bank: Id of the bank.
        health: What the bank last said.
        error: Its words, for health ``error``.
        recalls: Whether turns recall by themselves.
        memorizes: Whether anything is written by itself.
        busy: A recall or a memorize run is under way.
        documents: What the bank holds; None when unknown.
        facts: The same.
        retired: Facts retired in this session.
        user: The user facts; None without a user bank.
        action: What was done last.
        failed: It failed.
        inactive: Why memory is not active here; None where it is.
    """

    bank: str
    health: Health = "unknown"
    error: str | None = None
    recalls: bool = True
    memorizes: bool = True
    busy: bool = False
    documents: int | None = None
    facts: int | None = None
    retired: int = 0
    user: UserFragment | None = None
    action: str = ""
    failed: bool = False
    inactive: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """The line in pieces; a host that has no colours joins them.

    Attributes:
        parts: Pairs (text, tone).
    """

    parts: tuple[tuple[str, Tone], ...]

    @property
    def line(self) -> str:
        """The line."""
        return "".join(text for text, _ in self.parts)

    def wire(self) -> dict[str, Any]:
        """The form of ``status/changed``, without the state."""
        parts = [{"text": text, "tone": tone} for text, tone in self.parts]
        return {"line": self.line, "parts": parts}


def draw(state: WidgetState, *, style: Style = "emoji", width: int = WIDTH) -> Drawn:
    """Exactly one line of at most `width` columns; a cut one has exactly that many."""
    if style == "off":
        return Drawn(())
    head = _head(state, style)
    tail, tone = _tail(state)
    room = width - sum(columns(text) for text, _ in head)
    if room < 0:
        return Drawn(((cut("".join(text for text, _ in head), width), ""),))
    if not tail:
        return Drawn(tuple(head))
    return Drawn((*head, (cut(f" · {tail}", room), tone)))


def _head(state: WidgetState, style: Style) -> list[tuple[str, Tone]]:
    icon, colour = ("⟳", "accent") if state.busy else _ICONS[state.health]
    active = state.inactive is None
    both = active and state.recalls and state.memorizes
    name: Tone = "accent" if both else "dim"
    head: list[tuple[str, Tone]] = [
        (f"{_SIGNS[style]} ", ""),
        (f"{icon} ", colour),  # type: ignore[list-item]
        (cut(flat(state.bank), BANK_WIDTH), name),
    ]
    if active:
        head.append((f" {_CUES[state.recalls, state.memorizes]}", name))
    if active and state.health == "ok":
        head.append((f" {_number(state.documents)}d {_number(state.facts)}f", ""))
    if state.retired > 0:
        space = "" if active and state.health == "ok" else " "
        head.append((f"{space}↓{state.retired}", "warning"))
    if state.user is not None:
        fragment = _USER[state.user.state].format(state.user.facts)
        head.append((f" {fragment}", "warning" if state.user.state == "unavailable" else "dim"))
    return head


def _tail(state: WidgetState) -> tuple[str, Tone]:
    if state.inactive is not None:
        return flat(state.inactive), "dim"
    if state.health == "error":
        return flat(state.error or "") or "bank unreachable", "error"
    if state.health == "checking":
        return "checking…", "dim"
    return flat(state.action), "error" if state.failed else "dim"


def _number(value: int | None) -> str:
    return "—" if value is None else str(value)


def recall_said(outcome: RecallOutcome, query: str) -> tuple[str, bool]:
    """What a turn's recall came to, and whether it failed (pi/U-45)."""
    about = f" · {cut(flat(query), QUERY_WIDTH)}" if query else ""
    if outcome.outcome == "failed":
        return f"↙! {flat(outcome.reason or 'recall failed')}", True
    if outcome.outcome == "skipped":
        return f"↙ skipped ({cut(flat(outcome.reason or 'not looked'), REASON_WIDTH)})", False
    if not outcome.found:
        return f"↙ recall · nothing found{about}", False
    by = " by words" if outcome.outcome == "degraded" else ""
    return f"↙ recall{by} · {outcome.found}→{len(outcome.hits)}{about}", False


def flat(text: str) -> str:
    """Any text as one line without anything that could steer a terminal."""
    return " ".join(repair(text).split())


def columns(text: str) -> int:
    """Width on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """At most that many columns; exactly that many where something is missing."""
    if columns(text) <= width:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, width - 1)}…" if width > 0 else ""
