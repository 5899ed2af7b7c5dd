"""A repository's history through the memorize pipeline, each commit once.

The commits between what was read up to and where the repository stands now are a transcript. Both
ends are kept, so that a run that was broken off is finished before anything newer is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from hindsight_core.budget import estimate_tokens, work
from hindsight_core.importing.git import log
from hindsight_core.importing.git.facts import HOST, CommitFacts, text_of
from hindsight_core.transcript.entry import Entry, Text, Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.importing.git.log import Commit, History
    from hindsight_core.importing.git.program import Git
    from hindsight_core.memorize.runner import MemorizeReport
    from hindsight_core.runtime import Runtime

PIECE = 50
MOST = 2_000
REASON = "import"


@dataclass(slots=True)
class GitImport:
    """One run over a repository.

    Attributes:
        runtime: The project's configuration.
        git: In the repository.
        diffs: Read what commits changed as well.
        since: Only commits written since then.
        most: Of the commits that were never read, only that many, the newest.
        budget: Tokens that models may use; None for no limit.
        commits: How many say something.
        noise: How many do not.
        tokens: About how many tokens of messages that is.
        read: How many commits were dealt with so far.
        used: Tokens that models used.
        over_budget: It stopped at the budget.
        unfinished: Something is left for the next run.
    """

    runtime: Runtime
    git: Git
    diffs: bool = False
    since: datetime | None = None
    most: int = MOST
    budget: int | None = None
    commits: int = 0
    noise: int = 0
    tokens: int = 0
    read: int = 0
    used: int = 0
    over_budget: bool = False
    unfinished: bool = False
    _origin: str = field(default="")

    async def look(self) -> None:
        """Count what is new; nothing is memorized."""
        for after, until in await self._spans():
            self._count(await self._history(after, until))

    async def run(self) -> AsyncIterator[MemorizeReport]:
        """Memorize what is new, oldest first."""
        runtime = self.runtime
        runtime.hooks.register_builtin(CommitFacts(runtime.stages))
        for after, until in await self._spans():
            await self._mark("until", until)
            found = await self._history(after, until)
            self._count(found)
            async for report in self._memorize(after, found.commits):
                yield report
            if self.unfinished:
                return
            await self._mark("after", until)

    async def _spans(self) -> list[tuple[str | None, str]]:
        """Pairs of commits to read between: what a broken run left, then what is newer."""
        self._origin = await asyncio.to_thread(log.origin, self.git)
        head = await asyncio.to_thread(log.head, self.git)
        after, until = await self._marked("after"), await self._marked("until")
        spans: list[tuple[str | None, str]] = []
        if until is not None and until != after:
            spans.append((after, until))
            after = until
        if head != after:
            spans.append((after, head))
        return spans

    async def _history(self, after: str | None, until: str) -> History:
        def read() -> History:
            return log.history(self.git, after=after, until=until, since=self.since, most=self.most)

        return await asyncio.to_thread(read)

    async def _memorize(
        self, after: str | None, commits: Sequence[Commit]
    ) -> AsyncIterator[MemorizeReport]:
        name = f"{self._name}-{(after or 'start')[:12]}"
        entries: list[Entry] = []
        for start in range(0, len(commits), PIECE):
            piece = commits[start : start + PIECE]
            entries += await asyncio.to_thread(self._entries, piece)
            limit = None if self.budget is None else self.budget - self.used
            transcript = Transcript(name, HOST, tuple(entries))
            with work(explicit=True, limit=limit) as unit:
                reports = await self.runtime.memorizer.remember_transcript(
                    transcript, reason=REASON
                )
            self.used += unit.tokens
            self.read += len(piece)
            self.over_budget = unit.exhausted
            for report in reports:
                self.runtime.record(report, session=name)
                yield report
            if unit.exhausted or any(report.outcome == "failed" for report in reports):
                self.unfinished = True
                return

    def _entries(self, commits: Sequence[Commit]) -> list[Entry]:
        # Who wrote a commit is not the person whom an agent takes its rules from.
        return [
            Entry(
                commit.id,
                "assistant",
                (Text(text_of(commit.id, commit.message, self._diff(commit))),),
                timestamp=commit.when,
            )
            for commit in commits
        ]

    def _diff(self, commit: Commit) -> str:
        return log.diff(self.git, commit) if self.diffs else ""

    def _count(self, found: History) -> None:
        self.commits += len(found.commits)
        self.noise += found.noise
        self.tokens += sum(estimate_tokens(commit.message) for commit in found.commits)

    @property
    def _name(self) -> str:
        return f"git-{self._origin[:12]}"

    async def _marked(self, end: str) -> str | None:
        runtime = self.runtime
        kept = await runtime.sessions.cursor(runtime.bank_id, f"{self._name}/{end}")
        if kept is None or await asyncio.to_thread(log.exists, self.git, kept):
            return kept
        return None

    async def _mark(self, end: str, commit: str) -> None:
        runtime = self.runtime
        await runtime.sessions.set_cursor(runtime.bank_id, f"{self._name}/{end}", commit)
