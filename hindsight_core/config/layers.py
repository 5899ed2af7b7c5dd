"""The effective configuration: ten layers in order, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hindsight_core.config import schema
from hindsight_core.config.agents import agent_layers, agent_tables, not_opted_in
from hindsight_core.config.banks import BankChoice, Choosing, choose
from hindsight_core.config.claims import Claims
from hindsight_core.config.merge import Merger
from hindsight_core.config.paths import Paths
from hindsight_core.config.profiles import PROFILES
from hindsight_core.config.project import locate
from hindsight_core.config.reading import Reading, strongest
from hindsight_core.config.sections import plugin_sections
from hindsight_core.config.settings import Settings
from hindsight_core.config.translate import Layer, translate

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Project:
    """The project of a session.

    Attributes:
        root: The main worktree; None where there is no project.
        name: Its folder's name.
        trusted: Whether its files may act: the host's word, else the user's.
        checkout: The worktree that the session runs in; project files are read from here.
        remote: Address of the remote ``origin``.
    """

    root: Path | None
    name: str
    trusted: bool
    checkout: Path | None = None
    remote: str | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective configuration.

    Attributes:
        settings: All values; `settings.bank.id` is what was declared, `bank.id` what it means.
        origins: Setting -> where its value came from, for every setting.
        warnings: What the user should correct, one sentence each.
        bank: The bank of this session, and why.
        paths: Where our files are.
        project: The project, and whether it may configure us.
        off: Why memory is switched off; None when it is not.
        files: The configuration files that were read.
        host: The agent program; None on the command line.
    """

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]
    bank: BankChoice
    paths: Paths
    project: Project
    off: str | None = None
    files: tuple[Path, ...] = ()
    host: str | None = None


def load(
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    host: str | None = None,
    agent: str | None = None,
    trusted: bool | None = None,
    host_options: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    profiles: Mapping[str, Mapping[str, Any]] | None = None,
    sections: Mapping[str, type[BaseModel]] | None = None,
    claim: bool | None = None,
) -> Loaded:
    """Read every layer; never raises for what a user may have done wrong.

    Args:
        cwd: Where the session started.
        env: The environment; the process's own when None.
        host: The agent program; None reads every host's files, as the command line does.
        agent: The agent whose block counts.
        trusted: The host's word about the project; None asks the user's (`hindsight-mem trust`).
        host_options: Options given by the host.
        overrides: Values of a command's own options.
        profiles: Further profiles, of plugins.
        sections: Plugin -> model of its section; None leaves the sections unread.
        claim: Write down that the project owns its automatic bank name. None for: when a bank
            is declared, and on the command line (no host), whose commands need no declaration.
    """
    env = os.environ if env is None else env
    claim = True if claim is None and host is None else claim
    paths, place = Paths.from_env(env), locate(cwd, env)
    found = Reading(env, host)
    found.user(paths)
    may_act = found.project(place, paths, trusted=trusted)
    found.host_options(host_options)
    top = strongest(env, overrides)
    merged = _merge(found, top, agent=agent, profiles={**PROFILES, **(profiles or {})})
    given = Choosing(merged, place, Claims(paths.projects), env, host, agent, found.server, claim)
    tables = agent_tables([*found.layers, *top])
    bank = _chosen(given, tables)
    settings = _settings(merged, bank, tables, plugin_sections(merged, sections))
    return Loaded(
        settings=settings,
        origins=_origins(merged, bank),
        warnings=tuple(dict.fromkeys([*found.warnings, *merged.warnings])),
        bank=bank,
        paths=paths,
        project=Project(place.root, place.name, may_act, place.checkout, place.remote),
        off=_off(merged),
        files=tuple(found.files),
        host=host,
    )


def _merge(
    found: Reading,
    top: Sequence[Layer],
    *,
    agent: str | None,
    profiles: Mapping[str, Mapping[str, Any]],
) -> Merger:
    blocks = dict(agent_layers([*found.layers, *top]))
    own = blocks.pop(agent, ()) if agent is not None else ()
    layers = [*found.layers, *own, *top]
    merged = Merger()
    # Who has another plugin's file too has said nothing.
    usual = None if found.server else found.profile
    merged.apply(_profile(layers, profiles, usual=usual))
    for layer in layers:
        merged.apply(layer)
    # Other agents' blocks are only checked, so that a mistake in them is seen here too.
    for one in (layer for block in blocks.values() for layer in block):
        aside = Merger()
        aside.apply(one)
        merged.warnings += aside.warnings
    return merged


def _profile(
    layers: Sequence[Layer], profiles: Mapping[str, Mapping[str, Any]], *, usual: str | None
) -> Layer:
    """The values of the profile that the strongest layer names."""
    named = [
        (item, item.origin or layer.origin)
        for layer in layers
        for item in layer.items
        if item.path == "profile" and isinstance(item.value, str)
    ]
    problems = []
    for item, origin in reversed(named):
        name = str(item.value)
        if name in profiles:
            return translate(profiles[name], kind="profile", origin=f"profile {name}", old=())
        near = schema.nearest(name, tuple(profiles))
        hint = f"; did you mean {near}?" if near else ""
        problems.append(f"{origin}: unknown profile {name}{hint} (known: {', '.join(profiles)})")
    name = usual or str(schema.default("profile"))
    values = {**profiles[name], "profile": name} if usual else profiles[name]
    layer = translate(values, kind="profile", origin=f"profile {name}", old=())
    return replace(layer, problems=(*layer.problems, *problems))


def _chosen(given: Choosing, agents: Mapping[str, object]) -> BankChoice:
    bank = choose(given)
    if given.host is None:
        return bank  # the command line is no agent
    why = not_opted_in(given.agent, agents, mode=given.merged.get("agent_mode"))
    return replace(bank, declared=False, reason=why) if why else bank


def _settings(
    merged: Merger,
    bank: BankChoice,
    agents: Mapping[str, Mapping[str, Any]],
    plugins: Mapping[str, BaseModel],
) -> Settings:
    # Every value was checked by itself; building them again would only cost time.
    parts: dict[str, dict[str, Any]] = {name: {} for name in schema.sections()}
    values: dict[str, Any] = {"agents": agents, "prompts": dict(merged.prompts)}
    for path, value in merged.values.items():
        section, _, key = path.rpartition(".")
        (parts[section] if section else values)[key] = value
    parts["bank"]["id"] = bank.declared_as
    parts["plugins"]["sections"] = plugins
    for name, model in schema.sections().items():
        inner = parts[name]
        values[name] = model.model_construct(**inner) if inner else schema.default_section(name)
    return Settings.model_construct(**values)


def _origins(merged: Merger, bank: BankChoice) -> Mapping[str, str]:
    found = dict.fromkeys(schema.known_keys(), "default") | merged.origins
    found["bank.id"] = bank.origin
    return MappingProxyType(found)


def _off(merged: Merger) -> str | None:
    if merged.get("enabled"):
        return None
    return f"memory is switched off by {merged.origins.get('enabled', 'default')}"
