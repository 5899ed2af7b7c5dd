"""Which bank a past session goes to: the one it would have today, by the folder it recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.config.banks import AUTO
from hindsight_core.config.slugs import digest, remote_name

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.plugins import Hooks
    from hindsight_core.transcript.past import PastSession

NO_FOLDER = "the session records no folder, and none is guessed"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the sessions of one host, folder and agent go.

    Attributes:
        bank: The bank; None when they go nowhere.
        reason: Why nowhere.
        loaded: The configuration of that folder.
        hooks: The plugins of that configuration.
    """

    bank: str | None
    reason: str | None = None
    loaded: Loaded | None = None
    hooks: Hooks | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """What of a session goes to one place; a session has several where its agents have banks.

    Attributes:
        session: The session.
        place: Where it goes.
        agents: Whose talk it is; None for all of it.
    """

    session: PastSession
    place: Place
    agents: frozenset[str] | None = None


class Filing:
    """Finds the places, each once.

    Args:
        env: The environment.
        claim: Write down which project owns an automatic bank name (not for a dry run).
        bank: A bank that was named for everything.
    """

    def __init__(self, env: Mapping[str, str], *, claim: bool, bank: str | None = None) -> None:
        self._env = env
        self._claim = claim
        self._overrides = {"bank": {"id": bank}} if bank else None
        self._named = bank is not None
        self._owners: dict[str, str] = {}
        self._places: dict[tuple[str, str | None, str | None], Place] = {}

    def parts(self, session: PastSession) -> list[Part]:
        """The session's parts: one, unless its agents have different banks."""
        if len(session.agents) < 2:
            agent = next(iter(session.agents), None)
            return [Part(session, self._place(session, agent))]
        banks: dict[str | None, tuple[Place, set[str]]] = {}
        for agent in session.agents:
            place = self._place(session, agent)
            banks.setdefault(place.bank, (place, set()))[1].add(agent)
        if len(banks) == 1:
            [(place, _)] = banks.values()
            return [Part(session, place)]
        return [Part(session, place, frozenset(agents)) for place, agents in banks.values()]

    def folder(
        self,
        cwd: str | None,
        *,
        host: str,
        agent: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Place:
        """Where what belongs to a folder goes.

        Args:
            cwd: The folder; None when it is not known.
            host: The agent program.
            agent: The agent.
            options: The host's options.
        """
        key = (host, cwd, agent)
        if key not in self._places:
            self._places[key] = (
                Place(None, NO_FOLDER)
                if cwd is None
                else self._found(Path(cwd), host=host, agent=agent, options=options or None)
            )
        return self._places[key]

    def _place(self, session: PastSession, agent: str | None) -> Place:
        return self.folder(session.cwd, host=session.host, agent=agent, options=session.options)

    def _found(
        self,
        cwd: Path,
        *,
        host: str,
        agent: str | None,
        options: Mapping[str, Any] | None,
    ) -> Place:
        from hindsight_core.configure import configure

        loaded, hooks = configure(
            cwd=cwd,
            env=self._env,
            host=host,
            agent=agent,
            host_options=options,
            overrides=self._overrides,
            claim=self._claim,
        )
        reason = self._refusal(loaded)
        bank = None if reason is not None else self._name(loaded)
        return Place(bank, reason, loaded, hooks)

    def _name(self, loaded: Loaded) -> str | None:
        """The bank; where nothing is written down, a second project of a name is told apart."""
        bank, project = loaded.bank, loaded.project
        automatic = bank.declared_as in (None, AUTO) and not self._named
        if self._claim or not automatic or bank.id is None:
            return bank.id
        owner = remote_name(project.remote) if project.remote else str(project.root)
        first = self._owners.setdefault(bank.id, owner)
        return bank.id if first == owner else f"{bank.id}-{digest(owner)}"

    def _refusal(self, loaded: Loaded) -> str | None:
        """Why nothing of a folder is imported: what is off there is off for an import, too."""
        bank = loaded.bank
        if loaded.off:
            return loaded.off
        if loaded.settings.bank.read_only:
            return "bank.read_only is set"
        settings = loaded.settings
        switched_off = (
            bank.declared_as is not None
            or settings.bank.opt_in_only
            or settings.agent_mode == "opt-in"
        )
        if bank.id is None or (not bank.declared and switched_off and not self._named):
            return bank.reason
        return None
