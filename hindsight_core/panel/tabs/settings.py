"""The tab Settings: what is set most, and on demand everything that can be set (pi/U-20)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from hindsight_core.config import schema
from hindsight_core.config.change import change, project_file, user_file
from hindsight_core.config.files import read_table
from hindsight_core.config.settings.memorize import DEFAULT_CATEGORIES
from hindsight_core.config.show import shown, value
from hindsight_core.config.trusting import keep_trust
from hindsight_core.panel.lines import padded, plain, row
from hindsight_core.panel.modal import TextInput
from hindsight_core.panel.tab import ListTab

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.config.layers import Loaded
    from hindsight_core.panel.keys import Key

CATEGORIES = "memorize.categories"
SWITCH = ("on", "off")
_LABEL = 30
ACTIVE = ("consolidation", "lifecycle", "steer", "capture", "investigation")
ALSO = ("tools.memory", "log.per_session", "log.include_text")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row.

    Attributes:
        key: The setting.
        choices: Values that Enter steps through; empty for a text.
        category: The category whose state it is, for a row of `memorize.categories`.
    """

    key: str
    choices: tuple[str, ...] = ()
    category: str | None = None

    @property
    def label(self) -> str:
        """What stands before the value."""
        return f"category {self.category}" if self.category else self.key

    @property
    def of_project(self) -> bool:
        """Written to the project's file, not to the user's (pi/U-24)."""
        return self.key in ("bank.id", CATEGORIES)


MAIN = (
    Setting("bank.id"),
    Setting("recall.enabled", SWITCH),
    Setting("memorize.enabled", SWITCH),
    Setting("recall.effort", ("light", "normal", "thorough")),
    Setting("recall.filter", ("model", "off")),
    Setting("recall.max_lines", ("4", "6", "8", "12", "16")),
    Setting("models.recall"),
    Setting("models.retain"),
    Setting("models.recall_chain"),
    Setting("models.retain_chain"),
    Setting("memorize.language"),
)


class SettingsTab(ListTab):
    """Values in effect, where they come from, and the way to change them."""

    title = "Settings"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        place = self.view.place
        self._active = place is not None and place.mode == "active-memory"
        self._all = False
        self._rows: tuple[Setting, ...] = ()
        self._list()

    @property
    def hints(self) -> str:  # type: ignore[override]
        """Keys of this tab."""
        return "enter change · a " + ("the usual ones" if self._all else "all settings")

    def count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    async def load(self) -> None:
        """Read the configuration anew: a file may have been edited meanwhile."""
        self.view.loaded = await asyncio.to_thread(self.view.reload)
        self._list()

    def lines(self, width: int) -> list[Text]:
        """A row a setting: name, value, where it comes from."""
        label = min(_LABEL, max(12, width // 3))
        return self.items(
            [],
            [
                [self._line(setting, label, chosen=at == self.cursor)]
                for at, setting in enumerate(self._rows)
            ],
        )

    def pressed(self, key: Key) -> None:
        """Change the row, or show all settings."""
        if key.name == "a":
            self._all, self.cursor = not self._all, 0
            self._list()
        elif key.name in ("enter", " ") and self._rows:
            self._change(self._rows[self.cursor])

    def _line(self, setting: Setting, label: int, *, chosen: bool) -> Text:
        loaded = self.view.loaded
        text = self._value(setting)
        origin = loaded.origins.get(setting.key, "default")
        return row(
            ("› " if chosen else "  ", "bold"),
            (padded(setting.label, label) + " ", "bold" if chosen else ""),
            (plain(text) or "(not set)", "cyan" if text else "dim"),
            (f"  {plain(origin)}", "dim"),
        )

    def _value(self, setting: Setting) -> str:
        loaded = self.view.loaded
        found = shown(setting.key, value(loaded.settings, setting.key))
        if setting.category is not None:
            default = DEFAULT_CATEGORIES.get(setting.category, "on")
            return str(found.get(setting.category, default)) if isinstance(found, dict) else default
        if isinstance(found, bool):
            return "on" if found else "off"
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return ", ".join(found)
        if isinstance(found, (list, dict)):
            return json.dumps(found, ensure_ascii=False) if found else ""
        return "" if found is None else str(found)

    def _change(self, setting: Setting) -> None:
        now = self._value(setting)
        if setting.choices:
            at = setting.choices.index(now) + 1 if now in setting.choices else 0
            self._write(setting, setting.choices[at % len(setting.choices)])
            return
        text = "" if schema.is_secret(setting.key) else now
        self.modal = TextInput(setting.label, text, lambda given: self._write(setting, given))

    def _write(self, setting: Setting, text: str) -> None:
        self.start(self._written(setting, text), doing="writing")

    async def _written(self, setting: Setting, text: str) -> None:
        view = self.view
        path = await asyncio.to_thread(_write, view.loaded, setting, text)
        view.changed.append(setting.label)
        if view.runtime is not None:
            view.runtime.log.write("config.updated", setting_name=setting.key)
        await self.load()
        origin = view.loaded.origins.get(setting.key, "default")
        if self._value(setting) not in (text, ", ".join(schema_names(text))):
            if setting.of_project and not view.loaded.project.trusted:
                why = "the project is not trusted yet: run `hindsight-mem trust`"
            else:
                why = f"{origin} is stronger"
            self.say(f"written to {path}, but {why}", style="yellow")
        else:
            self.say(f"written to {path}; counts from the next session on", style="green")

    def _list(self) -> None:
        known, standard = self.view.loaded.settings.memorize.categories, DEFAULT_CATEGORIES
        names = [*standard, *(name for name in known if name not in standard)]
        rows = [Setting(CATEGORIES, ("on", "off", "ban"), name) for name in names]
        if self._active and not self._all:
            self._rows = tuple(Setting(key, choices(key)) for key in active_keys())
            return
        if self._all:
            main = [Setting(key, choices(key)) for key in schema.known_keys() if key != CATEGORIES]
        else:
            main = list(MAIN)
        self._rows = (*main, *rows)


def active_keys() -> list[str]:
    """The settings of active memory, for ``/memory-settings``."""
    return [key for key in schema.known_keys() if key.split(".")[0] in ACTIVE or key in ALSO]


def choices(key: str) -> tuple[str, ...]:
    """The values that a setting can have, where they can be counted."""
    if schema.kind(key) == "bool":
        return SWITCH
    return _literals(schema.field(key).annotation)


def _literals(annotation: object) -> tuple[str, ...]:
    origin = get_origin(annotation)
    if origin is Literal:
        return tuple(map(str, get_args(annotation)))
    if origin is Annotated:
        return _literals(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return tuple(name for part in get_args(annotation) for name in _literals(part))
    return ()


def schema_names(text: str) -> list[str]:
    """The parts of a list written with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _write(loaded: Loaded, setting: Setting, text: str) -> Path:
    project = setting.of_project
    path = project_file(loaded) if project else user_file(loaded)
    if setting.category is not None:
        table = read_table(path) or {}
        section = table.get("memorize")
        own = section.get("categories") if isinstance(section, dict) else None
        kept = dict(own) if isinstance(own, dict) else {}
        text = json.dumps({**kept, setting.category: text})
    with keep_trust(loaded):
        change(path, setting.key, text, project=project, settings=loaded.settings)
    return path


TAB = SettingsTab
