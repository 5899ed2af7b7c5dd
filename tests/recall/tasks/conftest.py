"""Sessions of several turns over the recall of `tests/recall/conftest.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from hindsight_core.recall.reminder import Reminder
from hindsight_core.recall.shown import shown_by
from hindsight_core.recall.tasks.contour import Contour
from hindsight_core.transcript.entry import Entry, Text
from hindsight_core.turns import RecallOutcome, Turn


@dataclass
class Session:
    """One conversation with a recall; it does what a live session does around a turn."""

    made: object
    contour: Contour
    reminder: Reminder
    path: list[Entry] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)

    async def ask(self, prompt: str, answer: str = "Done.", **turn: object) -> RecallOutcome:
        """A turn from the prompt to the agent's answer."""
        outcome = await self.look(prompt, **turn)
        self.contour.settle()
        self.reminder.settle(outcome)
        self.shown |= set(shown_by(outcome))
        self.say("user", prompt)
        self.say("assistant", answer)
        return outcome

    async def look(self, prompt: str, **turn: object) -> RecallOutcome:
        """Only the recall of a turn, as if it were aborted then."""
        given = {
            "id": f"t{len(self.path)}",
            "session_id": "s1",
            "prompt": prompt,
            "banks": tuple(self.made.banks),
            "entries": tuple(self.path),
            "shown": frozenset(self.shown),
        }
        return await self.contour.run(Turn(**{**given, **turn}))

    def say(self, role: str, text: str, **changes: object) -> None:
        """An entry of the conversation."""
        parts = (Text(text),)
        self.path.append(Entry(id=f"e{len(self.path)}", role=role, parts=parts, **changes))

    def compact(self) -> None:
        """The host compacted: nothing of before is before the model."""
        self.reminder.forget()
        self.contour.compacted()
        self.shown.clear()
        self.say("host", "A summary.", compaction=True)

    @property
    def stages(self) -> list[str]:
        """Stages asked so far."""
        return self.made.model.stages


@pytest.fixture
def session(kit):
    """Make a session; arguments as of ``kit``."""

    def make(*texts: str, **options: object) -> Session:
        made = kit(*texts, **options)
        reminder = Reminder(made.settings, lambda: made.stages.prompts, bank=next(iter(made.banks)))
        made.hooks.register_builtin(reminder)
        return Session(made, Contour(made.runner, made.settings), reminder)

    return make
