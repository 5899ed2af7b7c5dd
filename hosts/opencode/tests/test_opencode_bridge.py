"""The whole of memory behind opencode's events: real bridge processes, the embedded bank."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.bridge import BridgeProcess

Json = dict[str, Any]
GATEWAY = "The gateway listens on port 8443."
SCHEDULER = "The scheduler listens on port 9000."
OPTIONS: Json = {"profile": "opencode-hindsight"}
AGENTS: Json = {"build": {"bankId": "b1", "retainEveryNTurns": 2}, "plan": {"bankId": "b2"}}


class World:
    """A memory of its own, and bridges over it.

    Attributes:
        said: Messages of each session, as opencode lists them.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {**os.environ, "HINDSIGHT_MEM_HOME": str(folder / "memory")}
        self.stack = stack
        self.said: dict[str, list[Json]] = {}
        self.infos: dict[str, Json] = {}
        self.bridge = self.start()

    def start(self, **env: str) -> BridgeProcess:
        """A bridge of one opencode process."""
        process = BridgeProcess(env={**self.env, **env}, cwd=self.project, host="opencode")
        self.bridge = self.stack.enter_context(process)
        return self.bridge

    def event(self, name: str, **payload: object) -> list[Json]:
        """One event; the actions."""
        given = {"directory": str(self.project), **payload}
        reply = self.bridge.call("event", {"name": name, "payload": given})
        return list(reply["actions"])

    def configure(self, options: Json | None = None, agents: Json | None = None) -> list[Json]:
        """The instance's configuration."""
        given = OPTIONS if options is None else options
        blocks = AGENTS if agents is None else agents
        return self.event("config", worktree="/", options=given, agents=blocks)

    def session(self, own: str, **info: object) -> Json:
        """A session is created."""
        self.said[own] = []
        self.infos[own] = {"id": own, "directory": str(self.project), **info}
        self.event("session.created", session=self.infos[own])
        return self.infos[own]

    def say(self, own: str, text: str, *, agent: str = "build", **flags: object) -> str | None:
        """A prompt and its request; what the system prompt holds of memory."""
        message = self.message(own, "user", {"type": "text", "text": text, **flags}, agent=agent)
        self.event("chat.message", session=self.infos[own], message=message["info"],
                   parts=message["parts"])  # fmt: skip
        return self.request(own)

    def request(self, own: str) -> str | None:
        """One request of a session; the text of its system block."""
        actions = self.event("experimental.chat.system.transform", sessionID=own)
        return "\n".join(a["text"] for a in actions) or None

    def turn(self, own: str, text: str, answer: str = "Noted.", *, agent: str = "build") -> None:
        """A prompt, its answer, and the end of the turn."""
        self.say(own, text, agent=agent)
        self.message(own, "assistant", {"type": "text", "text": answer}, agent=agent)
        self.idle(own)

    def idle(self, own: str) -> None:
        """The session is idle."""
        self.event("session.idle", session=self.infos[own], messages=self.said[own])

    def compact(self, own: str) -> list[Json]:
        """A compaction; what memory adds to it."""
        actions = self.event("experimental.session.compacting", session=self.infos[own],
                             messages=self.said[own])  # fmt: skip
        self.message(own, "user", {"type": "compaction"})
        self.message(own, "assistant", {"type": "text", "text": "So far."}, summary=True)
        self.event("session.compacted", sessionID=own)
        return actions

    def message(self, own: str, role: str, *parts: Json, **info: object) -> Json:
        """One more message of a session."""
        listed = self.said[own]
        message_id = f"msg_{own}_{len(listed):03}"
        time = {"created": 1_700_000_000_000 + len(listed) * 1000}
        made = {"info": {"id": message_id, "role": role, "time": time, **info}, "parts": [*parts]}
        listed.append(made)
        return made

    def learn(self, bank: str, *facts: str) -> None:
        """Put facts into a bank."""
        file = self.project.parent / "facts.jsonl"
        file.write_text("".join(json.dumps({"text": fact}) + "\n" for fact in facts))
        self.mem("bank", "import", str(file), "--bank", bank)

    def documents(self, bank: str) -> list[str]:
        """Ids of a bank's documents."""
        return [d["id"] for d in json.loads(self.mem("documents", "list", "--bank", bank, "--json"))["documents"]]  # fmt: skip  # noqa: E501

    def queued(self) -> list[Json]:
        """Writes that wait."""
        jobs: list[Json] = json.loads(self.mem("queue", "list", "--json"))["jobs"]
        return jobs

    def document(self, bank: str, own: str) -> str:
        """Text of a document."""
        return self.mem("documents", "show", own, "--bank", bank).strip()

    def mem(self, *arguments: str) -> str:
        """Run ``hindsight-mem``; its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=self.project, env=self.env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def until(holds: Callable[[], bool]) -> None:
    """What is written in the background is there some time."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path, stack)


