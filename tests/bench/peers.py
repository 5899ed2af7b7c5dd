"""This project's bank beside other memory libraries: same texts, same vectors, no model, a table.

usage: python tests/bench/peers.py [--eval DIR] [--venvs DIR] [--only NAMES] [--server VENV]

Each library runs in a virtual environment of its own under --venvs, made by pip when it is not
there; one that cannot be installed or run is skipped with the reason. 1,000 made-up texts and 200
questions are timed, with vectors that cost nothing; found facts are scored on the coding set with
the vectors of the extra ``semantic``, the same for all. --server names an environment made by
``tests/servers/hindsight.py install``; its model is scripted, its vectors are the same.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from retrieval import lines
from speed import Language

from hindsight_core.providers.semantic import SemanticEmbedder

HERE = Path(__file__).parent
PEERS = {"mem0": "mem0ai==2.2.1", "agentrecall": "agentrecall-db==0.2.0"}
NAMES = {
    "ours": "**this bank, words**",
    "ours-vectors": "**this bank, words and vectors**",
    "mem0": "mem0 2.2.1, local, no model",
    "agentrecall": "agentrecall-db 0.2.0",
    "server": "Hindsight server 1.1.0 over HTTP",
}
LIMIT_S = 1800
# Each library is given those of them that it takes.
FIELDS = ("id", "project", "text", "category", "tags", "created_at")


def task(data: Path | None) -> dict:
    """Texts and questions, with their vectors."""
    language = Language(1)
    made = {
        "texts": [language.text(12, 30) for _ in range(1000)],
        "questions": [language.text(5, 9) for _ in range(200)],
        "facts": [],
        "queries": [],
        "vectors": {},
    }
    if data is None:
        return made
    made["facts"] = [{key: fact[key] for key in FIELDS} for fact in lines(data / "facts.jsonl")]
    made["queries"] = [
        {key: query.get(key) for key in ("id", "project", "query", "context")}
        for query in lines(data / "queries.jsonl")
    ]
    embedder = SemanticEmbedder()
    for kind, texts in (
        ("document", [fact["text"] for fact in made["facts"]]),
        ("query", [query["query"] for query in made["queries"]]),
    ):
        for text, vector in zip(texts, asyncio.run(embedder.embed(texts, kind=kind)), strict=True):
            made["vectors"][f"{kind}:{text}"] = vector
    return made


def python_of(name: str, venvs: Path) -> Path:
    """The interpreter with the library; makes its environment."""
    if name not in PEERS:
        return Path(sys.executable)
    python = venvs / name / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venvs / name)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, PEERS[name], "numpy"], check=True, capture_output=True)
    return python


def measure(name: str, told: Path, folder: Path, options: argparse.Namespace) -> dict:
    environment = {**os.environ, "MEM0_DIR": str(folder)}
    server = HERE.parent / "servers/hindsight.py"
    if name == "server":
        start = [sys.executable, str(server), "start", str(options.server), str(folder / "state")]
        env = {**environment, "HINDSIGHT_TEST_EMBEDDER": "semantic"}
        said = subprocess.run(start, check=True, capture_output=True, text=True, env=env).stdout
        environment["HINDSIGHT_URL"] = said.strip().removeprefix("HINDSIGHT_URL=")
    command = [python_of(name, options.venvs), HERE / "peer_systems.py", name, told, folder]
    try:
        done = subprocess.run(
            list(map(str, command)),
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    finally:
        if name == "server":
            subprocess.run([sys.executable, str(server), "stop", str(folder / "state")], check=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "it failed")
    return json.loads(done.stdout.splitlines()[-1])


def quality(found: dict, data: Path, scorer_path: Path, folder: Path) -> list[str]:
    spec = importlib.util.spec_from_file_location("score_retrieval", scorer_path)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    run = folder / "run.jsonl"
    run.write_text("".join(json.dumps(row) + "\n" for row in found["ranked"]))
    overall = scorer.evaluate(run, data)[0]["overall"]
    return [f"{overall[key]:.3f}" for key in ("ndcg", "r10", "current_first")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--eval", type=Path, help="folder of the coding evaluation set")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--venvs", type=Path, default=Path(".ci/cache/peers"))
    parser.add_argument("--server", type=Path, help="environment with a Hindsight server")
    parser.add_argument("--only", default=",".join(NAMES))
    options = parser.parse_args()
    data = options.eval / options.split if options.eval else None
    columns = ["add ms", "1,000 adds s", "search p50 ms", "p95 ms", "memory MB", "disk MB"]
    columns += ["nDCG@10", "R@10", "current above stale"]
    print("| | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|")
    with tempfile.TemporaryDirectory() as top:
        # PostgreSQL refuses to run as root; nobody must be able to come in.
        Path(top).chmod(0o755)
        told = Path(top) / "task.json"
        made = task(data)
        told.with_suffix(".vectors").write_text(json.dumps(made.pop("vectors")), encoding="utf-8")
        told.write_text(json.dumps(made), encoding="utf-8")
        for name in options.only.split(","):
            folder = Path(top) / name
            folder.mkdir(mode=0o755)
            try:
                if name == "server" and options.server is None:
                    raise RuntimeError("no --server")
                found = measure(name, told, folder, options)
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                print(f"| {NAMES[name]} | skipped: {error} " + "| " * (len(columns) - 1) + "|")
                continue
            keys = ("add_ms", "thousand_s", "search_ms", "search_p95_ms", "memory_mb", "disk_mb")
            cells = [f"{found[key]:.{0 if key == 'memory_mb' else 1}f}" for key in keys]
            scores = ["-"] * 3
            if data is not None:
                scores = quality(found, data, options.eval / "score_retrieval.py", folder)
            print(f"| {NAMES[name]} | " + " | ".join([*cells, *scores]) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
