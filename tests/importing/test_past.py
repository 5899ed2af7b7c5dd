"""Which sessions the hosts on a machine have kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hindsight_core.errors import ConfigError, PluginError
from hindsight_core.importing.past import Wanted, find
from hindsight_core.transcript.past import PastSession


def session(own: str, *, day: int = 1, **more: Any) -> PastSession:
    def read(agents: object) -> Any:
        raise AssertionError("finding reads nothing")

    when = datetime(2026, 1, day, tzinfo=UTC)
    return PastSession("toy", own, f"{own}-{day}", when, read, **more)


class Host:
    """A host that has kept some sessions, or fails."""

    name = "toy"

    def __init__(self, *sessions: PastSession, fails: bool = False) -> None:
        self._sessions, self._fails = sessions, fails

    def past_sessions(self, env):
        yield from self._sessions
        if self._fails:
            raise RuntimeError("broken")


def found(hosts: dict[str, object], *names: str, **wanted: Any):
    def load(name: str) -> object:
        host = hosts[name]
        if isinstance(host, Exception):
            raise host
        return host

    return find(Wanted(names, **wanted), env={}, load=load, installed=list(hosts))


def ids(result) -> list[str]:
    return [s.source for s in result.sessions]


def test_oldest_first_each_once_without_children():
    host = Host(
        session("b", day=3), session("a", day=1), session("a", day=2), session("c", child=True)
    )
    result = found({"toy": host})
    assert ids(result) == ["a-2", "b-3"]
    assert result.children == 1


def test_only_what_was_used_since():
    host = Host(session("a", day=1), session("b", day=3))
    assert ids(found({"toy": host}, since=datetime(2026, 1, 2, tzinfo=UTC))) == ["b-3"]


def test_a_host_that_fails_hides_no_other():
    hosts = {
        "broken": PluginError("cannot be imported", distribution="x"),
        "half": Host(session("a"), fails=True),
        "none": object(),
        "toy": Host(session("b")),
    }
    result = found(hosts, "all")
    assert ids(result) == ["a-1", "b-1"]
    assert result.problems[0].startswith("cannot be imported")
    assert "RuntimeError: broken" in result.problems[1]


def test_a_host_that_was_named_must_be_there():
    with pytest.raises(ConfigError, match="keeps no sessions"):
        found({"none": object()}, "none")
    with pytest.raises(PluginError):
        found({"broken": PluginError("no", distribution="x")}, "broken")
