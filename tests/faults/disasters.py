"""What may happen to the ground under a memory: disks, clocks, locks, files, servers."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from home import KEY, Home
from server import MemoryServer
from writers import Talk, Writers

FILES = ("queue.db", "state.db", "banks/shop.db")
NO_MOUNT = "no file system can be mounted here"
DISASTERS: dict[str, Callable[[Home, Writers], str | None]] = {}


def disaster(work: Callable[[Home, Writers], str | None]) -> Callable[[Home, Writers], str | None]:
    DISASTERS[work.__name__.replace("_", "-")] = work
    return work


def session(home: Home, bridge: Any, talk: Talk, *, turns: int = 2, tool: bool = True) -> None:
    """Turns of a bridge that lives; each inside its bound, whatever happens below."""
    limits = {"turn/start": home.limits["turnStartMs"], "turn/end": home.limits["turnEndMs"]}
    for turn in range(turns):
        talk.say(home)
        asked = {"turnId": f"t{turn}", "prompt": "Which harbour?", "entries": talk.path[:-2]}
        ended = {"turnId": f"t{turn}", "entries": talk.path}
        for method, params in (("turn/start", asked), ("turn/end", ended)):
            began = time.monotonic()
            with home.alive(bridge, method):
                bridge.call(method, params, timeout_s=60)
            took = time.monotonic() - began
            if took > limits[method] / 1000 + 2:  # the shim's second, and a busy machine's
                home.blocked(f"{method} took {took:.1f} s")
        if tool:
            key, text = home.sentence()
            called = {"name": "hindsight_retain", "arguments": {"content": text}}
            with home.alive(bridge, "tool/call"):
                done = bridge.call("tool/call", called, timeout_s=60)["details"]
                if done["outcome"] in ("stored", "known", "queued"):
                    home.promise(key)


def told(bridge: Any) -> bool:
    return bool(bridge.notices("warning", "error"))


def acknowledged(home: Home, bridge: Any, talk: Talk, reason: str = "quit") -> None:
    """End the session; what counts as written is promised."""
    with home.alive(bridge, "session/end"):
        if bridge.call("session/end", {"reason": reason}, timeout_s=70)["flushed"]:
            home.promise(*talk.keys)


@contextmanager
def small_disk(home: Home) -> Iterator[None]:
    """The home on a file system of its own."""
    where = str(home.memory)
    options = ["-o", "size=3m,mode=0700", "tmpfs", where]
    done = subprocess.run(["mount", "-t", "tmpfs", *options], capture_output=True, check=False)
    if done.returncode:
        raise OSError(NO_MOUNT)
    try:
        (home.memory / "config.toml").write_text('[bank]\nid = "shop"\n')
        yield
    finally:
        kept = home.folder / "kept"
        subprocess.run(["cp", "-a", f"{where}/.", str(kept)], check=True)
        subprocess.run(["umount", "-l", where], check=True)
        subprocess.run(["cp", "-a", f"{kept}/.", where], check=True)


@disaster
def full_disk(home: Home, writers: Writers) -> str | None:
    """Full when a session begins, and in the middle of one."""
    try:
        with small_disk(home):
            talk = Talk("before")
            with home.bridge("before") as bridge:
                session(home, bridge, talk)
                fill(home.memory / "ballast")
                full = Talk("full")
                session(home, bridge, full, turns=3)
                acknowledged(home, bridge, talk)
                if not told(bridge):
                    home.problem("a full disk was not told")
            with home.bridge("during") as bridge:
                session(home, bridge, Talk("during"), turns=1)
            for command in (["facts", "list"], ["remember", __file__], ["queue", "flush"]):
                done = home.run(*command)
                if "Traceback" in done.err:
                    home.problem(f"{command}: {done.err[-400:]}")
            (home.memory / "ballast").unlink()
            writers.settle()
    except OSError as error:
        return str(error)
    return None


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@disaster
def read_only_home(home: Home, writers: Writers) -> str | None:
    try:
        with small_disk(home):
            with home.bridge("before") as bridge:
                session(home, bridge, Talk("before"))
            subprocess.run(["mount", "-o", "remount,ro", str(home.memory)], check=True)
            with home.bridge("during") as bridge:
                session(home, bridge, Talk("during"))
                acknowledged(home, bridge, Talk("during"), "reload")
            hook(home, writers)
            subprocess.run(["mount", "-o", "remount,rw", str(home.memory)], check=True)
            writers.settle()
    except OSError as error:
        return str(error)
    return None


def hook(home: Home, writers: Writers) -> None:
    file = home.folder / "agent.jsonl"
    file.write_text("")
    for event in ("SessionStart", "UserPromptSubmit", "Stop"):
        writers._hook(event, Talk("hooked"), file, {}, prompt="Which harbour?")


@disaster
def clock_jumps(home: Home, writers: Writers) -> str | None:
    clock = home.folder / "clock"
    clock.write_text("0")
    env = {"FAULTS_CLOCK": str(clock)}
    day = 86400.0
    for number, jump in enumerate((-400 * day, 400 * day, -60.0, 3600.0, 0.0)):
        talk = Talk(f"clock{number}")
        with home.bridge(talk.name, env=env) as bridge:
            session(home, bridge, talk, turns=1)
            clock.write_text(str(jump))
            session(home, bridge, talk, turns=1)
            home.promise(*talk.keys)
            if number % 2:
                bridge.process.kill()
                home.killed("clock", really=True)
            else:
                acknowledged(home, bridge, talk)
    return None


@disaster
def sixteen_processes(home: Home, writers: Writers) -> str | None:
    """Half of them bridges, half commands, on a store that is not there yet."""

    def speak(number: int) -> None:
        talk = Talk(f"many{number}")
        with home.bridge(talk.name) as bridge:
            session(home, bridge, talk, turns=2)
            home.promise(*talk.keys)
            acknowledged(home, bridge, talk)

    work = [threading.Thread(target=speak, args=(n,)) for n in range(8)]
    work += [threading.Thread(target=w) for w in (writers.remember, writers.load) * 4]
    death, home.death = home.death, dict  # these shall live
    late, home.attacked = home.attacked, lambda writer, *a, **more: home.run(*a, **more)
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    home.death, home.attacked = death, late
    return None


@disaster
def lock_held_30_s(home: Home, writers: Writers) -> str | None:
    """Another program keeps the write lock of every file; a turn does not wait for it."""
    with home.bridge("early") as bridge:
        session(home, bridge, Talk("early"), turns=1)
        early = Talk("early2")
        keepers = []
        for file in FILES:
            keeper = sqlite3.connect(home.memory / file, isolation_level=None)
            keeper.execute("BEGIN IMMEDIATE")
            keepers.append(keeper)
        began = time.monotonic()
        session(home, bridge, early, turns=2)
        with home.bridge("late") as late:
            session(home, late, Talk("late"), turns=1, tool=False)
            hook(home, writers)
            time.sleep(max(0.0, began + 30 - time.monotonic()))
            for keeper in keepers:
                keeper.execute("COMMIT")
                keeper.close()
            talk = Talk("after")
            session(home, late, talk, turns=1)
            home.promise(*talk.keys)
            acknowledged(home, late, talk)
        acknowledged(home, bridge, early)
    return None


DAMAGES: dict[str, Callable[[Path], None]] = {
    "half of it gone": lambda file: truncate(file, 0.5),
    "one page of noise": lambda file: scribble(file, 0.5, b"\xa5" * 4096),
    "no header": lambda file: scribble(file, 0.0, b"not a database at all" * 8),
    "nothing left": lambda file: truncate(file, 0.0),
    "half a log": lambda file: truncate(side(file), 0.5),
    "a log of noise": lambda file: scribble(side(file), 0.2, b"\xa5" * 8192),
}


def side(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


def truncate(file: Path, share: float) -> None:
    with file.open("r+b") as handle:
        handle.truncate(int(file.stat().st_size * share))


def scribble(file: Path, share: float, noise: bytes) -> None:
    with file.open("r+b") as handle:
        handle.seek(int(file.stat().st_size * share) // 4096 * 4096)
        handle.write(noise)


@disaster
def damaged_files(home: Home, writers: Writers) -> str | None:
    """Every file, every damage: the next start works and what is said from then on is kept."""
    for file in (home.memory / name for name in FILES):
        for name, damage in DAMAGES.items():
            home.promised.clear()
            with home.bridge("victim") as bridge:
                session(home, bridge, Talk(f"v{home.tally.faults}"), turns=1)
                bridge.process.kill()  # its log stays behind
            home.promised.clear()
            if "log" in name and not side(file).exists():
                continue
            damage(file)
            home.tally.faults += 1
            kept: set[str] = set()
            for number in range(2):
                talk = Talk(f"after{home.tally.faults}.{number}")
                with home.bridge(talk.name) as bridge:
                    # The first call that meets the damage may say so; nothing after it.
                    session(home, bridge, talk, turns=2)
                    with home.alive(bridge, "session/end"):
                        ended = bridge.call("session/end", {"reason": "quit"}, timeout_s=70)
                        kept |= set(talk.keys) if ended["flushed"] else set()
            home.promise(*kept)
            home.tally.acknowledged += len(home.promised.get("shop", ()))
            with closing(sqlite3.connect(home.memory / "banks/shop.db")) as bank:
                rows = bank.execute("SELECT text FROM facts WHERE state = 'valid'").fetchall()
            held = Counter(key for row in rows for key in set(KEY.findall(row[0])))
            lost = [key for key in home.promised.get("shop", ()) if not held[key]]
            if lost or not kept:
                home.problem(f"{file.name}, {name}: {len(lost)} lost, {len(kept)} acknowledged")
    home.promised.clear()
    for path in home.memory.rglob("*.corrupt-*"):
        path.unlink()
    return None


@disaster
def upgrade_under_a_bridge(home: Home, writers: Writers) -> str | None:
    """A newer program has migrated the files: the older one writes nothing and says why."""
    with home.bridge("old") as bridge:
        session(home, bridge, Talk("old"), turns=1)
        versions = [set_version(home.memory / file, 99) for file in FILES]
        talk = Talk("newer")  # formats only grow: who has a file open may go on
        session(home, bridge, talk, turns=2)
        home.promise(*talk.keys)
        with home.bridge("again") as again:
            session(home, again, Talk("again"), turns=1)
            if again.call("status/get")["state"] != "off":
                home.problem("a file of a newer program was opened")
        for file, version in zip(FILES, versions, strict=True):
            if set_version(home.memory / file, version) != 99:
                home.problem(f"{file} of a newer program was changed")
        acknowledged(home, bridge, talk)
    return None


def set_version(file: Path, version: int) -> int:
    with closing(sqlite3.connect(file, timeout=20, isolation_level=None)) as connection:
        before = int(connection.execute("PRAGMA user_version").fetchone()[0])
        connection.execute(f"PRAGMA user_version = {version}")
    return before


@disaster
def servers(home: Home, writers: Writers) -> str | None:
    """A server that restarts under a request, and one that stored and did not say so."""
    server = MemoryServer()
    env = {
        "HINDSIGHT_MEM_BANK__BACKEND": "hindsight",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": server.url,
        "HINDSIGHT_MEM_HINDSIGHT__TIMEOUT_MS": "1000",
        "HINDSIGHT_MEM_QUEUE__BACKOFF_MS": "100",
        "HINDSIGHT_MEM_QUEUE__MAX_BACKOFF_MS": "500",
    }
    keys: list[str] = []
    for number, mode in enumerate(("cut", "stored-cut", "stored-late", "down", "ok")):
        home.tally.faults += 1
        server.mode, server.left = mode, 2
        talk = Talk(f"server{number}")
        with home.bridge(talk.name, env=env) as bridge:
            if mode == "down":
                server.stop()
            session(home, bridge, talk, turns=2)
            with home.alive(bridge, "session/end"):
                bridge.call("session/end", {"reason": "quit"}, timeout_s=70)
        if mode == "down":
            server.start()
        keys += talk.keys
    keys += home.promised.pop("shop", ())
    until = time.monotonic() + 60
    while time.monotonic() < until:
        home.run("queue", "flush", env=env)
        with home.bridge("last", env=env) as bridge, home.alive(bridge, "session/end"):
            if bridge.call("session/end", {"reason": "quit"}, timeout_s=70)["flushed"]:
                break
    held = Counter(key for text in server.documents.values() for key in set(KEY.findall(text)))
    lost, twice = [k for k in keys if not held[k]], [k for k in keys if held[k] > 1]
    home.tally.acknowledged += len(keys)
    home.tally.lost += len(lost)
    home.tally.doubled += len(twice)
    if lost or twice:
        home.problem(f"server: lost {lost[:5]}, doubled {twice[:5]}")
    server.stop()
    return None
