"""Everything that writes, through its real entry points, ready to be killed."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

from home import Home

Path_ = list[dict[str, Any]]


def entry(entry_id: str, role: str, text: str, parent: str | None) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}]
    return {"id": entry_id, "parentId": parent, "role": role, "parts": parts}


class Talk:
    """One session of a bridge host; what was said survives the process."""

    def __init__(self, name: str, bank: str = "shop") -> None:
        self.name, self.bank = name, bank
        self.path: Path_ = []
        self.keys: list[str] = []

    def say(self, home: Home) -> None:
        key, text = home.sentence()
        self.keys.append(key)
        last = self.path[-1]["id"] if self.path else None
        name = f"{self.name}.{len(self.path)}"
        self.path.append(entry(f"{name}.u", "user", f"Remember that {lower(text)}", last))
        self.path.append(entry(f"{name}.a", "assistant", "Noted.", f"{name}.u"))


def lower(text: str) -> str:
    return text[0].lower() + text[1:]


class Writers:
    """The writers of one home, by name."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.numbers = iter(range(1, 1_000_000))
        self.talks: dict[str, list[Talk]] = {"shop": [], "talk": []}
        self.files: list[tuple[list[str], list[str]]] = []
        self.hooked: list[tuple[Path, list[str]]] = []
        self.by_name = {
            "bridge": lambda: self.bridge("shop"),
            "transcript": lambda: self.bridge("talk"),
            "remember": self.remember,
            "import": self.load,
            "facts": self.facts,
            "review": self.review,
            "hook": self.hook,
            "queue": self.queue,
        }

    def attack(self, name: str) -> None:
        self.by_name[name]()

    # A bridge: turns, a tool, a compaction, an end.

    def bridge(self, bank: str) -> None:
        home, ways = self.home, self.home.random
        with home.lock:
            resumed = ways.random() < 0.6 and self.talks[bank]
            talk = self.talks[bank].pop() if resumed else Talk(f"s{next(self.numbers)}", bank)
        inside = home.death()
        env = {**self._settings(bank), **inside}
        with home.bridge(talk.name, env=env, reason="resume" if resumed else "startup") as bridge:
            late = None if inside else ways.randint(0, 5)
            for turn in range(6):
                if bridge.process.poll() is not None:
                    break
                if late == turn:
                    # In the middle of what it does for the turn before.
                    time.sleep(ways.uniform(0, 0.05))
                    bridge.process.kill()
                    break
                self._turn(bridge, talk, turn)
            else:
                with home.alive(bridge, "session/end"):
                    bridge.call("session/end", {"reason": ways.choice(("quit", "new", "reload"))})
                with home.alive(bridge, "close"):
                    bridge.close()
        home.killed(self._name(bank), really=bridge.process.returncode == -signal.SIGKILL)
        if "Traceback" in bridge.stderr:
            home.problem(bridge.stderr[-600:])
        with home.lock:
            self.talks[bank].append(talk)

    def _turn(self, bridge: Any, talk: Talk, turn: int) -> None:
        home, ways = self.home, self.home.random
        prompt = {"turnId": f"t{turn}", "prompt": "Which harbour is it?", "entries": talk.path}
        began = time.monotonic()
        with home.alive(bridge, "turn/start"):
            bridge.call("turn/start", prompt, timeout_s=32)
        if time.monotonic() - began > home.limits["turnStartMs"] / 1000 + 1:
            home.blocked("turn/start took longer than its bound")
        talk.say(home)
        with home.alive(bridge, "turn/end"):
            bridge.call("turn/end", {"turnId": f"t{turn}", "entries": talk.path})
            home.promise(*talk.keys, bank=talk.bank)
        if talk.bank == "shop" and ways.random() < 0.4:
            key, text = home.sentence()
            called = {"name": "hindsight_retain", "arguments": {"content": text}}
            with home.alive(bridge, "tool/call"):
                said = bridge.call("tool/call", called)["details"]["outcome"]
                if said in ("stored", "known", "queued"):
                    home.promise(key)
        if ways.random() < 0.3:
            with home.alive(bridge, "compact/before"):
                given = {"entries": talk.path[:-2], "reason": "manual"}
                bridge.call("compact/before", given)

    def _settings(self, bank: str) -> dict[str, str]:
        env = {"HINDSIGHT_MEM_BANK__ID": bank}
        if bank == "talk":
            env["HINDSIGHT_MEM_MEMORIZE__MODE"] = "transcript"
            env["HINDSIGHT_MEM_MEMORIZE__EVERY_TURNS"] = "1"
        return env

    def _name(self, bank: str) -> str:
        return "transcript" if bank == "talk" else "bridge"

    # Commands that read a file: run again until they have ended well.

    def remember(self) -> None:
        talk = Talk(f"f{next(self.numbers)}")
        for _ in range(self.home.random.randint(1, 5)):
            talk.say(self.home)
        file = self.home.folder / f"{talk.name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in talk.path))
        self._file("remember", ["remember", str(file)], talk.keys)

    def load(self) -> None:
        pairs = [self.home.sentence() for _ in range(self.home.random.randint(1, 40))]
        file = self.home.folder / f"facts{next(self.numbers)}.jsonl"
        file.write_text("".join(json.dumps({"text": text}) + "\n" for _, text in pairs))
        self._file("import", ["bank", "import", str(file)], [key for key, _ in pairs])

    def _file(self, writer: str, command: list[str], keys: list[str]) -> None:
        done = self.home.attacked(writer, *command)
        if done.code == 0:
            self.home.promise(*keys)
        else:
            with self.home.lock:
                self.files.append((command, keys))

    def _undisturbed(self) -> None:
        """Something to correct and to review."""
        talk = Talk(f"f{next(self.numbers)}")
        talk.say(self.home)
        file = self.home.folder / f"{talk.name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in talk.path))
        if self.home.run("remember", file).code == 0:
            self.home.promise(*talk.keys)

    # Corrections: before or after, never both and never neither.

    def facts(self) -> None:
        home, ways = self.home, self.home.random
        key = home.take()
        if key is None:
            self._undisturbed()
            return
        found = [f for f in self._listed(key) if key in f["text"]]
        if len(found) != 1:
            home.promise(key)  # it waits in a journal or a queue: not to be corrected yet
            return
        fact = found[0]
        if ways.random() < 0.5:
            new, text = home.sentence()
            done = home.attacked("facts", "facts", "edit", fact["id"], "--text", text)
            self._either(key, new, done.code == 0)
        else:
            done = home.attacked("facts", "facts", "delete", fact["id"], "--yes")
            self._either(key, None, done.code == 0)

    def _either(self, key: str, new: str | None, acknowledged: bool) -> None:
        """What a killed correction left: the old text or the new one, whole."""
        old = bool(self._listed(key))
        fresh = bool(new and self._listed(new))
        if acknowledged and (old or (new and not fresh)):
            self.home.problem(f"a correction of {key} was acknowledged and not made")
        if new and old == fresh:
            self.home.problem(f"a correction of {key} by {new} left {old=} {fresh=}")
        if old:
            self.home.promise(key)
        else:
            with self.home.lock:
                self.home.unwanted.add(key)
            if new and fresh:
                self.home.promise(new)

    def _listed(self, key: str) -> list[dict[str, Any]]:
        done = self.home.run("facts", "list", "--json", "--search", key)
        if done.code != 0:
            self.home.blocked(f"facts list: {done.err[-300:]}")
            return []
        return [fact for fact in done.data["facts"] if key in fact["text"]]

    def review(self) -> None:
        home, ways = self.home, self.home.random
        done = home.run("review", "list", "--json", "--limit", "500", "--bank", "shop")
        if done.code != 0:
            home.blocked(f"review list: {done.err[-300:]}")
            return
        if not (items := done.data["items"]):
            self._undisturbed()
            return
        number = str(ways.choice(items)["id"])
        home.attacked("review", "review", "approve", number)

    # Spawned hooks and their daemon.

    def hook(self) -> None:
        home, ways = self.home, self.home.random
        talk = Talk(f"h{next(self.numbers)}")
        file = home.folder / f"{talk.name}.jsonl"
        inside = home.death()
        for turn in range(ways.randint(1, 3)):
            talk.say(home)
            file.write_text("".join(agent_line(line) for line in talk.path))
            self._hook("UserPromptSubmit", talk, file, inside if turn else {}, prompt="Which?")
            self._hook("Stop", talk, file, inside, last_assistant_message="Noted.")
            if ways.random() < 0.5:
                for pid in home.daemons():
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except OSError:
                        continue
                    home.killed("hook", really=True)
        with home.lock:
            self.hooked.append((file, talk.keys))

    def _hook(self, event: str, talk: Talk, file: Path, env: dict[str, str], **more: str) -> None:
        given = {"session_id": talk.name, "cwd": str(self.home.project), **more}
        given |= {"transcript_path": str(file), "hook_event_name": event}
        began = time.monotonic()
        arguments = ("hook", "claude-code", event)
        done = self.home.run(*arguments, stdin=json.dumps(given), env=env)
        self.home.killed("hook", really=done.killed)
        if done.killed:
            return
        if done.code != 0 or done.err:
            self.home.blocked(f"hook {event}: {done.code} {done.err[-300:]}")
        if time.monotonic() - began > 32:
            self.home.blocked(f"hook {event} took longer than its bound")

    def queue(self) -> None:
        verb = self.home.random.choice(("flush", "retry"))
        self.home.attacked("queue", "queue", verb)

    # The next start of everything, undisturbed.

    def settle(self) -> None:
        home = self.home
        for command, keys in self.files:
            done = home.run(*command)
            if done.code != 0:
                home.problem(f"{command} after a kill: {done.code} {done.err[-300:]}")
            home.promise(*keys)
        for file, keys in self.hooked:
            talk = Talk(file.stem)
            for event in ("Stop", "SessionEnd"):
                self._hook(event, talk, file, {}, reason="other")
            home.promise(*keys)
        for bank in ("shop", "talk"):
            self._settle(bank)

    def _settle(self, bank: str) -> None:
        home = self.home
        dead = home.run("queue", "list", "--json")
        if dead.code == 0:
            home.tally.given_up += sum(row.get("state") == "dead" for row in rows_of(dead.data))
        home.run("queue", "retry")
        until = time.monotonic() + GIVE_UP_S
        while True:
            # Each start takes up what the dead have left.
            session = f"last{next(self.numbers)}"
            with home.bridge(session, env=self._settings(bank)) as bridge:
                left = 1
                while left and time.monotonic() < until:
                    with home.alive(bridge, "status/get"):
                        left = bridge.call("status/get")["pending"]
                    time.sleep(0.1)
                with home.alive(bridge, "session/end"):
                    left = bridge.call("session/end", {"reason": "quit"})["pending"]
            if not left or time.monotonic() > until:
                break
        if left:
            home.problem(f"{bank}: {left} writes are still pending")


GIVE_UP_S = 60.0


def rows_of(data: Any) -> list[dict[str, Any]]:
    found = next((v for v in data.values() if isinstance(v, list)), [])
    return [row for row in found if isinstance(row, dict)]


def agent_line(line: dict[str, Any]) -> str:
    record = {
        "type": line["role"],
        "uuid": line["id"],
        "parentUuid": line["parentId"],
        "message": {"role": line["role"], "content": line["parts"][0]["text"]},
    }
    return json.dumps(record) + "\n"
