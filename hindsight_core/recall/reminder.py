"""The reminder that there is a memory: at most one a turn, without a model or bank call (pi/B)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hindsight_core.hookspecs import hookimpl
from hindsight_core.prompt_contexts_recall import Reminder as Variables

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import BankStats
    from hindsight_core.prompts import Prompts
    from hindsight_core.turns import RecallOutcome, Turn

Form = Literal["full", "short"]


@dataclass(frozen=True, slots=True)
class Reminded:
    """One session's reminders so far (pi/B-02).

    Attributes:
        silent: Turns since memory last said something; None before it ever did.
        full: The full text is still before the model.
    """

    silent: int | None = None
    full: bool = False


class Reminder:
    """Decides by the session's turns whether the agent is reminded, and how.

    It is the last implementation of ``hindsight_remind``: a plugin's own text goes first. A turn
    changes nothing by itself; `settle` does.

    Args:
        settings: Effective settings.
        prompts: Renders ``reminder/full`` and ``reminder/short``.
        bank: The bank's id.
        counts: What the bank held when it was last counted; None while nobody has.
        stays: Blocks stay before the model after their turn.
    """

    def __init__(
        self,
        settings: Settings,
        prompts: Callable[[], Prompts],
        *,
        bank: str,
        counts: Callable[[], BankStats | None] = lambda: None,
        stays: bool = True,
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._bank = bank
        self._counts = counts
        self._stays = stays
        self.state = Reminded()
        self._before = self.state
        self._form: Form | None = None
        self._asked = False

    @hookimpl(trylast=True)
    def hindsight_remind(self, turn: Turn) -> str | None:
        """The text for this turn, or None."""
        if turn.is_child or not self._settings.reminder.enabled:
            return None
        self._asked, self._form = True, self._decide(turn)
        return self._text(self._form) if self._form else None

    def resume(self, state: Reminded) -> None:
        """Go on where another process stood."""
        self.state = self._before = state

    def settle(self, outcome: RecallOutcome) -> None:
        """The turn's answer goes to the model."""
        asked, form, self._asked, self._form = self._asked, self._form, False, None
        if not asked and outcome.block is None:
            return
        self._before = self.state
        silent, full = self.state.silent, self.state.full
        if outcome.block is not None:
            silent = 0
            full = self._stays and (full or form == "full")
        elif silent is not None:
            silent += 1
        self.state = Reminded(silent, full)

    def take_back(self) -> None:
        """The last turn did not reach the model."""
        self.state = self._before

    def forget(self) -> None:
        """The full text is not before the model any more (pi/B-06)."""
        self.state = replace(self.state, full=False)

    def _decide(self, turn: Turn) -> Form | None:
        """Below facts where something begins (pi/B-03); alone after silent turns (pi/B-04)."""
        if turn.injects:
            forms: dict[str, Form] = {"session": "full", "task": "short"}
            return forms.get(turn.boundary)
        every, silent = self._settings.reminder.turns, self.state.silent
        if every < 1 or (silent is not None and silent + 1 < every):
            return None
        return "short" if self.state.full else "full"

    def _text(self, form: Form) -> str:
        counts = self._counts()
        variables = Variables(
            bank=self._bank,
            language=self._settings.memorize.language,
            documents=counts.documents if counts else None,
            facts=counts.facts if counts else None,
        )
        return self._prompts().render(f"reminder/{form}", variables).text.strip()
