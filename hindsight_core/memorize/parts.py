"""What the parts of the memorize pipeline share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindsight_core.memorize.categories import headings
from hindsight_core.memorize.labels import Labelled
from hindsight_core.state.choices import SessionChoices
from hindsight_core.state.retained import Retained

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.capture.writing import ActiveWriting
    from hindsight_core.memorize.labels import Labels
    from hindsight_core.memorize.lifecycle.keeper import Sink
    from hindsight_core.plugins import Hooks
    from hindsight_core.providers.base import Embedder
    from hindsight_core.services import Clock
    from hindsight_core.stages import Stages
    from hindsight_core.state.outbox import Outbox
    from hindsight_core.state.sessions import SessionState
    from hindsight_core.transcript.sanitise import Sanitiser


@dataclass(frozen=True, slots=True)
class ActiveParts:
    """The things that only active memory works with.

    Attributes:
        embedder: For likeness; None compares words.
        project: Id of the project (am/A-REC-5).
        cwd: The folder of the session.
        sink: Is told what happens, by the names of the activity log.
        is_personal: The bank is the person's own and belongs to no project.
        personal: The write side of that bank: what holds everywhere goes there.
    """

    embedder: Embedder | None = None
    project: str = ""
    cwd: str = ""
    sink: Sink = lambda name, fields: None
    is_personal: bool = False
    personal: Callable[[], ActiveWriting] | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The things that a run works with.

    Attributes:
        project: Name of the project, as documents tell it; the bank's where there is none.
        labels: Further tags and metadata of what is written.
        active: What active memory needs besides.
    """

    settings: Settings
    hooks: Hooks
    bank: Bank
    stages: Stages
    outbox: Outbox
    sessions: SessionState
    sanitiser: Sanitiser
    clock: Clock
    project: str
    labels: Labels | None = None
    active: ActiveParts = field(default_factory=ActiveParts)

    @property
    def retained(self) -> Retained:
        """What the transcript source has behind it, and what is never stored."""
        return Retained(self.outbox.queue, self.clock)

    @property
    def choices(self) -> SessionChoices:
        """What a person chose for a session."""
        return SessionChoices(self.sessions)

    async def labelled(self, *, session_id: str | None, host: str | None) -> Labelled:
        """Tags, metadata and scopes that every write of a session has."""
        of_session = (await self.choices.get(session_id)).tags if session_id else ()
        if self.labels is None:
            return Labelled(tags=of_session)
        return self.labels.of_write(
            bank=self.bank.id, session_id=session_id, host=host, of_session=of_session
        )

    @property
    def language(self) -> str:
        """The one language of everything stored (pi/W-07)."""
        return self.settings.memorize.language

    @property
    def headings(self) -> Mapping[str, str]:
        """Category key to the heading of its facts in a document."""
        return headings(self.settings)

    @property
    def fact_limit(self) -> int:
        """Longest fact in characters."""
        return self.settings.security.max_fact_characters
