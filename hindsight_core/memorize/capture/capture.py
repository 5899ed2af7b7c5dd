"""Candidates of one message or one run: proposed, gated, validated, written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from hindsight_core.memorize.capture import gates
from hindsight_core.memorize.capture.asking import Asking, Said, Work
from hindsight_core.memorize.capture.candidate import OF_WORK, Candidate, read_candidate
from hindsight_core.memorize.capture.writer import Draft, Written
from hindsight_core.state.life import Told
from hindsight_core.transcript.entry import Window

if TYPE_CHECKING:
    from hindsight_core.memorize.capture.runs import Investigation, Message
    from hindsight_core.memorize.capture.writer import Writer
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.parts import Parts

BY_USER = "explicit_user_statement"
KEPT = 500


@dataclass(frozen=True, slots=True)
class Looked:
    """What looking at one message or run came to.

    Attributes:
        written: What became of each accepted candidate.
        rejected: Reasons of the others.
    """

    written: tuple[Written, ...] = ()
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a candidate was found.

    Attributes:
        source: As a validator sees it.
        told: As it is kept; evidence and reason come from the candidate.
        window: Its entries.
        threshold: Likeness from which stored memories count as near.
        event: Beginning of the names of its events.
    """

    source: Said | Work
    told: Told
    window: Window
    threshold: float
    event: str


