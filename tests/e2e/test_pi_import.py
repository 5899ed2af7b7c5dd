"""Sessions that the real pi kept, imported: twice is once, and what ran with memory is known."""

from __future__ import annotations

import json
import shutil
import subprocess

GATEWAY = "The API gateway listens on port 8443 behind nginx."


def imported(pi, *options: str):
    return json.loads(pi.mem("import", "sessions", "pi", "--json", *options))


def test_kept_sessions_are_imported_once(pi):
    pi.say("-p", f"Remember that {GATEWAY}")
    first = imported(pi)
    assert [row["cwd"] for row in first["sessions"]] == [str(pi.project)]
    assert sum("8443" in fact for fact in pi.facts()) == 1
    assert imported(pi)["sessions"][0]["outcome"] == "known"
    assert sum("8443" in fact for fact in pi.facts()) == 1


def test_a_session_that_ran_with_memory_is_known(pi):
    pi.mem("install", "pi")
    pi.say("-p", f"Remember that {GATEWAY}")
    before = pi.facts()
    [row] = imported(pi)["sessions"]
    assert (row["outcome"], row["new"]) == ("known", 0)
    assert pi.facts() == before


def test_a_session_that_another_plugin_memorized_goes_on_behind_it(pi):
    pi.say("-p", f"Remember that {GATEWAY}")
    [path] = pi.session_files()
    lines = path.read_text().splitlines()
    last = json.loads(lines[-1])
    state = {"watermark": last["id"], "savedRanges": []}
    record = {
        "type": "custom", "customType": "hindsight-state", "data": state,
        "id": "0a1b2c3d", "parentId": last["id"], "timestamp": last["timestamp"],
    }  # fmt: skip
    path.write_text("\n".join([*lines, json.dumps(record)]) + "\n")
    pi.mem("install", "pi")
    pi.mem("import", "state")

    pi.say("-p", "--continue", "Remember that deployments run on Tuesday.")

    assert [path] == pi.session_files()
    assert not any("8443" in fact for fact in pi.facts())
    assert sum("Tuesday" in fact for fact in pi.facts()) == 1
    extracted = [r for r in pi.server.requests if r.stage == "memorize/extract"]
    assert extracted
    assert not any("8443" in json.dumps(r.body) for r in extracted)


def test_a_fork_is_not_read_from_its_beginning_again(pi):
    rpc = pi.rpc()
    rpc.prompt(f"Remember that {GATEWAY}")
    rpc.prompt("Which port?")
    entry = rpc.command(type="get_fork_messages")["data"]["messages"][-1]["entryId"]
    rpc.command(type="fork", entryId=entry)
    rpc.prompt("Remember that deployments run on Tuesday.")
    assert rpc.close() == 0
    first, fork = sorted(imported(pi, "--dry-run")["sessions"], key=lambda row: row["updated"])

    done = {row["session"]: row for row in imported(pi)["sessions"]}

    assert first["new"] == fork["new"] == 5
    assert done[first["session"]]["new"] == 5
    assert done[fork["session"]]["new"] == 2
    assert sum("8443" in fact for fact in pi.facts()) == 1
    assert sum("Tuesday" in fact for fact in pi.facts()) == 1


def test_an_imported_session_goes_on_where_the_import_ended(pi):
    pi.say("-p", f"Remember that {GATEWAY}")
    imported(pi)
    pi.mem("install", "pi")
    pi.say("-p", "--continue", "Remember that deployments run on Tuesday.")

    assert len(pi.session_files()) == 1
    assert sum("8443" in fact for fact in pi.facts()) == 1
    assert sum("Tuesday" in fact for fact in pi.facts()) == 1
    extracted = [r for r in pi.server.requests if r.stage == "memorize/extract"]
    assert extracted
    assert not any("8443" in json.dumps(r.body) for r in extracted)


def test_a_cold_repository_is_offered_once_and_read_on_request(pi):
    shutil.rmtree(pi.project / ".git")
    person = {f"GIT_{who}_{what}": "ann@example.org" for who in ("AUTHOR", "COMMITTER")
              for what in ("NAME", "EMAIL")}  # fmt: skip
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", f"Decide: {GATEWAY}"]):
        subprocess.run(["git", *command], cwd=pi.project, env={**pi.env, **person}, check=True)
    pi.mem("install", "pi")

    def told() -> list[str]:
        rpc = pi.rpc()
        rpc.prompt("Hello.")
        assert rpc.close() == 0
        return [text for text in rpc.notices() if "import git" in text]

    assert len(told()) == 1
    assert told() == []
    assert pi.facts() == []
    pi.mem("import", "git", "--dry-run")
    assert pi.facts() == []
