"""Secrets of many kinds on every way into memory: none of them arrives anywhere."""

from __future__ import annotations

import json
import stat
import sys
from typing import Any

import pytest

from hindsight_core.testing.model_server import ModelServer


def make(*parts: str) -> str:
    """A fake secret, joined at run time so that no scanner takes the source for a leak."""
    return "".join(parts)


BODY = "Zk3Qm8RtVb7Nw2Xc5Lp9Hj4Fd6Gs1Yt"
# What it is -> a sentence with a place for it, and the secret.
CORPUS: dict[str, tuple[str, str]] = {
    "assignment": ("export PAYHUB_API_KEY={}", make("zz_", "live_", BODY[:20])),
    "connection": ("the db is postgres://app:{}@10.0.0.5/shop", make("hun", "ter", "2xyz")),
    "bearer": ("send Authorization: Bearer {}", ".".join(("eyJhbGciOi", "eyJzdWIiOi", BODY))),
    "pem": (
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
        make("MIIEvQIBADANBgkqhkiG", BODY),
    ),
    "aws": ("the account uses {} for backups", make("AK", "IA", "Q3EGRIZ7WXYZ2ABC")),
    "github": ("clone with {}", make("gh", "p_", BODY)),
    "model": ("the key of the model is {}", make("sk-", "ant-api03-", BODY)),
    "slack": ("post with {}", make("xo", "xb-", "123456789012-", BODY)),
    "password": ("the admin password is {}", make("Correct", "-Horse-", "4711")),
    "json": ('{{"client_secret": "{}"}}', make("q8W", BODY[:22])),
    "url": ("fetch https://hub.example/x?access_token={}&page=2", make("t0k", BODY[:24])),
}
SECRETS = tuple(secret for _, secret in CORPUS.values())
SENTENCES = tuple(form.format(secret) for form, secret in CORPUS.values())
HOST = "10.0.0.5"
SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
UUID = "123e4567-e89b-12d3-a456-426614174000"


def text(entry_id: str, role: str, *parts: Any) -> dict[str, Any]:
    whole = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
    return {"id": entry_id, "role": role, "parts": whole}


def conversation() -> list[dict[str, Any]]:
    """Each secret said by the person, by the agent, by a tool, and given to a tool."""
    path = []
    for number, sentence in enumerate(SENTENCES):
        name = f"e{number}"
        call = {
            "type": "toolCall", "id": name, "name": "bash",
            "arguments": {"command": sentence, "env": [{"TOKEN": SECRETS[number]}]},
        }  # fmt: skip
        result = {"type": "toolResult", "toolCallId": name, "name": "bash", "isError": False}
        path += [
            text(f"{name}u", "user", f"Remember that {sentence}"),
            text(f"{name}a", "assistant", {"type": "thinking", "text": sentence}, call),
            text(f"{name}t", "tool", {**result, "text": sentence}),
            text(f"{name}z", "assistant", f"Done: {sentence}"),
        ]
    path.append(text("last", "user", f"Remember that commit {SHA} and run {UUID} belong together."))
    return path


def nothing_in(*texts: str) -> None:
    for one in texts:
        for secret in SECRETS:
            assert secret not in one, secret


@pytest.mark.spec("br/BR-07")
def test_a_session_of_a_bridge(place: Any, loopback: None) -> None:
    script = {
        "memorize/extract": {"facts": [{"text": s, "category": "facts"} for s in SENTENCES]},
        "recall/queries": {"queries": ["payhub key"]},
    }
    with ModelServer(script) as model:
        env = {
            "HINDSIGHT_MEM_MODELS__BASE_URL": model.url,
            "HINDSIGHT_MEM_MODELS__MODEL": "m",
            "HINDSIGHT_MEM_LOG__LEVEL": "debug",
            "HINDSIGHT_MEM_LOG__INCLUDE_TEXT": "true",
        }
        bridge = place.bridge(capabilities={"telemetry": True, "status": True}, **env)
        path = conversation()
        answers = [
            bridge.call("turn/start", {"turnId": "t", "prompt": SENTENCES[0], "entries": path}),
            bridge.call("turn/end", {"turnId": "t", "entries": path}),
            bridge.call("compact/before", {"entries": path[:8], "reason": "manual"}),
        ]
        for sentence in SENTENCES:
            arguments = {"content": sentence, "context": sentence, "tags": [sentence[:60]]}
            for name, given in (
                ("hindsight_retain", {**arguments, "metadata": {"note": sentence}}),
                ("hindsight_retain", {"content": f"In short: {sentence}"}),
                ("hindsight_recall", {"query": sentence}),
            ):
                called = {"name": name, "arguments": given}
                answers.append(bridge.call("tool/call", called))
        asked = {"name": "mem-recall", "arguments": SENTENCES[0]}
        answers.append(bridge.call("command/run", asked))
        answers.append(bridge.call("session/end", {"reason": "quit"}))
        assert bridge.close() == 0
        prompts = [json.dumps(request.body) for request in model.requests]
        headers = [json.dumps(dict(request.headers)) for request in model.requests]

    assert len(prompts) > 2
    nothing_in(*prompts, *headers, json.dumps(answers), json.dumps(bridge.notes), bridge.stderr)
    assert place.found(*SECRETS) == {}
    export = place.mem("bank", "export").stdout
    nothing_in(export)
    # What is useful survives.
    assert "PAYHUB_API_KEY" in export
    assert HOST in export
    whole = "\n".join(prompts)
    assert SHA in whole
    assert UUID in whole


