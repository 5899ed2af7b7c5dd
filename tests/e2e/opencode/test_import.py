"""Sessions that the real opencode kept, imported: twice is once."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.timeout(240)
GATEWAY = "The API gateway listens on port 8443 behind nginx."


def imported(opencode):
    return json.loads(opencode.mem("import", "sessions", "opencode", "--json"))


def test_kept_sessions_are_imported_once(opencode):
    opencode.run(f"Remember that {GATEWAY}")
    [row] = imported(opencode)["sessions"]
    assert row["cwd"] == str(opencode.project)
    assert len(row["facts"]) == 1
    [row] = imported(opencode)["sessions"]
    assert (row["outcome"], row["new"]) == ("known", 0)


@pytest.mark.spec("br/BR-05")
def test_a_session_that_ran_with_memory_is_known(opencode):
    opencode.install()
    opencode.run(f"Remember that {GATEWAY}")
    opencode.mem("queue", "flush")
    [row] = imported(opencode)["sessions"]
    assert row["new"] == 0
