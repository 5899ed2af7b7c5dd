"""Model calls and prompt tokens of a session under each profile, beside the plugins' own.

usage: python tests/bench/calls.py [--profiles NAMES] [--by-stage]

A real bridge is led through one made-up session of twelve messages (questions, durable statements,
plain requests) over a bank of facts that bear on some of them. The model is a scripted server whose
every answer lets the pipeline go on, the dearest case: searches give hits, candidates are accepted.
Tokens are estimated from the characters. What the plugins themselves ask is what their
descriptions say of a usual turn; their tokens are not known.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from bridge import store

from hindsight_core.testing.bridge import BridgeProcess
from hindsight_core.testing.model_server import ModelServer, Recorded
from hindsight_core.tokens import CHARACTERS_PER_TOKEN

FACTS = (
    "The API gateway listens on port 8443 behind nginx.",
    "Sessions are kept in Redis with a time to live of 20 minutes.",
    "The nightly export runs at 03:10 UTC and is retried twice.",
    "Migrations are applied by the deploy job, never by hand.",
    "The flaky checkout test depends on the clock of the payment stub.",
    "Money is stored in minor units as integers.",
)
MESSAGES = (
    "Which port does the API gateway listen on, and what is in front of it?",
    "Thanks. Now rename the handler in gateway.py to serve_forever.",
    "How long do sessions live, and where are they kept?",
    "I prefer pytest fixtures over setUp methods in this project.",
    "Fix the flaky checkout test, please.",
    "What do you know about the nightly export and its retries?",
    "Run the tests again.",
    "We decided to keep money in minor units because floats lost cents in March.",
    "Who applies migrations when a deploy fails half way?",
    "Go on.",
    "I always want commit messages in the imperative mood.",
    "Which of our stores would lose data if Redis went away?",
)
# Stages that a message may wait for; what ends behind the last one is not counted here.
WAITED_FOR = ("recall/", "tasks/", "decision/", "steer/")
ANSWER = "Done; I looked at the files that this concerns and told you what I found there."
# Of a usual message before the agent starts, and of one that says something durable; see the
# descriptions of the plugins: builder, detector and a judge for each of three queries; extraction,
# validation, merge, validation behind a message, with query and judge of a steer before it; a
# route for the reading and one for the writing.
THEIR_CALLS = {
    "pi-hindsight": "5 (up to 12 at a change of topic)",
    "s1enhanced": "2 with its decision layer on",
    "opencode-hindsight": "0",
    "active-memory": "3 to 5 a message and a recall",
}


def queries(request: Recorded) -> dict[str, Any]:
    """As many searches as are allowed, of a question's words."""
    asked = request.prompt.split("[latest request]")[1].split("[end of latest")[0]
    words = [w for w in re.findall(r"\w+", asked) if len(w) > 4]
    parts = [" ".join(words[at : at + 3]) for at in (0, 3, 6)]
    return {"queries": [part for part in parts if part]}


def memories(request: Recorded) -> dict[str, Any]:
    """What the message says that lasts, with its words as evidence."""
    message = request.prompt.split("[message]")[1].split("[end of message]")[0]
    said = re.search(r"I (?:prefer|always want)[^.\n]*", message)
    if said is None:
        return {"memories": []}
    text = said[0].replace("I ", "The user ", 1)
    kind = {"kind": "user_profile", "scope": "project", "confidence": 0.9}
    return {"memories": [{"text": text, "evidence": said[0], **kind}]}


SCRIPT = {
    "recall/queries": queries,
    "recall/judge": {"score": 90, "keep": [1]},
    "tasks/detect": {"changed": False, "title": "", "query": ""},
    "steer/query": {"query": "preferences of tests and commits"},
    "steer/judge": {"relevant_ids": []},
    "capture/extraction": memories,
    "capture/validation": {"accept": True, "reason": "it lasts"},
    "capture/merge": {"action": "add"},
    "capture/investigation": {"memories": []},
    "memorize/extract": {
        "facts": [{"text": "Money is kept in minor units because floats lost cents in March."}]
    },
    "memorize/verify": {"keep": [1]},
    "memorize/topics": {"queries": ["money in minor units", "rounding of cents"]},
    "memorize/dedup": {"known": [], "updates": []},
    "memorize/invalidate": {"retire": []},
    "bank/facts": {"facts": [{"text": "Money is kept in minor units."}]},
    "*": "NONE",
}


