"""Tags, metadata and observation scopes of a write (s1/S-ID-6, S-RET-8, oc/O-CA-2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.config.project import Place, project_id
from hindsight_core.config.slugs import digest, slug

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.config.settings import Settings

REPO_CHARS = 48
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
# In a shared bank these are written by us; in a bank of one's own they are the user's.
_RESERVED = ("source:", "harness:")


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labels of one write.

    Attributes:
        entities: Names told to a bank that extracts.
        observation_scopes: Sets of tags under which such a bank forms observations.
    """

    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    observation_scopes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """What the labels of a write are made of.

    Attributes:
        settings: ``scope`` and ``retain``.
        project: Name of the project.
        project_id: Its id inside a shared bank (s1/S-ID-3).
        root: Its folder, as text; empty where there is none.
        cwd: The folder that the session runs in.
        bank: The project's bank.
    """

    settings: Settings
    project: str
    project_id: str = ""
    root: str = ""
    cwd: str = ""
    bank: str = ""

    @classmethod
    def of(cls, loaded: Loaded) -> Labels:
        """Those of a session's configuration and place."""
        project, scope = loaded.project, loaded.settings.scope
        here = project.checkout or project.root or Path()
        place = Place(here, project.root, project.checkout, project.name, remote=project.remote)
        found = project_id(place, given=scope.project_id, strategy=scope.project_id_strategy)
        return cls(
            settings=loaded.settings,
            project=project.name,
            project_id=found if project.root or scope.project_id else "",
            root=str(project.root) if project.root else "",
            cwd=str(project.checkout or project.root or ""),
            bank=loaded.bank.id or "",
        )

    @property
    def repo_key(self) -> str:
        """The older id of a project, by its folder: memories that carry it stay visible."""
        if not self.root:
            return ""
        name = slug(self.root.rstrip("/").rpartition("/")[2], limit=REPO_CHARS, empty="repo")
        return f"{name}-{digest(self.root, length=12)}"

    def of_write(
        self, *, bank: str, session_id: str | None, host: str | None, of_session: Iterable[str]
    ) -> Labelled:
        """All of them, for one write into a bank."""
        return Labelled(
            tags=self.base_tags(session_id=session_id, host=host, of_session=of_session),
            metadata=self.metadata(bank=bank, session_id=session_id, host=host),
            entities=self.settings.retain.entities,
            observation_scopes=self.observation_scopes(bank=bank, session_id=session_id, host=host),
        )

    def base_tags(
        self, *, session_id: str | None, host: str | None, of_session: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Tags of everything that this session writes into a shared bank, and ``retain.tags``."""
        tags: list[str] = []
        if self.settings.scope.mode == "domain-tagged":
            tags += [f"source:{host}", f"harness:{host}"] if host else []
            tags += [f"project:{self.project_id}"] if self.project_id else []
            tags += [f"repo:{self.repo_key}"] if self.repo_key else []
            tags += [f"session:{session_key(session_id)}"] if session_id else []
        values = self.values(bank=self.bank, session_id=session_id, host=host)
        for tag in self.settings.retain.tags:
            filled = fill(tag, values)
            if filled and not is_reserved(self.settings, filled):
                tags.append(filled)
        return tuple(dict.fromkeys([*tags, *of_session]))

    def metadata(self, *, bank: str, session_id: str | None, host: str | None) -> dict[str, str]:
        """``retain.metadata``, filled; a pair whose placeholder is empty is left out."""
        values = self.values(bank=bank, session_id=session_id, host=host)
        pairs = {k: fill(v, values) for k, v in self.settings.retain.metadata.items()}
        return {key: value for key, value in pairs.items() if value}

    def observation_scopes(
        self, *, bank: str, session_id: str | None, host: str | None
    ) -> tuple[tuple[str, ...], ...]:
        """``retain.observation_scopes``, filled, each once; those that cannot be are left out."""
        values = self.values(bank=bank, session_id=session_id, host=host)
        found: list[tuple[str, ...]] = []
        for scope in self.settings.retain.observation_scopes:
            filled = tuple(fill(tag, values) or "" for tag in scope)
            if filled and all(filled) and filled not in found:
                found.append(filled)
        return tuple(found)

    def values(self, *, bank: str, session_id: str | None, host: str | None) -> Mapping[str, str]:
        """What each placeholder stands for here; empty where it is not known."""
        return {
            "project": self.project,
            "gitProject": self.project,
            "projectId": self.project_id,
            "repoKey": self.repo_key,
            "sessionId": session_key(session_id) if session_id else "",
            "session": session_id or "",
            "cwdHash": digest(self.cwd, length=12) if self.cwd else "",
            "bankId": bank,
            "projectBankId": self.bank,
            "harness": host or "",
            "host": host or "",
        }


def session_key(session_id: str) -> str:
    """The short form of a session's id in tags (s1/S-ID-5)."""
    return digest(session_id, length=16)


def is_reserved(settings: Settings, tag: str) -> bool:
    """Whether a configured tag would contradict those that mark a shared bank (oc/O-CA-2)."""
    return settings.scope.mode == "domain-tagged" and tag.startswith(_RESERVED)


def fill(text: str, values: Mapping[str, str]) -> str | None:
    """A text with its placeholders filled; None when one is unknown or has no value."""
    if any(not values.get(name) for name in _PLACEHOLDER.findall(text)):
        return None
    filled = _PLACEHOLDER.sub(lambda found: values[found[1]], text).strip()
    return filled or None


def problems(settings: Settings, values: Mapping[str, str]) -> list[str]:
    """What is wrong with the configured labels, for diagnostics (s1/S-RET-8)."""
    told = []
    known = ", ".join(f"{{{name}}}" for name in values)
    for scope in settings.retain.observation_scopes:
        told += _of_scope(scope, values, known)
    for tag in settings.retain.tags:
        unknown = [name for name in _PLACEHOLDER.findall(tag) if name not in values]
        told += [f"retain.tags: {{{name}}} is not known; use one of {known}" for name in unknown]
        if is_reserved(settings, tag):
            told.append(f"retain.tags: {tag!r} is left out: source: and harness: are reserved")
    return told


def _of_scope(scope: Sequence[str], values: Mapping[str, str], known: str) -> list[str]:
    where = f"retain.observation_scopes {list(scope)}"
    if not scope:
        return [f"{where} is left out: it is empty"]
    told = []
    for tag in scope:
        for name in _PLACEHOLDER.findall(tag):
            if name not in values:
                told.append(f"{where} is left out: {{{name}}} is not known; use one of {known}")
            elif not values[name]:
                told.append(f"{where} is left out: {{{name}}} has no value here")
        if not tag.strip():
            told.append(f"{where} is left out: a tag of it is blank")
    return told
