"""What a spawned hook costs its agent, beside bare Python in the same run, as a table.

usage: python tests/bench/hooks.py [--runs 40] [--facts 1000] [--burst 0]

``--burst N`` also starts N hooks at the same moment, with no daemon running, and counts what
became of them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hindsight_core.host import hook_program, program

ASK = "Which port does the API gateway listen on?"
FACT = "The API gateway listens on port 8443 behind nginx."


class Home:
    """A home with a bank, and hooks as an agent starts them."""

    def __init__(self, folder: Path, *, facts: int) -> None:
        self.memory = folder / "memory"
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {**kept(), "HOME": str(folder), "HINDSIGHT_MEM_HOME": str(self.memory)}
        self.program = [*program()]
        self.hook_program = [*hook_program()]
        self._mem("config", "set", "bank.id", "auto")
        file = folder / "facts.jsonl"
        texts = [
            FACT,
            *(f"Service number {n} keeps its state in bucket {n}." for n in range(facts)),
        ]
        file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        self._mem("bank", "import", str(file))

    def hook(self, event: str, session: str, **env: str) -> float:
        """One hook; seconds from its start to its end."""
        begun = time.perf_counter()
        process = self.start(event, session, **env)
        process.communicate()
        assert process.returncode == 0
        return time.perf_counter() - begun

    def start(self, event: str, session: str, **env: str) -> subprocess.Popen[bytes]:
        """A hook that runs and has its input."""
        payload = {"session_id": session, "cwd": str(self.project), "prompt": ASK}
        process = subprocess.Popen(
            [*self.hook_program, "hook", "claude-code", event],
            cwd=self.project, env={**self.env, **env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def daemons(self) -> list[int]:
        """Processes that serve this home."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"hindsight_core.daemon" in words and str(self.memory).encode() in words:
                found.append(int(folder.name))
        return found

    def stop(self) -> None:
        """End the daemon, and wait for it."""
        for pid in self.daemons():
            os.kill(pid, signal.SIGTERM)
        while self.daemons():
            time.sleep(0.05)

    def _mem(self, *arguments: str) -> None:
        subprocess.run(
            [*self.program, *arguments],
            cwd=self.project, env=self.env, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip


def kept() -> dict[str, str]:
    """This environment without what would change what is measured."""
    odd = ("HINDSIGHT_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not any(o in name for o in odd)}


def bare() -> float:
    """Python that does nothing."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=kept())
    return time.perf_counter() - begun


def row(name: str, runs: int, once: Callable[[], float]) -> None:
    """Measure in turn with bare Python, so that both meet the same machine; print a line."""
    once()
    pairs = [(once() * 1000, bare() * 1000) for _ in range(runs)]
    times = sorted(mine for mine, _ in pairs)
    middle, beside = statistics.median(times), statistics.median(other for _, other in pairs)
    print(
        f"| {name:35} | {middle:7.1f} | {times[int(runs * 0.95)]:7.1f} | {beside:7.1f} | "
        f"{middle / beside:5.1f}x |"
    )


def burst(home: Home, number: int) -> None:
    """Many hooks at one moment and no daemon: one may be started, every prompt goes through."""
    home.stop()
    begun = time.perf_counter()
    started = [home.start("UserPromptSubmit", f"burst-{n}") for n in range(number)]
    ended = [(process, *process.communicate()) for process in started]
    took = time.perf_counter() - begun
    well = sum(
        p.returncode == 0 and not err and json.loads(out) is not None for p, out, err in ended
    )
    knew = sum(b"8443" in out for _, out, _ in ended)
    print(f"\n{number} hooks at once: {well} ended well, {knew} with the fact, {took:.1f} s, "
          f"{len(home.daemons())} daemon")  # fmt: skip


@contextmanager
def a_home(facts: int) -> Iterator[Home]:
    """A home that is gone afterwards, and its daemon with it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder), facts=facts)
        try:
            yield home
        finally:
            home.stop()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--facts", type=int, default=1_000)
    parser.add_argument("--burst", type=int, default=0)
    options = parser.parse_args()
    runs = options.runs
    with a_home(options.facts) as home:
        print(f"| {'what':35} |  p50 ms |  p95 ms | bare ms |  ratio |")
        print("|---|---|---|---|---|")
        off = {"HINDSIGHT_MEM_DAEMON": "off"}
        row(
            "prompt, answered in its own process", max(5, runs // 4),
            lambda: home.hook("UserPromptSubmit", "alone", **off),
        )  # fmt: skip

        def first() -> float:
            home.stop()
            return home.hook("UserPromptSubmit", "first")

        row("prompt that starts the daemon", max(5, runs // 4), first)
        for event in ("UserPromptSubmit", "Stop"):
            row(f"{event}, daemon up", runs, lambda event=event: home.hook(event, "warm"))
        if options.burst:
            burst(home, options.burst)


if __name__ == "__main__":
    main()
