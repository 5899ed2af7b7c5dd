"""Sessions that the real omp kept, imported: twice is once, and what ran with memory is known."""

from __future__ import annotations

import json

GATEWAY = "The API gateway listens on port 8443 behind nginx."


def imported(omp):
    return json.loads(omp.mem("import", "sessions", "omp", "--json"))


def test_kept_sessions_are_imported_once(omp):
    omp.say("-p", f"Remember that {GATEWAY}")
    [row] = imported(omp)["sessions"]
    assert row["cwd"] == str(omp.project)
    assert sum("8443" in fact for fact in omp.facts()) == 1
    [row] = imported(omp)["sessions"]
    assert (row["outcome"], row["new"]) == ("known", 0)


def test_a_session_that_ran_with_memory_is_stored_once(omp):
    omp.mem("install", "omp")
    rpc = omp.rpc()
    rpc.prompt(f"Remember that {GATEWAY}")
    assert rpc.close() == 0
    # omp grants the end of a session little time: what it did not allow is in the journal.
    imported(omp)
    assert sum("8443" in fact for fact in omp.facts()) == 1
    [row] = imported(omp)["sessions"]
    assert (row["outcome"], row["new"]) == ("known", 0)

    again = omp.rpc()
    again.prompt("Hello.")
    assert again.close() == 0
    imported(omp)
    assert sum("8443" in fact for fact in omp.facts()) == 1
