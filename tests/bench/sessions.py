"""Memory quality: ``python tests/bench/sessions.py --eval DIR [--base-url URL --model NAME]``.

Runs ``hindsight-mem remember`` over every session of an evaluation folder in an empty home, scores
what the banks hold with the folder's own scorer, and searches everything written for secrets.
Without a model, or with any OpenAI-compatible endpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def mem(*arguments: str, home: Path) -> str:
    """Run one command in an empty folder; its standard output."""
    command = [sys.executable, "-m", "hindsight_core", *arguments]
    home.mkdir(parents=True, exist_ok=True)
    env = {**os.environ, "HINDSIGHT_MEM_HOME": str(home)}
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def stored(session: dict[str, str], folder: Path, home: Path) -> list[str]:
    """The live facts of one session's bank, after memorizing it twice."""
    for _ in range(2):
        mem("remember", "--bank", session["id"], str(folder / session["file"]), home=home)
    listed = mem("facts", "list", "--bank", session["id"], "--limit", "500", "--json", home=home)
    return [fact["text"] for fact in json.loads(listed)["facts"]]


def main() -> int:
    """Run and score; the scorer's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--eval", type=Path, required=True, help="folder with dev/ and the scorer")
    parser.add_argument("--base-url", help="of an OpenAI-compatible endpoint")
    parser.add_argument("--model", help="its model")
    chosen = parser.parse_args()
    if chosen.base_url:
        os.environ["HINDSIGHT_MEM_MODELS__BASE_URL"] = chosen.base_url
        os.environ["HINDSIGHT_MEM_MODELS__MODEL"] = chosen.model or ""
    folder = chosen.eval / "dev"
    if not (folder / "sessions.jsonl").is_file():
        print(f"skipped: no {folder / 'sessions.jsonl'}")
        return 0
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        result = home / "stored.jsonl"
        lines = []
        for line in (folder / "sessions.jsonl").read_text("utf-8").splitlines():
            session = json.loads(line)
            facts = stored(session, folder, home / "memory")
            lines.append(json.dumps({"session_id": session["id"], "facts": facts}) + "\n")
        result.write_text("".join(lines), "utf-8")
        scorer = chosen.eval / "score_sessions.py"
        command = [sys.executable, str(scorer), str(result), "--scan", str(home / "memory")]
        return subprocess.run([*command, "--strict"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
