"""A home under attack: starts real programs in it, and knows what was promised to whom."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindsight_core.testing.bridge import BridgeError, BridgeProcess

INJECT = Path(__file__).with_name("inject")
KEY = re.compile(r"\bk[a-z]{9}\b")
GONE_S = 60.0
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()
PLACES = "river harbour cellar attic garden bridge tower market forest island".split()


@dataclass
class Tally:
    """What was done, and what became of it."""

    seed: int = 0
    kills: int = 0
    faults: int = 0
    inputs: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    blocked: int = 0
    given_up: int = 0  # dead letters, delivered after `queue retry`
    seconds: int = 0
    by_writer: dict[str, int] = field(default_factory=dict)
    by_disaster: dict[str, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.doubled or self.blocked or self.problems)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Home:
    """One memory with its project; several threads may use it."""

    def __init__(self, folder: Path, tally: Tally, seed: int, **env: str) -> None:
        self.folder = folder
        self.memory = folder / "memory"
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.memory.mkdir(mode=0o700)
        self.tally = tally
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.promised: dict[str, set[str]] = {}
        self.unwanted: set[str] = set()
        self.known_texts: dict[str, str] = {}
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "PI_"))},
            "HOME": str(folder),
            "PYTHONPATH": str(INJECT),
            "HINDSIGHT_MEM_HOME": str(self.memory),
            "HINDSIGHT_MEM_DAEMON_IDLE_S": "30",
            **env,
        }
        (self.memory / "config.toml").write_text('[bank]\nid = "shop"\n')

    def sentence(self) -> tuple[str, str]:
        """A fact that is like no other, and the key by which it is known again."""
        with self.lock:
            word = self._word()
            while f"k{word}x" in self.known_texts:
                word = self._word()
            key, place = f"k{word}x", self.random.choice(PLACES)
            text = f"The {self._word()} {key} is kept in the {place} {word[::-1]}."
            self.tally.inputs += 1
            self.known_texts[key] = text
        return key, text

    def _word(self) -> str:
        return "".join(self.random.choices(SYLLABLES, k=4))

    def promise(self, *keys: str, bank: str = "shop") -> None:
        """These were acknowledged."""
        with self.lock:
            self.promised.setdefault(bank, set()).update(keys)

    def take(self, bank: str = "shop") -> str | None:
        """One promised key for oneself: nothing is promised about it until it is given back."""
        with self.lock:
            held = sorted(self.promised.get(bank, ()))
            if not held:
                return None
            key = self.random.choice(held)
            self.promised[bank].discard(key)
            return key

    def killed(self, writer: str, *, really: bool) -> None:
        if really:
            with self.lock:
                self.tally.kills += 1
                self.tally.by_writer[writer] = self.tally.by_writer.get(writer, 0) + 1

    def problem(self, text: str) -> None:
        with self.lock:
            self.tally.problems.append(text)

    def blocked(self, what: str) -> None:
        with self.lock:
            self.tally.blocked += 1
            self.tally.problems.append(f"blocked: {what}")

    def death(self) -> dict[str, str]:
        """Half of the deaths come from inside, at a statement."""
        if self.random.random() < 0.5:
            return {}
        return {"FAULTS_DIE_AT": str(1 + int(self.random.expovariate(1 / 60)))}

    def run(
        self,
        *arguments: object,
        env: dict[str, str] | None = None,
        stdin: str = "",
        kill_after: float | None = None,
    ) -> Done:
        """A command of ours; killed after some seconds, if it still runs then."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hindsight_core", *map(str, arguments)],
            cwd=self.project, env={**self.env, **(env or {})}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            out, err = process.communicate(stdin, timeout=kill_after or GONE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            if kill_after is None:
                self.blocked(f"{' '.join(map(str, arguments))} did not end in {GONE_S:g} s")
        return Done(process.returncode, out, err)

    def attacked(self, writer: str, *arguments: object, stdin: str = "") -> Done:
        """A command that is killed at a random moment, or was quicker."""
        inside = self.death()
        late = None if inside else self.random.uniform(0.1, 0.9)
        done = self.run(*arguments, env=inside, kill_after=late, stdin=stdin)
        self.killed(writer, really=done.killed)
        if not done.killed and "Traceback" in done.err:
            self.problem(f"{arguments}: {done.err[-600:]}")
        return done

    @contextmanager
    def bridge(self, session: str, *, env: dict[str, str] | None = None, reason: str = "startup"):
        """A bridge with an open session."""
        process = BridgeProcess(env={**self.env, **(env or {})}, cwd=self.project)
        with process as opened:
            params = {
                "protocol": 1,
                "client": {"name": "faults", "version": "1"},
                "cwd": str(self.project),
                "session": {"id": session},
                "capabilities": {},
            }
            with self.alive(opened, "initialize"):
                self.limits = opened.call("initialize", params)["limits"]
                opened.call("session/start", {"reason": reason, "entries": []})
            yield opened

    @contextmanager
    def alive(self, bridge: BridgeProcess, what: str):
        """A call of a bridge that may die meanwhile; one that lives and does not answer blocks."""
        try:
            yield
        except (TimeoutError, OSError, ValueError) as error:
            try:
                bridge.process.wait(2)
            except subprocess.TimeoutExpired:
                self.blocked(f"{what}: {error}")
        except BridgeError as error:
            self.blocked(f"{what}: {error}")

    def daemons(self) -> list[int]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"hindsight_core.daemon" in words and str(self.memory).encode() in words:
                found.append(int(folder.name))
        return found

    def count(self) -> None:
        """Compare what the banks hold with what was promised."""
        for file in (self.memory / "queue.db", self.memory / "state.db"):
            self._sound(file)
        for bank, told in self.promised.items():
            # A session's end promises all that it said, also what was corrected meanwhile.
            promised = told - self.unwanted
            file = self.memory / "banks" / f"{bank}.db"
            self._sound(file)
            with closing(sqlite3.connect(file)) as connection:
                rows = connection.execute("SELECT text FROM facts WHERE state = 'valid'")
                held = Counter(key for row in rows for key in set(KEY.findall(row[0])))
                rows = connection.execute("SELECT text FROM documents").fetchall()
                told = Counter(key for row in rows for key in KEY.findall(row[0]))
            where = told if bank == "talk" else held
            lost = sorted(key for key in promised if not where[key])
            twice = sorted(key for key in {*held, *told} if held[key] > 1 or told[key] > 1)
            back = sorted(key for key in self.unwanted if held[key] or told[key])
            self.tally.acknowledged += len(promised)
            self.tally.lost += len(lost)
            self.tally.doubled += len(twice)
            for name, keys in (("lost", lost), ("doubled", twice), ("came back", back)):
                if keys:
                    self.tally.problems.append(f"{bank}: {name}: {keys[:5]} in {self.folder}")
        for path in self.memory.rglob("*.corrupt-*"):
            self.tally.problems.append(f"set aside: {path}")

    def _sound(self, file: Path) -> None:
        if not file.exists():
            return
        with closing(sqlite3.connect(file)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if sound != "ok":
            self.tally.problems.append(f"{file}: {sound}")