@pytest.mark.spec("br/BR-07")
def test_files_commands_and_corrections(place: Any) -> None:
    lines = [text(f"u{n}", "user", f"Remember that {s}") for n, s in enumerate(SENTENCES)]
    facts = [
        {"text": s, "tags": [s[:60]], "metadata": {"note": s, "token": SECRETS[n]}, "document": s}
        for n, s in enumerate(SENTENCES)
    ]
    place.mem("remember", place.file("session.jsonl", *lines))
    place.mem("bank", "import", place.file("facts.jsonl", *facts))
    held = place.data("facts", "list", "--limit", "500")["facts"]
    assert len(held) >= len(SENTENCES)
    place.mem("facts", "edit", held[0]["id"], "--text", SENTENCES[0], "--tag", SENTENCES[1])
    place.mem("facts", "invalidate", held[1]["id"], "--reason", SENTENCES[1])
    for sentence in SENTENCES[:3]:
        place.mem("recall", sentence)
    place.mem("bank", "export", "-o", place.memory / "export.jsonl")
    place.mem("log", "--json")

    nothing_in(*place.said)
    assert place.found(*SECRETS) == {}


@pytest.mark.spec("br/BR-07")
def test_a_write_that_waits_in_the_queue(place: Any) -> None:
    away = {
        "HINDSIGHT_MEM_BANK__BACKEND": "hindsight",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": f"http://user:{SECRETS[8]}@127.0.0.1:9",
        "HINDSIGHT_MEM_HINDSIGHT__TIMEOUT_MS": "500",
        "HINDSIGHT_MEM_HINDSIGHT__TOKEN": SECRETS[5],
    }
    bridge = place.bridge(**away)
    outcomes = []
    for sentence in SENTENCES:
        called = {"name": "hindsight_retain", "arguments": {"content": sentence}}
        outcomes.append(bridge.call("tool/call", called))
    bridge.call("turn/end", {"turnId": "t", "entries": conversation()})
    bridge.process.kill()
    place.mem("queue", "list", "--json", **away)
    place.mem("config", "show", "--json", "--origin", **away)
    place.mem("doctor", **away)

    assert {o["details"]["outcome"] for o in outcomes} == {"queued"}
    nothing_in(*place.said, json.dumps(outcomes), json.dumps(bridge.notes))
    assert place.found(*SECRETS) == {}


@pytest.mark.spec("br/BR-07")
def test_a_fact_from_before_is_masked_when_it_is_recalled(place: Any) -> None:
    place.mem("bank", "import", place.file("facts.jsonl", {"text": "The payhub is fast."}))
    import sqlite3
    from contextlib import closing

    # As if it had been stored by another program.
    with closing(sqlite3.connect(place.memory / "banks" / "shop.db")) as bank:
        bank.execute("UPDATE facts SET text = ?", (f"The payhub is fast: {SENTENCES[0]}",))
        bank.commit()
    place.mem("bank", "rebuild")
    bridge = place.bridge()
    turn = bridge.call(
        "turn/start", {"turnId": "t", "prompt": "How fast is the payhub?", "entries": []}
    )
    called = {"name": "hindsight_recall", "arguments": {"query": "payhub"}}
    tool = bridge.call("tool/call", called)
    place.mem("recall", "payhub")

    assert "PAYHUB_API_KEY=" in turn["blocks"][0]["text"]
    nothing_in(json.dumps(turn), json.dumps(tool), *place.said)


@pytest.mark.spec("br/BR-07", "br/BR-59")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_model_that_is_a_program_gets_no_secret_and_no_text_in_its_arguments(place: Any) -> None:
    seen = place.inputs / "seen.jsonl"
    program = place.inputs / "model"
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"line = json.dumps([sys.argv, dict(os.environ), sys.stdin.read()])\n"
        f"open({str(seen)!r}, 'a').write(line + '\\n')\n"
        """print('{"facts": []}')\n"""
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    env = {
        "HINDSIGHT_MEM_MODELS__PROVIDER": "command",
        "HINDSIGHT_MEM_MODELS__COMMAND": f"{program} -p",
    }
    lines = [text(f"u{n}", "user", s) for n, s in enumerate((*SENTENCES, "the word is OTTER"))]
    done = place.mem("remember", place.file("session.jsonl", *lines), **env)
    assert seen.exists(), done.stdout + done.stderr

    calls = [json.loads(line) for line in seen.read_text().splitlines()]
    assert calls
    for argv, environment, prompt in calls:
        nothing_in(json.dumps(argv), prompt)
        assert argv == [str(program), "-p"]
        assert environment["HINDSIGHT_MEM_INSIDE"] == "1"
    assert any("OTTER" in prompt for _, _, prompt in calls)
    assert not any("OTTER" in json.dumps([argv, environ]) for argv, environ, _ in calls)