@pytest.mark.spec("oc/O-EV-2", "oc/O-EV-1", "oc/O-RCL-4")
def test_two_agents_recall_only_what_is_theirs_and_a_child_nothing(world: World) -> None:
    world.learn("b1", GATEWAY)
    world.learn("b2", SCHEDULER)
    actions = world.configure()
    world.session("s1")
    world.session("s2")
    world.session("s3", parentID="s1")

    build = world.say("s1", "Go on.")
    plan = world.say("s2", "Go on.", agent="plan")
    child = world.say("s3", "Go on.")

    assert [a["type"] for a in actions] == ["limits", "tools"]
    assert GATEWAY in str(build) and SCHEDULER not in str(build)
    assert SCHEDULER in str(plan) and GATEWAY not in str(plan)
    assert child is None
    assert world.request("s1") == build, "the provider's cache needs the same text"


@pytest.mark.spec("oc/O-CFG-1")
def test_without_configuration_there_is_one_line_and_nothing_else(world: World) -> None:
    log, off = world.configure({}, {})

    assert (log["type"], off["type"]) == ("log", "off")
    world.session("s")
    assert world.say("s", "Remember that the port is 1.") is None
    world.idle("s")
    assert not list((Path(world.env["HINDSIGHT_MEM_HOME"]) / "banks").glob("*"))


@pytest.mark.spec("oc/O-CFG-1")
def test_after_install_without_a_server_there_is_the_embedded_bank(world: World) -> None:
    world.mem("config", "set", "bank.id", "auto")
    world.configure({}, {})
    world.session("s")
    world.turn("s", "Remember that the gateway listens on port 8443.")
    world.event("dispose")

    assert "8443" in world.mem("facts", "list")


@pytest.mark.spec("oc/O-CFG-1")
def test_the_option_beats_the_environment(world: World) -> None:
    world.start(HINDSIGHT_API_URL="http://127.0.0.1:9/env")
    world.configure({**OPTIONS, "hindsightApiUrl": "http://127.0.0.1:9/option"})
    world.session("s")
    world.say("s", "Go on.")

    (told,) = world.bridge.notices()
    assert "http://127.0.0.1:9/option" in told


@pytest.mark.spec("oc/O-RET-1", "oc/O-RET-2", "oc/O-EV-3")
def test_the_interval(world: World) -> None:
    world.configure()
    world.session("s")
    world.turn("s", "One.")
    assert world.documents("b1") == []
    world.turn("s", "Two.")
    until(lambda: world.documents("b1") == ["s"])
    first = world.document("b1", "s")
    world.idle("s")
    world.turn("s", "Three.")
    world.turn("s", "Four.")

    assert first == "User: One.\n\nAssistant: Noted.\n\nUser: Two.\n\nAssistant: Noted."
    until(lambda: "Four." in world.document("b1", "s"))
    assert world.document("b1", "s").startswith(first)
    assert world.documents("b1") == ["s"]


@pytest.mark.spec("oc/O-RET-1", "oc/O-CMP-3", "oc/O-CA-6")
def test_nothing_is_written_for_a_child_or_without_auto_retain(world: World) -> None:
    agents = {"build": {"bankId": "b1", "retainEveryNTurns": 1, "autoRetain": False},
              "plan": {"bankId": "b1", "retainEveryNTurns": 1}}  # fmt: skip
    world.configure(agents=agents)
    world.session("quiet")
    world.session("child", parentID="quiet")
    world.turn("quiet", "One.")
    world.turn("child", "Two.", agent="plan")
    world.compact("child")
    world.compact("quiet")
    world.event("dispose")

    assert world.documents("b1") == []


