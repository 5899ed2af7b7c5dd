"""Which part of each bank this project sees, and how much of it (s1/S-TAG, S-REC-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hindsight_core.memory import Query, TagFilter, TagMatch

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.config.settings.bank import BankEntry

UNTAGGED = TagFilter((), "exact")
SERVER_TYPES = ("world", "experience", "observation")
PERSONAL_ROLES = ("life", "user", "global", "personal")


@dataclass(frozen=True, slots=True)
class ProjectPlace:
    """The project of a session, as tags and hints name it (s1/S-ID-3).

    Attributes:
        project: Its id; empty where there is none.
        repo: Its older id, by its folder: memories that carry it stay visible.
        folder: Name of its folder.
    """

    project: str = ""
    repo: str = ""
    folder: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """What marks a memory as this project's."""
        pairs = (("project", self.project), ("repo", self.repo))
        return tuple(f"{name}:{value}" for name, value in pairs if value)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller asks of tags, within whatever scope a bank has (s1/S-TAG-4).

    Attributes:
        tags: One condition over these tags; none when empty.
        match: How they match; ``exact`` is over the scope's tags and these together.
        groups: Further conditions.
    """

    tags: tuple[str, ...] = ()
    match: TagMatch = "any_strict"
    groups: tuple[TagFilter, ...] = ()


NOTHING_MORE = Wanted()


@dataclass(frozen=True, slots=True)
class BankScope:
    """How one bank is searched.

    Attributes:
        bank: Its id.
        kind: ``project``, or ``user`` for what is the person's in every project.
        tags: What of it is seen; None for all.
        max_tokens: Text that it may return.
        top_k: Facts of it at most, in plain mode.
        project: Id of the project; empty where there is none.
        repo: Its older id, by its folder.
        folder: Name of its folder.
    """

    bank: str
    kind: Literal["project", "user"] = "project"
    tags: TagFilter | None = None
    max_tokens: int | None = None
    top_k: int | None = None
    project: str = ""
    repo: str = ""
    folder: str = ""

    def narrow(self, query: Query, wanted: Wanted = NOTHING_MORE) -> Query:
        """The query as this bank is asked; what the caller wants is AND-ed (s1/S-TAG-4)."""
        tags = both(asked(self, wanted), query.scope.tags)
        most = query.max_tokens
        bound = self.max_tokens if most is None else min(most, self.max_tokens or most)
        return replace(query, scope=replace(query.scope, tags=tags), max_tokens=bound)


def bank_scopes(
    settings: Settings,
    entries: Sequence[BankEntry],
    *,
    own: str,
    place: ProjectPlace,
    host: str | None = None,
) -> Mapping[str, BankScope]:
    """A scope for each bank (s1/S-TAG-2, S-TAG-3, S-TAG-5).

    Args:
        settings: ``scope`` and ``recall``.
        entries: The session's banks.
        own: The project's bank.
        place: The project that the session belongs to.
        host: The agent program; on the command line None, where tags of it are no condition.
    """
    return {entry.id: _scope(settings, entry, own=own, place=place, host=host) for entry in entries}


def kinds_of(kinds: Sequence[str], *, observations: bool) -> tuple[str, ...]:
    """Kinds to ask a bank for: facts stand for observations where it makes none (config.md).

    Args:
        kinds: What is wanted.
        observations: The bank makes observations of facts, and tells its types apart.
    """
    if observations or not any(kind in SERVER_TYPES for kind in kinds):
        return tuple(kinds)
    return ()


def both(one: TagFilter | None, other: TagFilter | None) -> TagFilter | None:
    """Both conditions; None for no condition."""
    if one is None or other is None:
        return one or other
    return TagFilter(all_of=(one, other))


def asked(scope: BankScope, wanted: Wanted) -> TagFilter | None:
    """A caller's own tags and groups within a bank's scope (s1/S-TAG-4, S-TAG-7)."""
    if wanted.tags and wanted.match == "exact":
        tags = dict.fromkeys((*_held(scope.tags), *wanted.tags))
        whole: TagFilter | None = TagFilter(tuple(tags), "exact")
    else:
        leaf = TagFilter(wanted.tags, wanted.match) if wanted.tags else None
        whole = both(scope.tags, leaf)
    for group in wanted.groups:
        whole = both(whole, group)
    return whole


def _scope(
    settings: Settings, entry: BankEntry, *, own: str, place: ProjectPlace, host: str | None
) -> BankScope:
    of_project = entry.id == own or entry.role not in PERSONAL_ROLES
    recall = settings.recall
    return BankScope(
        bank=entry.id,
        kind="project" if of_project else "user",
        project=place.project,
        repo=place.repo,
        folder=place.folder,
        tags=_tags(settings, entry, place.tags if of_project else None, host=host),
        max_tokens=None if of_project else recall.user_max_tokens,
        top_k=recall.top_k if recall.mode == "plain" else None,
    )


def _tags(
    settings: Settings, entry: BankEntry, of_project: Sequence[str] | None, *, host: str | None
) -> TagFilter | None:
    scope = settings.scope
    if scope.mode != "domain-tagged" or entry.id in scope.unscoped_recall_banks:
        return None
    if of_project is None:
        tags = _of_host(scope.user_scope_tags, host)
        return TagFilter(tags, "any_strict") if tags else None
    leaf = TagFilter(tuple(of_project), "any_strict") if of_project else None
    if scope.include_shared_observations:
        return TagFilter(any_of=(leaf, UNTAGGED)) if leaf else UNTAGGED
    return leaf


def _of_host(tags: Sequence[str], host: str | None) -> tuple[str, ...]:
    if host is None:
        return tuple(tag for tag in tags if "{host}" not in tag)
    return tuple(tag.replace("{host}", host) for tag in tags)


def _held(tags: TagFilter | None) -> tuple[str, ...]:
    """The tags of a bank's scope, also where untagged observations are seen besides."""
    if tags is None:
        return ()
    return tags.tags or tuple(tag for part in tags.any_of for tag in part.tags)
