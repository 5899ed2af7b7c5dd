"""Which bank a session uses, in which backend, and why (pi/C-10, pi/C-11)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from hindsight_core.config.merge import BANK_RANK, Declared
from hindsight_core.config.paths import expand
from hindsight_core.config.slugs import digest, slug

if TYPE_CHECKING:
    from hindsight_core.config.claims import Claims
    from hindsight_core.config.merge import Merger
    from hindsight_core.config.project import Place

AUTO = "auto"
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_MOUNT = re.compile(r"^/mnt/([A-Za-z])/(.*)$")


@dataclass(frozen=True, slots=True)
class BankChoice:
    """The bank of one session.

    Attributes:
        id: Its name; the project's own where none is declared; None where there is no project.
        backend: Name of the backend.
        declared: Whether somebody asked for a bank here; without that, memory is dormant.
        reason: Why this bank and this backend, for the user.
        origin: Where `id` was declared.
        declared_as: What was written there: a name, ``auto``, or nothing.
        aliases: Names under which a replaced plugin may have made this project's bank.
    """

    id: str | None
    backend: str
    declared: bool
    reason: str
    origin: str = "default"
    declared_as: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Choosing:
    """What the choice depends on.

    Attributes:
        merged: All layers.
        place: Where the session runs.
        claims: Who owns which automatic name.
        env: The environment.
        host: The agent program, for templates.
        agent: The agent, for templates.
        server: Why a Hindsight server is taken for granted; None when nothing speaks for one.
        claim: Write an automatic name down; None for: when it is declared.
    """

    merged: Merger
    place: Place
    claims: Claims
    env: Mapping[str, str]
    host: str | None = None
    agent: str | None = None
    server: str | None = None
    claim: bool | None = None


def choose(given: Choosing) -> BankChoice:
    """Decide the bank; called once a session, which keeps the answer (br/BR-67)."""
    backend, why_backend = _backend(given)
    choice = _opted(given, _chosen(given, backend))
    aliases = (_older_name(given.place),) if choice.id and given.place.root else ()
    reason = "; ".join(part for part in (choice.reason, why_backend) if part)
    return replace(choice, reason=reason, aliases=aliases)


def _chosen(given: Choosing, backend: str) -> BankChoice:
    declared, ignored = _strongest(given)
    if declared is None:
        name, why = _automatic(given, claim=bool(given.claim))
        why = why or ignored or "no bank is declared"
        return BankChoice(name, backend, declared=False, reason=why)
    name, why = _named(given, declared)
    there = name is not None and bool(declared.value.strip())
    origin, value = declared.origin, declared.value
    return BankChoice(name, backend, there, why, origin=origin, declared_as=value)


def _named(given: Choosing, declared: Declared) -> tuple[str | None, str]:
    """The bank that a declaration means, and why."""
    value = declared.value.strip()
    if not value:
        name, _ = _automatic(given, claim=False)
        return name, f"memory is switched off here by an empty bank.id ({declared.origin})"
    if value != AUTO:
        name = declared.value if given.merged.get("bank.naming") == "verbatim" else slug(value)
        return name, f"bank {name} is declared by {declared.origin}"
    name, why = _automatic(given, claim=given.claim is not False)
    return name, why or f"bank {name} is this project's own (auto, {declared.origin})"


def _strongest(given: Choosing) -> tuple[Declared | None, str | None]:
    """The declaration that counts, or why one that was found does not."""
    merged, ignored = given.merged, None
    found: list[Declared] = []
    for item in merged.banks:
        if item.kind == "host-global" and item.value.strip() != AUTO:
            if item.value.strip():
                ignored = f"a name in {item.origin} is no declaration; only auto is, for all"
        elif item.kind != "old-env" or item.value.strip():
            found.append(item)
    mapped = match_path(merged.get("bank.paths"), given.place.cwd, given.env)
    if mapped is not None:
        origin = merged.origins.get("bank.paths", "default")
        kind = merged.kinds.get("bank.paths", "own-global")
        rank_as = kind if kind in BANK_RANK else "own-global"
        found.append(Declared(mapped[1], rank_as, f"bank.paths {mapped[0]} in {origin}"))
    # `max` keeps the first of equals, and the last one said is the one that counts.
    best = max(reversed(found), key=lambda item: BANK_RANK[item.kind], default=None)
    return best, ignored


def _automatic(given: Choosing, *, claim: bool) -> tuple[str | None, str | None]:
    """The project's own name, or None and why there is none."""
    place = given.place
    if place.root is None:
        return None, place.reason
    if place.unsure or not place.cwd.exists():
        known = given.claims.folder(place.cwd)
        if known is not None:
            return known.bank, None
        why = place.reason or f"{place.cwd} does not exist"
        return None, f"{why}, and nothing is known about it: no new bank is named after it"
    name = given.claims.bank(place, claim=claim)
    template = given.merged.get("bank.template")
    return (_render(template, name, given) if template else name), None


