"""The write side of active memory in one bank, put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memorize.capture.capture import Capture
from hindsight_core.memorize.capture.corrections import Corrections
from hindsight_core.memorize.capture.source import CandidateSource
from hindsight_core.memorize.capture.writer import Writer
from hindsight_core.memorize.consolidate.consolidation import Consolidation
from hindsight_core.memorize.lifecycle.keeper import Keeper

if TYPE_CHECKING:
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.memorize.store import Store


@dataclass(frozen=True, slots=True)
class ActiveWriting:
    """What writes memories.

    Attributes:
        keeper: The lifecycle of the bank's facts.
        writer: Resolves and stores.
        capture: Looks at one message or run.
        source: Looks at sessions.
        corrections: Changes what is stored.
        consolidation: Lets one memory stand for two.
    """

    keeper: Keeper
    writer: Writer
    capture: Capture
    source: CandidateSource
    corrections: Corrections
    consolidation: Consolidation

    @classmethod
    def of(cls, parts: Parts, store: Store) -> ActiveWriting:
        """For the bank of a memorize pipeline."""
        keeper = Keeper.of(
            parts.bank,
            parts.sessions,
            settings=parts.settings,
            clock=parts.clock,
            sink=parts.active.sink,
        )
        writer = Writer(parts, store, keeper)
        capture = Capture(parts, writer, keeper)
        source = CandidateSource(parts, capture, keeper)
        corrections = Corrections(parts, keeper, clean=writer.clean)
        consolidation = Consolidation(parts, store, keeper, clean=writer.clean)
        return cls(keeper, writer, capture, source, corrections, consolidation)
