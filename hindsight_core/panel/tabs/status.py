"""The tab Status: where memory stands, in rows (pi/U-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.config.change import project_file, user_file
from hindsight_core.errors import ConfigError, HindsightError
from hindsight_core.panel.lines import padded, plain, row, wrapped
from hindsight_core.panel.tab import Tab

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.memory import BankStats

_LABEL = 16


class StatusTab(Tab):
    """Bank, health, contents, what is automatic, models, files, and what is wrong."""

    title = "Status"
    hints = "↑↓ scroll"
    _stats: BankStats | None = None
    _error: str | None = None
    _pending: int | None = None

    async def load(self) -> None:
        """Ask the bank how it is and how much waits for it."""
        runtime = self.view.runtime
        if runtime is None:
            return
        try:
            self._stats, self._error = await runtime.bank.stats(), None
        except HindsightError as error:
            self._stats, self._error = None, str(error)
        bank = runtime.bank_id
        waiting = await runtime.queue.pending(bank), await runtime.journal.pending(bank)
        self._pending = sum(waiting)

    def lines(self, width: int) -> list[Text]:
        """One row a fact about the session, warnings first."""
        rows = [
            *[("", warning, "yellow") for warning in self._warnings()],
            ("bank", *self._bank()),
            ("health", *self._health()),
            ("contents", self._contents(), ""),
            ("endpoint", self._endpoint(), ""),
            *self._automatic(),
            *self._models(),
            ("language", self.view.loaded.settings.memorize.language, ""),
            *self._files(),
        ]
        found: list[Text] = []
        for label, value, style in rows:
            if label:
                found.append(row((padded(label, _LABEL), "dim"), (plain(value), style)))
            else:
                found += [line_styled(line, style) for line in wrapped(f"! {value}", width)]
        return found

    def _warnings(self) -> list[str]:
        view = self.view
        found = list(view.loaded.warnings)
        if view.state != "active":
            found.insert(0, f"memory is {view.state}: {view.reason}")
        if view.changed:
            names = ", ".join(dict.fromkeys(view.changed))
            found.insert(0, f"changed: {names}; counts from the next session on (in pi: /reload)")
        if view.live is not None and view.live.notices.last_error:
            found.append(view.live.notices.last_error)
        return found

    def _bank(self) -> tuple[str, str]:
        bank = self.view.loaded.bank
        if self.view.state == "active":
            return str(bank.id), "bold"
        return f"{bank.id or 'none'} (INACTIVE)", "yellow"

    def _health(self) -> tuple[str, str]:
        if self._error:
            return f"● {self._error}", "red"
        if self._stats is not None:
            return "● ok", "green"
        return ("◐ checking" if self.view.runtime is not None else "○ not opened"), "dim"

    def _contents(self) -> str:
        if self._stats is None:
            return "—"
        text = f"{self._stats.documents} documents, {self._stats.facts} facts"
        others = [f"{n} {s}" for s, n in self._stats.states.items() if n and s != "valid"]
        text += f" ({', '.join(others)})" if others else ""
        return text + (f", {self._pending} waiting to be stored" if self._pending else "")

    def _endpoint(self) -> str:
        loaded, backend = self.view.loaded, self.view.loaded.bank.backend
        if backend == "hindsight":
            return f"{loaded.settings.hindsight.base_url} ns {loaded.settings.hindsight.namespace}"
        if backend == "qdrant":
            return f"{loaded.settings.qdrant.url} collection {loaded.settings.qdrant.collection}"
        return f"{backend} in {loaded.paths.banks}"

    def _automatic(self) -> list[tuple[str, str, str]]:
        settings, live = self.view.loaded.settings, self.view.live
        recalls = live.brings_back if live else settings.recall.enabled
        writes = live.memorizes if live else settings.memorize.enabled
        return [
            ("auto recall", "on" if recalls else "off", ""),
            ("auto memorize", "on" if writes else "off", ""),
            ("effort", settings.recall.effort, ""),
        ]

    def _models(self) -> list[tuple[str, str, str]]:
        models = self.view.loaded.settings.models
        recall = chain(models.recall, models.recall_chain, models.model)
        retain = chain(models.retain, models.retain_chain, models.model)
        return [("recall models", recall, ""), ("retain models", retain, "")]

    def _files(self) -> list[tuple[str, str, str]]:
        loaded = self.view.loaded
        try:
            project = str(project_file(loaded))
        except ConfigError as error:
            project = str(error)
        return [("your settings", str(user_file(loaded)), ""), ("project's", project, "")]


def line_styled(line: Text, style: str) -> Text:
    """The line in one style."""
    line.stylize(style)
    return line


def chain(first: str | None, others: tuple[str, ...], common: str | None) -> str:
    """Models in the order in which they are tried."""
    named = [name for name in (first or common, *others) if name]
    return " → ".join(named) or "the session's own"


TAB = StatusTab