class Capture:
    """Looks at messages of the user and runs of the agent.

    Args:
        parts: Settings, models, sanitiser.
        writer: Stores what is accepted.
        keeper: Tells what happens.
    """

    def __init__(self, parts: Parts, writer: Writer, keeper: Keeper) -> None:
        self._parts = parts
        self._writer = writer
        self._tell = keeper.sink
        self.asking = Asking(parts.stages)

    async def message(self, message: Message, *, session_id: str, host: str) -> Looked:
        """A user's message (am/A-CAP)."""
        rules, text = self._parts.settings.capture, message.entry.text
        if not rules.enabled or len(text.strip()) < rules.min_characters:
            return Looked()
        window = Window(session_id, host, (message.entry,), reason="capture")
        said = Said(text, message.context(rules.context_characters), self._parts.active.project)
        told = self._told("user", session_id, cause=BY_USER, user_text=text)
        origin = Origin(said, told, window, rules.similarity_threshold, "capture")
        self._tell("capture.started", {"text": text})
        if not self.asking.available:
            return await self._by_rules(origin)
        raw = await self.asking.memories(said)
        self._tell("capture.extracted", {"candidates": len(raw)})
        why_not = partial(gates.why_not_said, user_text=text, least=rules.confidence_threshold)
        return await self._each([read_candidate(item) for item in raw], why_not, origin)

    async def run(self, run: Investigation, *, session_id: str, host: str) -> Looked:
        """A run of the agent that took long enough (am/A-ASST)."""
        rules, elapsed = self._parts.settings.investigation, run.elapsed_ms
        if not rules.enabled or elapsed is None or elapsed < rules.minimum_elapsed_ms:
            return Looked()
        text = run.text(rules.context_characters)
        if not text.strip() or not self.asking.available:
            return Looked()
        window = Window(session_id, host, run.entries, reason="investigation")
        work = Work(text, run.cause, elapsed, self._parts.active.project)
        origin = self.origin_of(work, window)
        self._tell("assistant_capture.started", {"elapsed_ms": elapsed, "cause": run.cause})
        raw = await self.asking.memories(work)
        found = [read_candidate(item, kinds=OF_WORK, needs_why=True) for item in raw]
        why_not = partial(gates.why_not_found, work=text, least=rules.confidence_threshold)
        return await self._each(found, why_not, origin)

    async def result(self, candidate: Candidate, *, work: Work, window: Window) -> Written:
        """A finding that the agent names itself (am/A-ASST-4)."""
        least = self._parts.settings.investigation.confidence_threshold
        if candidate.confidence < least:
            return Written(outcome="skipped", reason=f"{gates.UNSURE}: under {least:g}")
        written = await self.accepted(candidate, self.origin_of(work, window))
        return written or Written(outcome="skipped", reason=gates.REFUSED)

    def origin_of(self, work: Work, window: Window) -> Origin:
        """The origin of what a run found."""
        told = self._told(
            "assistant", window.session_id, cause=work.cause, elapsed_ms=work.elapsed_ms
        )
        threshold = self._parts.settings.investigation.similarity_threshold
        return Origin(work, told, window, threshold, "assistant_capture")

    async def accepted(self, candidate: Candidate, origin: Origin) -> Written | None:
        """Validate one candidate and write it; None when the validator refuses it."""
        answer = await self.asking.accepts(origin.source, candidate)
        accepted = answer.accepted
        told: dict[str, object] = {"accepted": accepted, "why": answer.reason}
        self._tell(f"{origin.event}.validated", {**told, "text": candidate.text})
        if not accepted:
            self._reject(origin, gates.REFUSED, candidate)
            return None
        return await self._write(candidate, origin)

    async def _each(
        self,
        candidates: Sequence[Candidate | None],
        why_not: Callable[[Candidate | None], str | None],
        origin: Origin,
    ) -> Looked:
        written: list[Written] = []
        rejected: list[str] = []
        for candidate in candidates:
            reason = why_not(candidate)
            if reason is not None or candidate is None:
                self._reject(origin, reason or gates.FORM, candidate)
                rejected.append(reason or gates.FORM)
                continue
            done = await self.accepted(candidate, origin)
            if done is None:
                rejected.append(gates.REFUSED)
            else:
                written.append(done)
        stored = sum(item.memory is not None for item in written)
        self._tell(f"{origin.event}.completed", {"stored": stored})
        return Looked(tuple(written), tuple(rejected))

    async def _by_rules(self, origin: Origin) -> Looked:
        """Without a model: the user's lasting statements, by rules."""
        from hindsight_core.memorize.rules import user_facts

        written = []
        for fact in user_facts(origin.window, limit=self._parts.fact_limit):
            quote = fact.provenance.quote or fact.text
            candidate = Candidate(fact.text, "fact", "project", 1.0, quote)
            if not gates.is_passing(candidate.text, candidate.evidence):
                written.append(await self._write(candidate, origin))
        return Looked(tuple(written))

    async def _write(self, candidate: Candidate, origin: Origin) -> Written:
        async def validate(text: str) -> bool:
            other = replace(candidate, text=text)
            return (await self.asking.accepts(origin.source, other)).accepted

        told = replace(origin.told, evidence=self.kept(candidate.evidence))
        if candidate.why:
            told = replace(told, reason=self.kept(candidate.why))
        entries = origin.window.entries
        writer, personal = self._writer, self._parts.active.personal
        if candidate.scope == "global" and personal is not None:
            writer = personal().writer
        return await writer.write(
            Draft(
                candidate=candidate,
                told=told,
                window=origin.window,
                threshold=origin.threshold,
                validate=validate,
                said_at=entries[0].timestamp if entries else None,
            )
        )

    def kept(self, text: str) -> str:
        """A text as a record keeps it: without secrets, then cut."""
        return self._parts.sanitiser.text(text)[:KEPT]

    def _told(
        self,
        actor: str,
        session_id: str,
        *,
        cause: str,
        user_text: str | None = None,
        elapsed_ms: int | None = None,
    ) -> Told:
        return Told(
            actor=actor,  # type: ignore[arg-type]
            session_id=session_id,
            cwd=self._parts.active.cwd,
            cause=self.kept(cause) or "unknown",
            reason="the user said so" if actor == "user" else "",
            elapsed_ms=elapsed_ms,
            user_text=None if user_text is None else self.kept(user_text),
        )

    def _reject(self, origin: Origin, reason: str, candidate: Candidate | None) -> None:
        text = candidate.text if candidate else None
        self._tell(f"{origin.event}.rejected", {"reason": reason, "text": text})