@pytest.mark.spec("oc/O-CMP-1", "oc/O-CMP-3", "oc/O-CMP-4", "oc/O-CMP-5")
def test_a_compaction_keeps_all_and_later_turns_lose_nothing(world: World) -> None:
    agents = {"build": {"bankId": "b1", "retainEveryNTurns": 3}}
    world.learn("b1", GATEWAY)
    world.configure(agents=agents)
    world.session("s")
    world.turn("s", "Where does the gateway listen?", "On port 8443.")
    (context,) = world.compact("s")
    until(lambda: world.documents("b1") == ["s"])
    kept = world.document("b1", "s")
    # From now on the host may list the later part only.
    world.said["s"] = world.said["s"][2:]
    world.idle("s")
    for text in ("Two.", "Three."):
        world.turn("s", text)
    assert world.documents("b1") == ["s"], "what was kept does not count again"
    world.turn("s", "Four.")

    assert GATEWAY in context["text"]
    until(lambda: len(world.documents("b1")) == 2)
    texts = [world.document("b1", own) for own in world.documents("b1")]
    assert kept in texts
    assert any("Two." in text and "Four." in text for text in texts)


@pytest.mark.spec("oc/O-CMP-3", "oc/O-EV-6")
def test_a_bank_that_is_away_costs_nothing_but_a_notice(world: World) -> None:
    world.configure({**OPTIONS, "hindsightApiUrl": "http://127.0.0.1:9"})
    world.session("s")
    assert world.say("s", "Go on.") is None
    world.turn("s", "And on.")
    assert world.compact("s") == []
    world.session("t")
    assert world.say("t", "Go on.") is None

    (notice,) = [text for text in world.bridge.notices() if "away" in text]
    assert "127.0.0.1:9" in notice
    until(lambda: "s" in [job["document_id"] for job in world.queued()])


@pytest.mark.spec("oc/O-EV-7")
def test_what_was_said_outlives_a_process_that_was_killed(world: World) -> None:
    agents = {"build": {"bankId": "b1", "retainEveryNTurns": 3}}
    world.configure(agents=agents)
    world.session("s")
    world.turn("s", "One.")
    world.bridge.process.kill()
    world.bridge.gone()
    world.start()
    world.configure(agents=agents)
    world.session("other")
    world.say("other", "Go on.")

    until(lambda: "s" in world.documents("b1"))
    assert world.document("b1", "s") == "User: One.\n\nAssistant: Noted."


@pytest.mark.spec("oc/O-TOOL-4", "oc/O-TOOL-5")
def test_the_terminals_command_keeps_the_session_as_it_is(world: World) -> None:
    def keep(own: str) -> Json:
        (result,) = world.event("command.execute", session=world.infos[own],
                                messages=world.said[own], command="hindsight-retain")  # fmt: skip
        return result

    world.configure()
    world.session("empty")
    world.session("s")
    world.session("other")
    assert "nothing" in keep("empty")["text"]
    world.message("other", "user", {"type": "text", "text": "Hi."}, agent="nobody")
    assert "nobody" in keep("other")["text"]
    world.say("s", "One.")
    world.message("s", "assistant", {"type": "text", "text": "Noted."}, agent="build")

    assert keep("s")["level"] == "info"
    until(lambda: world.documents("b1") == ["s"])
    keep("s")
    assert world.document("b1", "s") == "User: One.\n\nAssistant: Noted."
    world.turn("s", "Two.")
    world.turn("s", "Three.")
    until(lambda: "Three." in world.document("b1", "s"))
    assert world.documents("b1") == ["s"]


@pytest.mark.spec("oc/O-TOOL-1", "oc/O-TOOL-2", "oc/O-TOOL-3", "oc/O-TOOL-5")
def test_the_tools(world: World) -> None:
    def tool(own: str, name: str, agent: str = "build", **args: object) -> Json:
        (result,) = world.event("tool.execute", session=world.infos[own], agent=agent,
                                tool=f"hindsight_{name}", args=args)  # fmt: skip
        return result

    world.configure()
    world.session("s")
    world.session("child", parentID="s")

    assert tool("s", "retain", content=" ")["isError"]
    assert tool("s", "recall", query=" ")["isError"]
    assert tool("s", "reflect", query="")["isError"]
    assert "nobody" in tool("s", "recall", agent="nobody", query="port")["content"]
    nothing = tool("s", "recall", query="gateway port")
    assert (nothing["isError"], nothing["details"]["outcome"]) == (False, "empty")
    stored = tool("child", "retain", content=GATEWAY)
    assert stored["details"]["outcome"] == "stored"
    found = tool("s", "recall", query="gateway port")
    assert GATEWAY in found["content"] and len(found["details"]["hits"]) == 1
    assert tool("s", "nonsense")["isError"]


@pytest.mark.spec("oc/O-CA-5")
def test_a_process_that_memory_started_has_none(world: World) -> None:
    world.mem("config", "set", "bank.id", "auto")
    world.start(HINDSIGHT_MEM_INSIDE="1")

    assert [a["type"] for a in world.configure()] == ["log", "off"]
