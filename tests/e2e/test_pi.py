"""Two sessions of the real pi: the second knows what the first learned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
BLOCK = "<hindsight-memory"


@pytest.mark.spec("br/BR-47")
def test_install_twice_changes_nothing_and_uninstall_leaves_the_rest(pi: Any) -> None:
    before = json.loads(pi.settings.read_text())

    pi.mem("install", "pi")
    once = pi.settings.read_text()
    again = json.loads(pi.mem("install", "pi", "--json"))

    assert again["changes"] == []
    assert pi.settings.read_text() == once
    assert len(json.loads(once)["extensions"]) == 1
    pi.mem("uninstall", "pi")
    assert json.loads(pi.settings.read_text()) == before
    assert not (pi.memory / "shims" / "pi").exists()


@pytest.mark.spec("br/BR-50", "br/BR-19")
def test_a_fact_is_in_the_request_once_and_never_in_the_session_file(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY, COFFEE)
    rpc = pi.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("Thanks. And the port of the API gateway behind nginx, again?")
    assert rpc.close() == 0

    first, second = pi.server.conversation()[-2:]
    for request in (first, second):
        whole = "\n".join(texts(request))
        assert whole.count(GATEWAY) == 1
        assert whole.count(BLOCK) == 1
        assert COFFEE not in whole
        block = next(text for text in texts(request) if BLOCK in text)
        assert block.startswith('<hindsight-memory kind="recall">')
        assert block.rstrip().endswith("</hindsight-memory>")
    session = "".join(file.read_text() for file in pi.session_files())
    assert "API gateway" in session
    assert BLOCK not in session
    assert GATEWAY not in session
