"""Two sessions of the real omp: the second knows what the first learned."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."
BLOCK = "<hindsight-memory"


@pytest.mark.spec("br/BR-50", "br/BR-19")
def test_a_fact_is_in_the_request_once_and_never_in_the_session_file(omp: Any) -> None:
    omp.mem("install", "omp")
    omp.learn(GATEWAY, COFFEE)
    rpc = omp.rpc()
    rpc.prompt("Which port does the API gateway listen on?")
    rpc.prompt("Thanks. And the port of the API gateway behind nginx, again?")
    assert rpc.close() == 0

    for request in omp.server.conversation()[-2:]:
        whole = "\n".join(texts(request))
        assert whole.count(GATEWAY) == 1
        assert whole.count(BLOCK) == 1
        assert COFFEE not in whole
    session = "".join(file.read_text() for file in omp.session_files())
    assert "API gateway" in session
    assert BLOCK not in session
    assert GATEWAY not in session
