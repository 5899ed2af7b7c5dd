"""Decides at ``initialize`` whether memory is active here, and says why not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.config.env import INSIDE
from hindsight_core.host import HostCapabilities

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.plugins import Hooks

TWICE = (
    "{other} is on, and two memories would store and recall everything twice. Turn that one off "
    "to use this one, or take this one out with `hindsight-mem uninstall {host}`."
)
State = Literal["active", "dormant", "tools-only", "off"]
DECLARE = (
    "No bank is declared for this project. Set bank.id (a name, or auto) in the panel "
    "(/mem, Settings), with `hindsight-mem config set bank.id auto`, or in the project's "
    ".hindsight/config.toml."
)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """``initialize.session``, read tolerantly."""

    id: str
    cwd: Path
    parent_id: str | None = None
    file: str | None = None
    agent: str | None = None
    ephemeral: bool = False
    trusted: bool | None = None
    other_memory: str | None = None

    @classmethod
    def from_wire(cls, params: Mapping[str, Any]) -> SessionInfo:
        """Read the session out of ``initialize``'s parameters."""
        raw = params.get("session")
        session: Mapping[str, Any] = raw if isinstance(raw, dict) else {}

        def text(name: str) -> str | None:
            value = session.get(name)
            return value if isinstance(value, str) and value else None

        cwd = params.get("cwd")
        trusted = session.get("trusted")
        return cls(
            id=text("id") or "default",
            cwd=Path(cwd) if isinstance(cwd, str) and cwd else Path.cwd(),
            parent_id=text("parentId"),
            file=text("file"),
            agent=text("agent"),
            ephemeral=session.get("ephemeral") is True,
            trusted=trusted if isinstance(trusted, bool) else None,
            other_memory=text("otherMemory"),
        )


@dataclass(frozen=True, slots=True)
class Opening:
    """What ``initialize`` found.

    Attributes:
        state: ``active``, ``dormant`` (no bank declared), ``tools-only`` or ``off``.
        reason: Why, for the user; also for ``active`` when the backend was chosen for them.
        loaded: The configuration; None when it could not be read at all.
        session: Who is speaking.
        capabilities: What the host can do.
        reload: Reads the configuration again, as it was read for this session.
    """

    state: State
    reason: str | None
    loaded: Loaded | None
    session: SessionInfo
    capabilities: HostCapabilities
    warnings: tuple[str, ...] = ()
    hooks: Hooks | None = None
    reload: Callable[[], Loaded] | None = None

    @property
    def bank_wire(self) -> dict[str, str] | None:
        """``initialize.bank``: the bank in use; None where none is."""
        if self.loaded is None or self.state in ("off", "dormant"):
            return None
        bank = self.loaded.bank
        return {"id": bank.id, "backend": bank.backend} if bank.id else None

    def named(self, name: Callable[[str], str]) -> Opening:
        """The same session under an id that may be written anywhere.

        Args:
            name: Gives it for the host's own id, such as `Sanitiser.entry_id`.
        """
        return replace(self, session=replace(self.session, id=name(self.session.id)))

    def off(self, reason: str) -> Opening:
        """The same session with memory off, because it could not be opened."""
        return replace(self, state="off", reason=reason)


def open_session(params: Mapping[str, Any], *, host: str, env: Mapping[str, str]) -> Opening:
    """Read configuration and decide; never raises for what a user may have done wrong."""
    from hindsight_core.configure import configure

    session = SessionInfo.from_wire(params)
    declared = params.get("capabilities")
    capabilities = HostCapabilities.from_wire(declared if isinstance(declared, dict) else {})

    if env.get(INSIDE):
        reason = "started by the memory itself"
        return Opening("off", reason, None, session, capabilities)
    options = params.get("config")
    read = partial(
        configure,
        cwd=session.cwd,
        env=env,
        host=host,
        agent=session.agent,
        trusted=session.trusted,
        host_options=options if isinstance(options, dict) else None,
    )
    try:
        loaded, hooks = read()
    except Exception as error:
        return Opening("off", f"configuration: {error}", None, session, capabilities)
    logging.getLogger("hindsight_core").setLevel(loaded.settings.log.level.upper())
    state, why = _decide(loaded, session, host=host)
    return Opening(
        state, why, loaded, session, capabilities, loaded.warnings, hooks, lambda: read()[0]
    )


def _decide(loaded: Loaded, session: SessionInfo, *, host: str) -> tuple[State, str | None]:
    if loaded.off:
        return "off", loaded.off
    if session.other_memory:
        return "off", TWICE.format(other=session.other_memory, host=host)
    if loaded.bank.id is None or not loaded.bank.declared:
        return "dormant", f"{loaded.bank.reason}. {DECLARE}" if loaded.bank.reason else DECLARE
    if session.ephemeral:
        return "tools-only", "an ephemeral session keeps nothing by itself"
    return "active", loaded.bank.reason
