"""The categories that facts are harvested under (pi/K-01 to K-04)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.prompt_contexts import CategoryPart
from hindsight_core.prompt_fields import CategoryText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.prompts import Prompts

# key: (label, heading, state by default, kind of its facts)
BUILT_IN = {
    "goal": ("Goals", "Goal", "on", "fact"),
    "decisions": ("Decisions", "Decisions", "on", "decision"),
    "constraints": ("Constraints", "Constraints", "on", "constraint"),
    "knowhow": ("Know-how", "Know-how", "on", "knowhow"),
    "pitfalls": ("Pitfalls", "Pitfalls", "on", "pitfall"),
    "facts": ("Facts", "Facts", "on", "fact"),
    "code": ("Code", "Code", "off", "fact"),
    "domain": ("Domain", "Domain", "off", "fact"),
}
_STATES = ("on", "off", "ban")


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories in force.

    Attributes:
        texts: As prompts show them: enabled ones, then banned ones.
    """

    texts: tuple[CategoryText, ...]

    def key(self, name: str | None) -> str | None:
        """The key for what a model called a category: key, label or heading, in any case."""
        wanted = _plain(name or "")
        for text in self.texts:
            if wanted and wanted in (_plain(text.key), _plain(text.label), _plain(text.heading)):
                return text.key
        return next(
            (key for key in BUILT_IN if _plain(key).rstrip("s") == wanted.rstrip("s")), None
        )

    def banned(self, key: str | None) -> bool:
        """Whether facts of this category are to be dropped, however durable."""
        return any(text.banned and text.key == key for text in self.texts)

    def heading(self, key: str | None) -> str:
        """The heading of a category in a document."""
        found = next((text.heading for text in self.texts if text.key == key), None)
        return found or BUILT_IN.get(key or "", BUILT_IN["facts"])[1]


def headings(settings: Settings) -> dict[str, str]:
    """Category key to the heading that its facts stand under in a document."""
    own = {text.key: text.heading for text in _custom(settings)}
    return {**own, **{key: row[1] for key, row in BUILT_IN.items()}}


def kind_of(key: str | None) -> str:
    """The kind of a category's facts."""
    return BUILT_IN[key][3] if key in BUILT_IN else "fact"


def categories(settings: Settings, prompts: Prompts) -> Categories:
    """What the settings make of the built-in and the user's own categories.

    An unknown state counts as the default; a custom category cannot shadow a built-in one, and
    is unused when it is on without a clause (pi/K-02, K-03).
    """
    wanted = settings.memorize.categories
    found = []
    for key, (label, heading, default, _) in BUILT_IN.items():
        state = wanted.get(key, default)
        state = state if state in _STATES else default
        if state != "off":
            parts = [
                prompts.render("memorize/category", CategoryPart(key, p)).text
                for p in ("clause", "example")
            ]
            found.append(
                CategoryText(key, label, heading, parts[0], parts[1] or None, state == "ban")
            )
    found.extend(_custom(settings))
    return Categories(tuple(sorted(found, key=lambda text: text.banned)))


def _custom(settings: Settings) -> Sequence[CategoryText]:
    found: dict[str, CategoryText] = {}
    for item in settings.memorize.custom_categories:
        key = item.key.strip()
        state = settings.memorize.categories.get(key, item.state)
        if (
            not key
            or key in BUILT_IN
            or state == "off"
            or (state == "on" and not item.clause.strip())
        ):
            continue
        label = item.label.strip() or key
        heading = item.heading.strip() or label
        found[key] = CategoryText(
            key, label, heading, item.clause, item.example.strip() or None, state == "ban"
        )
    return tuple(found.values())


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())
