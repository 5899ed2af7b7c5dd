"""The tab Hub: this session's mode, what waits for the bank, what reached it (s1/S-SES-6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hindsight_core.panel.lines import padded, plain, row
from hindsight_core.panel.modal import Confirm, TextInput
from hindsight_core.panel.tab import ListTab
from hindsight_core.state.choices import MODES

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.config.settings.bank import BankEntry
    from hindsight_core.panel.keys import Key
    from hindsight_core.panel.view import PanelView
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.jobs import JobRow, QueueCounts
    from hindsight_core.state.receipts import ReceiptRow

LIMIT = 100
RECEIPTS = 20
FLUSH_S = 20.0
_LABEL = 12


def offered(view: PanelView) -> bool:
    """Where it was asked for: ``/hindsight``, or ``hindsight-mem panel --hub``."""
    return view.hub


class HubTab(ListTab):
    """Counts, states and reasons; never the text of a write."""

    title = "Hub"
    hints = "m mode · x next turn · g tags · f flush · t retry · D drop · ↑↓ move · r reload"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._jobs: Sequence[JobRow] = ()
        self._receipts: Sequence[ReceiptRow] = ()
        self._counts: QueueCounts | None = None

    def count(self) -> int:
        """Writes and receipts."""
        return len(self._jobs) + len(self._receipts)

    async def load(self) -> None:
        """Read the queue, the receipts and what was chosen for the session."""
        runtime, live = self.view.runtime, self.view.live
        if runtime is None:
            return
        from hindsight_core.engine.outgoing import Outgoing
        from hindsight_core.state.receipts import receipts

        if live is not None:
            await live.modes.refresh()
        outgoing = Outgoing(runtime)
        self._counts = await outgoing.counts()
        dead = await outgoing.rows("dead", limit=LIMIT)
        self._jobs = [*dead, *await outgoing.rows("pending", limit=LIMIT)]
        found = [await receipts(runtime.queue, bank=b, limit=RECEIPTS) for b in outgoing.banks]
        every = sorted((r for rows in found for r in rows), key=lambda r: r.stored_at, reverse=True)
        self._receipts = every[:RECEIPTS]
        self.cursor = max(0, min(self.cursor, self.count() - 1))

    def lines(self, width: int) -> list[Text]:
        """The session, the queue with its writes, the receipts."""
        if self.view.runtime is None:
            return [row((f"memory is not active here: {plain(self.view.reason)}", "dim"))]
        jobs = [[self._job(at)] for at in range(len(self._jobs))]
        kept = [[self._receipt(at)] for at in range(len(self._receipts))]
        if kept:
            kept[0].insert(0, row((padded("receipts", _LABEL), "dim")))
        found = self.items([*self._session(), self._queue()], [*jobs, *kept])
        if not kept:
            found.append(row((f"{padded('receipts', _LABEL)}nothing was stored yet", "dim")))
        return found

    def pressed(self, key: Key) -> None:
        """What changes the session or the queue."""
        actions: dict[str, Callable[[], None]] = {
            "r": self.reload,
            "m": self._next_mode,
            "x": self._opt_out,
            "g": self._tag,
            "f": self._flush,
            "t": self._retry,
            "D": self._drop,
        }
        if self.view.runtime is not None and key.name in actions:
            actions[key.name]()

    def _session(self) -> list[Text]:
        live = self.view.live
        if live is None:
            told = "none is open here; `hindsight-mem sessions` sets the mode of another"
            return [row((padded("session", _LABEL), "dim"), (told, "dim"))]
        choices = live.modes.choices
        said = [] if choices.recall else ["recall off"]
        said += [] if choices.retain else ["retain off"]
        said += ["its record was broken"] if choices.broken else []
        style = "" if choices.mode == "normal" else "yellow"
        turn = "is left out" if choices.next_opt_out else "is kept"
        tags = ", ".join(map(plain, choices.tags)) or "—"
        banks = [f"{entry.id} ({_ways(entry)})" for entry in live.deciding.entries]
        return [
            row((padded("mode", _LABEL), "dim"), (choices.mode, style), " ".join(["", *said])),
            row((padded("next turn", _LABEL), "dim"), turn),
            row((padded("tags", _LABEL), "dim"), tags),
            row((padded("banks", _LABEL), "dim"), plain(", ".join(banks))),
        ]

    def _queue(self) -> Text:
        counts = self._counts
        if counts is None:
            return row((padded("queue", _LABEL), "dim"))
        said = [f"{counts.pending} pending", f"{counts.dead} dead"]
        said += [f"{counts.set_aside} unreadable"] if counts.set_aside else []
        if counts.paused_until:
            said.append(f"the bank is left alone until {counts.paused_until:%H:%M:%S} UTC")
        style = "yellow" if counts.dead or counts.set_aside else ""
        return row((padded("queue", _LABEL), "dim"), (" · ".join(said), style))

    def _job(self, at: int) -> Text:
        job = self._jobs[at]
        state = "in delivery" if job.claimed else job.state
        reason = f"  {plain(job.reason)}" if job.reason else ""
        chosen = "›" if at == self.cursor else " "
        return row(
            (f"{chosen} {job.id} ", "bold" if at == self.cursor else ""),
            plain(job.document_id),
            (f"  {state}, {job.attempts} tries", "red" if job.state == "dead" else "dim"),
            (reason, "dim"),
        )

    def _receipt(self, at: int) -> Text:
        item, chosen = self._receipts[at], at + len(self._jobs) == self.cursor
        facts = f"  {item.facts} facts" if item.facts else ""
        return row(
            ("› " if chosen else "  ", "bold"),
            (f"{item.stored_at:%m-%d %H:%M} ", "dim"),
            plain(item.document_id),
            (facts, "dim"),
        )

    @property
    def _chosen(self) -> JobRow | None:
        """The write under the cursor."""
        if self.cursor < len(self._jobs):
            return self._jobs[self.cursor]
        self.say("the cursor is on no write")
        return None

    def _next_mode(self) -> None:
        live = self.view.live
        if live is None:
            self.say("no session is open here", style="yellow")
            return
        modes = live.modes
        at = MODES.index(modes.choices.mode)
        self._change(lambda: modes.set_mode(MODES[(at + 1) % len(MODES)]))

    def _opt_out(self) -> None:
        live = self.view.live
        if live is None:
            self.say("no session is open here", style="yellow")
            return
        wanted = not live.modes.choices.next_opt_out
        self._change(lambda: live.modes.change(lambda now: replace(now, next_opt_out=wanted)))

    def _tag(self) -> None:
        live = self.view.live
        if live is None:
            self.say("no session is open here", style="yellow")
            return

        def told(text: str) -> None:
            known = text.strip() in live.modes.choices.tags
            self._change(lambda: live.modes.tag(text, remove=known))

        self.modal = TextInput("tag to add, or to remove", "", told)

    def _change(self, change: Callable[[], Awaitable[object]]) -> None:
        live = self.view.live

        async def run() -> None:
            await change()
            if live is not None:
                live.watch.changed()
            await self.load()

        self.start(run(), doing="changing")

    def _flush(self) -> None:
        async def run(runtime: Runtime) -> str:
            from hindsight_core.engine.outgoing import Outgoing

            outgoing = Outgoing(runtime)
            done, counts = await outgoing.flush(deadline_s=FLUSH_S), await outgoing.counts()
            why = f": {done.reason}" if done.reason else ""
            return f"{done.sent} sent, {counts.pending} pending, {counts.dead} dead{why}"

        self._do(run, "sending")

    def _retry(self) -> None:
        """Gives the chosen write all its tries again and sends it (a replay of a dead letter)."""
        if (job := self._chosen) is None:
            return

        async def run(runtime: Runtime) -> str:
            from hindsight_core.engine.outgoing import Outgoing

            await runtime.queue.retry(bank=job.bank, ids=[job.id])
            report = await Outgoing(runtime).flush(deadline_s=FLUSH_S)
            left = await runtime.queue.holds(job.id)
            if left is None:
                return f"{job.document_id} is stored"
            return f"{job.document_id} is {left.state}: {left.reason or report.reason or ''}"

        self._do(run, "trying again")

    def _drop(self) -> None:
        if (job := self._chosen) is None:
            return

        async def run(runtime: Runtime) -> str:
            waits = job.state == "pending"
            gone = await runtime.queue.purge(bank=job.bank, ids=[job.id], pending=waits)
            return f"{job.document_id} was dropped" if gone else "it is just being delivered"

        self.modal = Confirm(
            f"drop {plain(job.document_id)} for good? It is in no bank",
            lambda: self._do(run, "dropping"),
        )

    def _do(self, step: Callable[[Runtime], Awaitable[str]], doing: str) -> None:
        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before

        async def run() -> None:
            said = await step(runtime)
            await self.load()
            self.say(said)

        self.start(run(), doing=doing)


def _ways(entry: BankEntry) -> str:
    """How a bank is used: what is read of it and when it is written."""
    said = [entry.role] + (["read"] if entry.readable else [])
    return ", ".join(said + ([f"written: {entry.writes}"] if entry.writable else []))


TAB = HubTab
