"""What a person deletes is gone from every file, and does not come back by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

HERON = "The staging cluster is called heron."
OSPREY = "The demo room is called osprey."


def entries(*texts: str) -> list[dict[str, Any]]:
    return [
        {"id": f"e{n}", "role": "user", "parts": [{"type": "text", "text": f"Remember: {text}"}]}
        for n, text in enumerate(texts)
    ]


def session(place: Any, name: str, *texts: str, reason: str = "quit") -> None:
    bridge = place.bridge(name)
    bridge.call("turn/end", {"turnId": "t1", "entries": entries(*texts)})
    bridge.call("session/end", {"reason": reason})
    assert bridge.close() == 0


def texts(place: Any) -> list[str]:
    return [fact["text"] for fact in place.data("facts", "list", "--limit", "500")["facts"]]


def find(place: Any, word: str) -> str:
    (fact,) = [f for f in place.data("facts", "list")["facts"] if word in f["text"]]
    found: str = fact["id"]
    return found


@pytest.mark.spec("br/BR-41")
def test_one_wrong_fact_is_found_corrected_retired_and_deleted_each_by_one_command(
    place: Any,
) -> None:
    session(place, "s1", HERON, OSPREY)

    (hit, *_) = place.data("recall", "staging cluster")["hits"]
    assert "heron" in hit["text"]
    place.mem("facts", "edit", hit["id"], "--text", "The staging cluster is called kestrel.")
    assert "kestrel" in place.data("recall", "staging cluster")["hits"][0]["text"]
    assert place.found("heron") == {}, "what was corrected is nowhere any more"

    place.mem("facts", "invalidate", hit["id"], "--reason", "never true")
    assert not any("kestrel" in h["text"] for h in place.data("recall", "staging cluster")["hits"])
    session(place, "s2", "The staging cluster is called kestrel.")  # said again by nobody new
    place.mem("facts", "delete", hit["id"], "--hard", "--yes")

    assert place.found("kestrel", "heron") == {}
    assert [text for text in texts(place) if "osprey" in text]


@pytest.mark.spec("br/BR-41", "br/BR-07")
def test_a_hard_deletion_also_empties_our_own_files(place: Any) -> None:
    env = {"HINDSIGHT_MEM_REVIEW__MODE": "after"}
    bridge = place.bridge("s1", **env)
    bridge.call("turn/end", {"turnId": "t1", "entries": entries(HERON)})
    bridge.call("compact/before", {"entries": entries(HERON), "reason": "manual"})
    bridge.call("session/end", {"reason": "quit"})
    assert bridge.close() == 0
    shown = place.bridge("s2", **env)
    asked = {"turnId": "t", "prompt": "What is the staging cluster called?", "entries": []}
    assert "heron" in json.dumps(shown.call("turn/start", asked))
    assert shown.close() == 0
    fact = find(place, "heron")
    assert place.found("heron")

    done = place.mem("facts", "delete", fact, "--hard", "--yes")

    assert done.returncode == 0
    assert place.found("heron") == {}
    session(place, "s1", HERON, "The port is 8443.")
    assert not any("heron" in text for text in texts(place)), "an old window does not revive it"


@pytest.mark.spec("br/BR-41")
def test_a_session_is_forgotten_and_stays_so(place: Any) -> None:
    session(place, "secretive", HERON)
    session(place, "other", OSPREY)
    waiting = place.bridge("secretive")
    path = entries(HERON, "The door code is in drawer nine.")
    waiting.call("turn/end", {"turnId": "t2", "entries": path})
    waiting.process.kill()
    waiting.gone()

    done = place.data("sessions", "forget", "secretive", "--yes")

    assert (done["session"], done["facts"]) == ("secretive", 1)
    assert place.found("heron", "drawer nine") == {}
    assert [text for text in texts(place) if "osprey" in text]
    # The agent's own transcript still has it: a resumed session is not memorized again.
    session(place, "secretive", HERON, "The door code is in drawer nine.")
    assert place.found("heron", "drawer nine") == {}
    assert place.mem("sessions", "forget", "nobody", "--yes").returncode == 2


def test_space_comes_back(place: Any) -> None:
    facts = [{"text": f"The setting number {n} of the importer is {n * 7}."} for n in range(1000)]
    place.mem("bank", "import", place.file("facts.jsonl", *facts))
    ids = [f["id"] for f in place.data("facts", "list", "--limit", "1000")["facts"]]
    place.mem("facts", "delete", *ids[:900], "--yes")

    done = place.data("bank", "vacuum")

    assert done["after_bytes"] < 0.6 * done["before_bytes"]
    assert len(texts(place)) == 100
    assert place.data("recall", "importer setting")["hits"]