def _render(template: str, project: str, given: Choosing) -> str:
    words = {
        "project": project,
        "host": slug(given.host, empty="") if given.host else "",
        "agent": slug(given.agent, empty="") if given.agent else "",
    }
    text = re.sub(r"\{(\w+)\}", lambda m: words.get(m[1], m[0]), template)
    return text.strip("-:_. ") or project


def _opted(given: Choosing, choice: BankChoice) -> BankChoice:
    """`bank.opt_in_only`: a name alone approves nothing."""
    merged, place = given.merged, given.place
    if not merged.get("bank.opt_in_only"):
        return choice
    wanted = {path: path for path in merged.get("bank.opt_in_paths")}
    folders = {place.cwd, place.root or place.cwd}
    if any(match_path(wanted, folder, given.env) for folder in folders):
        return choice
    why = "bank.opt_in_only is set and this folder is not under bank.opt_in_paths"
    return replace(choice, declared=False, reason=why)


def _backend(given: Choosing) -> tuple[str, str | None]:
    merged = given.merged
    name: str = merged.get("bank.backend")
    if name != AUTO:
        return name, None
    if merged.kinds.get("hindsight.base_url", "profile") not in ("default", "profile"):
        where = merged.origins["hindsight.base_url"]
        return "hindsight", f"backend hindsight, because {where} sets hindsight.base_url"
    if given.server:
        return "hindsight", f"backend hindsight, because there is {given.server}"
    return "sqlite", "backend sqlite, because no Hindsight server is configured"


def _older_name(place: Place) -> str:
    # s1/S-ID-4, by which that plugin made its banks.
    name = slug(place.name, limit=48, empty="repo")
    return f"pi-project-{name}-{digest(str(place.root), length=12)}"


def match_path(
    table: Mapping[str, str], folder: Path, env: Mapping[str, str]
) -> tuple[str, str] | None:
    """The entry whose path holds the folder, the longest one; by whole parts (br/BR-49).

    A Windows path also stands for its mount under ``/mnt`` in WSL; both ignore case.
    """
    best: tuple[int, str, str] | None = None
    for prefix, value in table.items():
        size = _holds(prefix, folder, env)
        if size and (best is None or size > best[0]):
            best = (size, prefix, value)
    return (best[1], best[2]) if best else None


def _holds(prefix: str, folder: Path, env: Mapping[str, str]) -> int:
    """Number of parts of a prefix that holds the folder; 0 when it does not."""
    if _DRIVE.match(prefix):
        outer, inner = _windows(prefix), _windows(str(folder))
    else:
        outer = PurePosixPath(os.path.realpath(expand(prefix, env=env))).parts
        inner = PurePosixPath(os.path.realpath(folder)).parts
    return len(outer) if inner[: len(outer)] == outer else 0


def _windows(text: str) -> tuple[str, ...]:
    mount = _MOUNT.match(text)
    if mount:
        text = f"{mount[1]}:/{mount[2]}"
    # A drive path seen on another system is relative there; take it from its drive on.
    found = re.search(r"[A-Za-z]:[\\/].*$", text)
    return tuple(part.casefold() for part in PureWindowsPath(found[0] if found else text).parts)
