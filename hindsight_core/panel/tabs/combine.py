"""The tab Combine: related memories in pairs, each for the person to decide (am/A-COMP-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core.panel.lines import plain, row, wrapped
from hindsight_core.panel.modal import Edit
from hindsight_core.panel.tab import Tab

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.memorize.consolidate.consolidation import Proposal
    from hindsight_core.panel.keys import Key
    from hindsight_core.panel.view import PanelView


class CombineTab(Tab):
    """One pair after the other; leaving leaves the rest alone."""

    title = "Combine"
    hints = "c combine · e edit and combine · s skip · esc leaves the rest alone"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._rest: list[Proposal] | None = None
        self._total = 0

    async def load(self) -> None:
        """Look for pairs; models are asked once, and what is decided is not asked again."""
        if self.view.runtime is None or self._rest is not None:
            return
        found = await self.view.runtime.active.propose()
        self._rest, self._total = list(found), len(found)

    def lines(self, width: int) -> list[Text]:
        """The two memories and the sentence that may stand for both."""
        if self.view.runtime is None:
            return [row((f"memory is not active here: {plain(self.view.reason)}", "dim"))]
        if self._rest is None:
            return [row(("looking for related memories", "dim"))]
        if not self._rest:
            text = "nothing more to combine" if self._total else "no memories are that alike"
            return [row((text, "dim"))]
        shown = self._rest[0]
        at = self._total - len(self._rest) + 1
        head = row(
            (f"{at} of {self._total}", "bold"), (f"  alike: {shown.pair.likeness:.2f}", "dim")
        )
        lines = [head]
        for memory in (shown.pair.first, shown.pair.second):
            lines += wrapped(f"· {memory.fact.text}", width, indent="  ")
        if shown.enabled:
            lines += wrapped(f"→ {shown.text}", width, indent="  ")
        else:
            lines += wrapped(f"no sentence for both: {shown.reason}", width, indent="  ")
        return lines

    def key(self, key: Key) -> None:
        """Decide about the pair that is shown."""
        if not self._rest or self.view.runtime is None or self.busy:
            super().key(key)
            return
        shown, name = self._rest[0], key.name.lower()
        if name == "s":
            self._done("left as they are")
        elif name == "e":
            self.ask_editor(Edit("Combined memory", shown.text, lambda text: self._edited(text)))
        elif name in ("c", "enter") and shown.enabled:
            self._combine(None)
        elif name in ("c", "enter"):
            self.say("there is no sentence for both: e writes one, s skips", style="yellow")
        else:
            super().key(key)

    def left(self) -> None:
        """Escape: nothing further is combined."""
        if self._rest:
            self._rest = []
            self.say("the rest was left alone")

    def _edited(self, text: str | None) -> None:
        if text is None or not text.strip():
            self.say("nothing was combined")
            return
        self._combine(" ".join(text.split()))

    def _combine(self, text: str | None) -> None:
        runtime, rest = self.view.runtime, self._rest
        if runtime is None or not rest:
            return
        live = self.view.live
        session = live.opening.session.id if live is not None else None

        async def run() -> None:
            memory = await runtime.active.combine(rest[0], text=text, session_id=session)
            self._done(f"combined: {memory.fact.text}")

        self.start(run(), doing="combining")

    def _done(self, said: str) -> None:
        if self._rest:
            self._rest = self._rest[1:]
        self.say(said, style="green")


def offered(view: PanelView) -> bool:
    """Only where it was asked for: looking for pairs asks models."""
    return view.place is not None and view.place.tab == CombineTab.title


TAB = CombineTab