def entry(ident: str, role: str, text: str) -> dict[str, Any]:
    return {"id": ident, "role": role, "parts": [{"type": "text", "text": text}]}


def session(home: Path, profile: str, server: ModelServer) -> tuple[int, int]:
    """Leads a bridge through the talk.

    Returns:
        How many requests came while a message waited, and how many tokens its blocks had.
    """
    project = home / "shop"
    (project / ".git").mkdir(parents=True)
    memory = home / "memory"
    asyncio.run(store(memory / "banks/demo.db", FACTS))
    env = {**os.environ, "HINDSIGHT_MEM_HOME": str(memory), "HINDSIGHT_MEM_BANK__ID": "demo"}
    env |= {"HINDSIGHT_MEM_PROFILE": profile, "HINDSIGHT_MEM_MODELS__PROVIDER": "openai"}
    env["HINDSIGHT_MEM_MODELS__BASE_URL"] = server.url
    before, shown = 0, 0
    with BridgeProcess(env=env, cwd=project) as bridge:
        opened = {"protocol": 1, "cwd": str(project), "session": {"id": "s1", "agent": "coder"}}
        bridge.call("initialize", opened)
        bridge.call("session/start", {"reason": "startup", "entries": []})
        entries: list[dict[str, Any]] = []
        for number, message in enumerate(MESSAGES):
            at = len(server.stages())
            turn = {"turnId": f"t{number}", "prompt": message, "entries": entries}
            blocks = bridge.call("turn/start", turn)["blocks"]
            shown += sum(len(block["text"]) for block in blocks) // CHARACTERS_PER_TOKEN
            before += sum(stage.startswith(WAITED_FOR) for stage in server.stages()[at:])
            entries.append(entry(f"u{number}", "user", message))
            entries.append(entry(f"a{number}", "assistant", ANSWER))
            bridge.call("turn/end", {"turnId": f"t{number}", "entries": entries, "outcome": "ok"})
        bridge.call("session/end", {"reason": "quit", "entries": entries})
        bridge.close()
    return before, shown


def tokens(requests: list[Recorded]) -> int:
    """Of the prompts, system lines included."""
    messages = [m for request in requests for m in request.body.get("messages", [])]
    return sum(len(str(m.get("content", ""))) for m in messages) // CHARACTERS_PER_TOKEN


def main() -> int:
    """Measure and print a markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--profiles", default=",".join(THEIR_CALLS))
    parser.add_argument("--by-stage", action="store_true", help="also count each stage")
    options = parser.parse_args()
    columns = ["calls a message, before the agent", "all calls a message"]
    columns += ["prompt tokens a message", "injected tokens a message"]
    columns += ["the plugin's own calls a message"]
    print("| profile | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    stages: dict[str, Counter[str]] = {}
    for profile in options.profiles.split(","):
        with tempfile.TemporaryDirectory() as folder, ModelServer(SCRIPT) as server:
            before, shown = session(Path(folder), profile, server)
            asked = [r for r in server.requests if r.path.endswith("/chat/completions")]
        stages[profile] = Counter(server.stages())
        said, count = tokens(asked), len(MESSAGES)
        cells = [f"{before / count:.1f}", f"{len(asked) / count:.1f}", f"{said / count:.0f}"]
        cells += [f"{shown / count:.0f}", THEIR_CALLS.get(profile, "-")]
        print(f"| {profile} | " + " | ".join(cells) + " |", flush=True)
    if options.by_stage:
        for profile, counts in stages.items():
            print(profile, dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
