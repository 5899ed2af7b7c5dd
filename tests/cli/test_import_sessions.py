"""``import sessions``: what agents have kept, each session once and in its own project's bank."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindsight_core.testing.model_server import ModelServer
from hindsight_core.testing.transcripts import TranscriptBuilder

GATEWAY = "Remember that the API gateway listens on port 8443 behind nginx."
SCRIPT = {
    "memorize/extract": {"facts": [{"text": "The gateway uses port 8443.", "category": "facts"}]},
    "memorize/verify": {"keep": [1]},
    "memorize/topics": {"queries": ["gateway"]},
    "memorize/dedup": {"known": [], "updates": []},
    "memorize/summary": "- The gateway uses port 8443.",
}


@pytest.fixture
def kept(tmp_path: Path):
    """pi keeps a session: its words, the folder it ran in, when it was used last."""
    folder = Path(os.environ["HOME"]) / ".pi/agent/sessions"

    def keep(session_id: str, *said: str, cwd: Path | str | None, days_ago: int = 0) -> Path:
        talk = TranscriptBuilder(session_id, host="pi", cwd=str(cwd) if cwd else None)
        for text in said:
            talk.user(text)
            talk.assistant("Understood.")
        # The folder's name says nothing: a session is filed by what it recorded.
        place = folder / "--somewhere-else--"
        place.mkdir(parents=True, exist_ok=True)
        path = talk.write_pi(place / f"{session_id}.jsonl")
        then = (datetime.now(UTC) - timedelta(days=days_ago)).timestamp()
        os.utime(path, (then, then))
        return path

    return keep


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A second project."""
    (tmp_path / "billing/.git").mkdir(parents=True)
    (tmp_path / "billing/.git/HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path / "billing"


def facts(mem, bank: str) -> list[str]:
    listed = mem("facts", "list", "--json", "--bank", bank).data["facts"]
    return sorted(fact["text"] for fact in listed)


def test_each_session_goes_to_the_project_that_it_recorded(mem, kept, other):
    kept("a", GATEWAY, cwd=Path.cwd())
    kept("b", "Remember that invoices are numbered by year.", cwd=other / "src")
    (other / "src").mkdir()

    done = mem("import", "sessions", "--json")

    assert done.code == 0
    assert {name: sums["facts"] for name, sums in done.data["banks"].items()} == {
        "shop": 1,
        "billing": 1,
    }
    assert "8443" in facts(mem, "shop")[0]
    assert "nvoices" in facts(mem, "billing")[0]


def test_a_second_run_adds_nothing_and_a_session_that_went_on_only_what_is_new(mem, kept):
    kept("a", GATEWAY, cwd=Path.cwd())
    mem("import", "sessions", "pi")
    before = facts(mem, "shop")

    again = mem("import", "sessions", "pi", "--json").data
    assert again["sessions"][0]["outcome"] == "known"
    assert facts(mem, "shop") == before

    kept("a", GATEWAY, "Remember that deployments run on Tuesday.", cwd=Path.cwd())
    more = mem("import", "sessions", "pi", "--json").data
    assert more["sessions"][0]["new"] == 2
    assert len(facts(mem, "shop")) == len(before) + 1


def test_facts_are_dated_by_the_session(mem, kept):
    kept("a", GATEWAY, cwd=Path.cwd())
    mem("import", "sessions", "pi")
    [fact] = mem("facts", "list", "--json").data["facts"]
    said = TranscriptBuilder().user("x").timestamp
    assert datetime.fromisoformat(fact["timestamp"]) == said


def test_a_session_without_a_folder_is_left_out_with_the_reason(mem, kept):
    kept("a", GATEWAY, cwd=None)
    done = mem("import", "sessions", "pi", "--json").data
    assert done["banks"] == {}
    assert "records no folder" in done["sessions"][0]["reason"]
    assert "records no folder" in mem("import", "sessions", "pi").out


def test_a_folder_that_is_gone_names_no_new_bank(mem, kept, tmp_path):
    kept("a", GATEWAY, cwd=tmp_path / "gone")
    done = mem("import", "sessions", "pi", "--json").data
    assert done["sessions"][0]["bank"] is None
    assert "does not exist" in done["sessions"][0]["reason"]


def test_where_memory_is_switched_off_nothing_is_imported(mem, kept, other):
    (other / ".hindsight").mkdir()
    (other / ".hindsight/config.toml").write_text('[bank]\nid = ""\n')
    mem("trust", other)
    kept("a", GATEWAY, cwd=other)
    done = mem("import", "sessions", "pi", "--json").data
    assert done["sessions"][0]["bank"] is None
    assert "switched off" in done["sessions"][0]["reason"]


def test_a_dry_run_counts_and_memorizes_nothing(mem, kept):
    kept("a", GATEWAY, cwd=Path.cwd())
    looked = mem("import", "sessions", "--dry-run", "--json")
    assert looked.code == 0
    [row] = looked.data["sessions"]
    assert (row["outcome"], row["new"], row["bank"]) == ("new", 2, "shop")
    assert 10 < row["tokens"] < 60
    assert facts(mem, "shop") == []
    assert not (Path(os.environ["HINDSIGHT_MEM_HOME"]) / "projects").exists()
    assert "nothing was memorized" in mem("import", "sessions", "--dry-run").out


def test_only_the_sessions_that_are_wanted(mem, kept, other):
    kept("old", GATEWAY, cwd=Path.cwd(), days_ago=90)
    kept("new", "Remember that invoices are numbered by year.", cwd=other)
    since = (datetime.now(UTC) - timedelta(days=7)).strftime("%Y-%m-%d")

    recent = mem("import", "sessions", "--dry-run", "--since", since, "--json").data
    here = mem("import", "sessions", "--dry-run", "--project", ".", "--json").data

    assert [row["session"] for row in recent["sessions"]] == ["new"]
    assert [row["session"] for row in here["sessions"]] == ["old"]


def test_an_older_session_does_not_undo_what_was_said_since(mem, kept):
    kept("new", "Remember that the API gateway listens on port 9443.", cwd=Path.cwd())
    path = kept("old", "Remember that the API gateway listens on port 8443.", cwd=Path.cwd())
    path.write_text(re.sub(r"\b20\d\d-", "2019-", path.read_text()))
    os.utime(path, (1, 1))
    # Imported the wrong way round: the newer one first.
    path.rename(path.with_suffix(".aside"))
    mem("import", "sessions", "pi")
    path.with_suffix(".aside").rename(path)
    mem("import", "sessions", "pi")
    assert [text for text in facts(mem, "shop") if "gateway" in text] == [
        text for text in facts(mem, "shop") if "9443" in text
    ]


def test_a_file_that_cannot_be_read_is_told_and_stops_nothing(mem, kept):
    path = kept("bad", GATEWAY, cwd=Path.cwd())
    path.write_text(path.read_text().splitlines()[0] + "\n" + '{"type": "new-form"}\n' * 9)
    kept("good", GATEWAY, cwd=Path.cwd())
    done = mem("import", "sessions", "pi", "--json")
    assert done.code == 1
    assert "9 of 9 records are not known" in done.err
    assert len(facts(mem, "shop")) == 1


def test_a_host_that_is_not_installed_or_keeps_nothing_is_named(mem):
    missing = mem("import", "sessions", "no-such-host")
    assert missing.code == 2
    assert "no-such-host" in missing.err
    nothing = mem("import", "sessions", "generic")
    assert nothing.code == 2
    assert "keeps no sessions" in nothing.err
    assert mem("import", "sessions", "all").out.strip() == "no sessions were found"


@pytest.fixture
def model(loopback, monkeypatch):
    with ModelServer(dict(SCRIPT)) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        yield server


def test_a_budget_holds_and_the_next_run_goes_on(mem, kept, model):
    for number in range(4):
        kept(f"s{number}", f"{GATEWAY} Take {number}.", cwd=Path.cwd(), days_ago=9 - number)
    whole = mem("import", "sessions", "--dry-run", "--json").data["banks"]["shop"]
    assert whole["new"] == 4

    first = mem("import", "sessions", "pi", "--json", "--budget", "5000")
    assert first.code == 0
    assert 0 < first.data["used"] <= 5000
    assert first.data["left"] > 0

    rest = mem("import", "sessions", "pi", "--json").data
    assert any(row["new"] for row in rest["sessions"])
    assert rest["left"] == 0
    assert mem("import", "sessions", "pi", "--dry-run", "--json").data["banks"]["shop"]["new"] == 0

    told = mem("import", "sessions", "pi", "--budget", "1")
    assert "stopped" not in told.out  # nothing was left to do


def test_a_budget_that_is_too_small_for_anything_says_so(mem, kept, model):
    kept("a", GATEWAY, cwd=Path.cwd())
    done = mem("import", "sessions", "pi", "--budget", "1")
    assert done.code == 0
    assert "stopped at the budget" in done.out
    assert model.requests == []
    assert facts(mem, "shop") == []


def test_one_import_at_a_time(mem, kept):
    kept("a", GATEWAY, cwd=Path.cwd())
    home = Path(os.environ["HINDSIGHT_MEM_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    with (home / "import.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write("4711")
        held.flush()
        refused = mem("import", "sessions")
        assert refused.code == 2
        assert "4711" in refused.err
        assert mem("import", "sessions", "--background").code == 2
    assert mem("import", "sessions").code == 0


def process(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "hindsight_core", *arguments],
        env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_in_the_background(mem, kept):
    kept("a", GATEWAY, cwd=Path.cwd())
    kept("old", "Remember that invoices are numbered by year.", cwd=Path.cwd(), days_ago=90)
    since = (datetime.now(UTC) - timedelta(days=7)).strftime("%Y-%m-%d")
    started = process("import", "sessions", "pi", "--background", "--json", "--since", since)
    out, _ = started.communicate(timeout=50)
    log = Path(json.loads(out)["log"])
    end = time.monotonic() + 40
    while not log.read_text().endswith("}\n") and time.monotonic() < end:
        time.sleep(0.1)
    assert json.loads(log.read_text())["banks"]["shop"]["facts"] == 1
    assert len(facts(mem, "shop")) == 1


@pytest.mark.spec("br/BR-05")
@pytest.mark.parametrize("after", [1, 4, 7])
def test_killed_in_the_middle_and_begun_again_each_is_there_once(mem, kept, model, after):
    said = [f"The {name} service listens on port {5000 + number}." for number, name in
            enumerate(("gateway", "billing", "search", "mail"))]  # fmt: skip
    for number, text in enumerate(said):
        kept(f"s{number}", f"Remember that {text}", cwd=Path.cwd(), days_ago=9 - number)
    answers = [[text, {"facts": [{"text": text, "category": "facts"}]}] for text in said]
    model.replies.set("memorize/extract", {"match": answers})
    running = process("import", "sessions", "pi")
    end = time.monotonic() + 40
    while len(model.requests) < after and time.monotonic() < end:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    running.communicate()

    assert mem("import", "sessions", "pi").code == 0
    assert facts(mem, "shop") == sorted(said)
    again = mem("import", "sessions", "pi", "--json").data
    assert {row["outcome"] for row in again["sessions"]} == {"known"}
    documents = mem("documents", "list", "--json").data["documents"]
    assert len(documents) == len({d["id"] for d in documents}) == 4


def test_a_fork_brings_only_what_it_has_of_its_own(mem, kept, model):
    origin = kept("origin", GATEWAY, "Remember that deployments run on Tuesday.", cwd=Path.cwd())
    header, *records = [json.loads(line) for line in origin.read_text().splitlines()]
    own = {"role": "user", "content": [{"type": "text", "text": "The mail service is slow."}]}
    forked = [
        {**header, "id": "fork", "parentSession": str(origin)},
        *records[:2],
        {**records[2], "id": "f1", "message": own},
    ]
    # Though it was used last, what it repeats is its origin's.
    path = origin.with_name("fork.jsonl")
    path.write_text("".join(json.dumps(record) + "\n" for record in forked))
    os.utime(path, (1, 1))

    looked = mem("import", "sessions", "pi", "--dry-run", "--json").data["sessions"]
    assert [row["session"] for row in looked] == ["origin", "fork"]
    mem("import", "sessions", "pi")

    asked = [r.prompt for r in model.requests if r.stage == "memorize/extract"]
    assert len(asked) == 2
    assert sum("8443" in prompt for prompt in asked) == 1
    assert "The mail service is slow" in asked[1]
    assert {r["outcome"] for r in mem("import", "sessions", "pi", "--json").data["sessions"]} == {
        "known"
    }
