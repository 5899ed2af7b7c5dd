"""Command line, real pi and omp with a bank on a real Hindsight server, also while it is down."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.testing.agent_server import texts

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

VERSION = os.environ.get("HINDSIGHT_TEST_SERVER_VERSION", "1.1.0")
CACHE = Path(__file__).parents[2] / ".ci/cache"
VENV = Path(os.environ.get("HINDSIGHT_TEST_SERVER", CACHE / f"hindsight-{VERSION}"))
SCRIPT = Path(__file__).parents[1] / "servers/hindsight.py"
SESSION = Path(__file__).parents[2] / "examples/session.jsonl"
PORT = "checkout service listens on port 7443."
HERON = "staging cluster is called heron."
NAMES = (
    "avocet bittern cormorant dunlin egret fulmar gannet harrier ibis jackdaw kestrel lapwing "
    "merlin nightjar osprey plover quail redshank sandpiper turnstone"
).split()
BLOCK = "<hindsight-memory"


class HindsightServer:
    """A server that can go away and come back with its data."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.url = ""

    def run(self, command: str, *arguments: object) -> str:
        """A command of the script that knows how a server is started."""
        done = subprocess.run(
            [sys.executable, str(SCRIPT), command, *map(str, arguments)],
            check=True, capture_output=True, text=True, timeout=900,
        )  # fmt: skip
        return done.stdout.strip().removeprefix("HINDSIGHT_URL=")

    def start(self) -> None:
        """Install what is missing, then start."""
        self.run("install", VENV, "--version", VERSION)
        self.url = self.run("start", VENV, self.state)

    def pause(self) -> None:
        """Go away."""
        self.run("pause", self.state)

    def resume(self) -> None:
        """Come back."""
        self.run("resume", self.state)

    def get(self, path: str) -> Any:
        """What the server itself answers."""
        with urllib.request.urlopen(f"{self.url}/v1/default/{path}", timeout=20) as answer:
            return json.loads(answer.read())

    def facts(self) -> list[str]:
        """Texts of the facts of its only bank; observations that it made of them are left out."""
        (bank,) = self.get("banks")["banks"]
        listed = self.get(f"banks/{bank['bank_id']}/memories/list?limit=500")
        return [item["text"] for item in listed["items"] if item["fact_type"] != "observation"]


@pytest.fixture
def hindsight(loopback: None) -> Iterator[HindsightServer]:
    """A server of the test's own; skips where none can be installed."""
    # PostgreSQL may have to run as another user, to whom pytest's own folders are closed.
    folder = Path(tempfile.mkdtemp(prefix="hindsight-server-"))
    folder.chmod(0o755)
    server = HindsightServer(folder / "state")
    try:
        server.start()
    except (subprocess.SubprocessError, OSError) as error:
        said = getattr(error, "stderr", None) or error
        shutil.rmtree(folder)
        pytest.skip(f"no Hindsight server {VERSION}: {str(said)[-300:]}")
    yield server
    server.run("stop", server.state)
    folder.rmdir()


@pytest.fixture
def pi_there(pi: Any, hindsight: HindsightServer) -> Any:
    """pi with memory installed and its bank on the server."""
    pi.mem("install", "pi")
    pi.env["HINDSIGHT_MEM_BANK__BACKEND"] = "hindsight"
    pi.env["HINDSIGHT_MEM_HINDSIGHT__BASE_URL"] = hindsight.url
    return pi


@pytest.mark.spec("pi/M-01", "br/BR-11")
def test_the_second_session_knows_what_the_first_put_on_the_server(
    pi_there: Any, hindsight: HindsightServer
) -> None:
    pi_there.say("-p", f"Remember that the {PORT}")
    pi_there.say("-p", f"Remember that the {HERON}")
    stored = hindsight.facts()
    rpc = pi_there.rpc()
    rpc.prompt("Which port does the checkout service listen on?")
    rpc.prompt("And what is the port of that checkout service again?")
    assert rpc.close() == 0

    assert sum("7443" in fact for fact in stored) == 1
    assert sum("heron" in fact for fact in stored) == 1
    for request in pi_there.server.conversation()[-2:]:
        (block,) = [text for text in texts(request) if BLOCK in text]
        assert block.startswith('<hindsight-memory kind="recall">')
        assert block.rstrip().endswith("</hindsight-memory>")
        assert block.count(PORT) == 1
        assert "heron" not in block
        assert "\n".join(texts(request)).count(PORT) == 1
    assert not list(pi_there.memory.glob("banks/*.db"))
    session = pi_there.session_files()[-1].read_text()
    assert BLOCK not in session
    assert "7443" not in session


@pytest.mark.spec("s1/S-ID-5", "s1/S-RET-1")
def test_omp_appends_to_one_document_a_session_and_recalls_from_it(
    omp: Any, hindsight: HindsightServer
) -> None:
    omp.mem("install", "omp")
    omp.env |= {
        "HINDSIGHT_MEM_PROFILE": "s1enhanced",
        "HINDSIGHT_MEM_RECALL__TYPES": "world,experience",
        "HINDSIGHT_MEM_BANK__BACKEND": "hindsight",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": hindsight.url,
    }
    rpc = omp.rpc().ready()
    rpc.prompt(f"Remember that the {PORT}")
    rpc.prompt(f"Remember that the {HERON}")
    assert rpc.close() == 0
    rpc = omp.rpc("--continue").ready()
    rpc.prompt("What is there to do?")
    assert rpc.close() == 0
    omp.mem("queue", "flush")
    (bank,) = hindsight.get("banks")["banks"]
    listed = hindsight.get(f"banks/{bank['bank_id']}/documents")["items"]

    (document,) = [item for item in listed if item["id"].startswith("omp-session:")]
    text = hindsight.get(f"banks/{bank['bank_id']}/documents/{document['id']}")["original_text"]
    assert [text.count(words) for words in (PORT, HERON, "to do?")] == [1, 1, 1]
    assert any("7443" in fact for fact in hindsight.facts())
    whole = "\n".join(texts(omp.ask("Which port does the checkout service listen on?")))
    assert whole.count(BLOCK) == 1
    assert "7443" in whole


@pytest.mark.spec("br/BR-01", "br/BR-11")
@pytest.mark.parametrize("deliverer", ["queue flush", "next session"])
def test_while_the_server_is_down_turns_go_on_and_writes_wait(
    pi_there: Any, hindsight: HindsightServer, deliverer: str
) -> None:
    pi_there.say("-p", f"Remember that the {PORT}")
    hindsight.pause()
    rpc = pi_there.rpc()
    rpc.prompt(f"Remember that the {HERON}")
    rpc.prompt("Which port does the checkout service listen on?")
    assert rpc.close() == 0
    waiting = json.loads(pi_there.mem("queue", "list", "--json"))

    assert len(pi_there.server.conversation()) == 3
    assert hindsight.url not in json.dumps([r.body for r in pi_there.server.conversation()])
    assert BLOCK not in "\n".join(texts(pi_there.server.conversation()[-1]))
    (notice,) = rpc.notices()
    assert notice.startswith("The bank is away")
    assert (waiting["pending"], waiting["dead"]) == (1, 0)

    hindsight.resume()
    if deliverer == "queue flush":
        assert json.loads(pi_there.mem("queue", "flush", "--json"))["sent"] == 1
    pi_there.say("-p", "Hello there.")
    pi_there.say("-p", "Hello again.")

    stored = hindsight.facts()
    assert sum("heron" in fact for fact in stored) == 1
    assert sum("7443" in fact for fact in stored) == 1
    assert json.loads(pi_there.mem("queue", "list", "--json"))["total"] == 0


@pytest.mark.spec("br/BR-01", "br/BR-11")
def test_twenty_turns_without_the_server_are_stored_once_each_when_it_is_back(
    pi_there: Any, hindsight: HindsightServer
) -> None:
    pi_there.say("-p", f"Remember that the {PORT}")
    hindsight.pause()
    rpc = pi_there.rpc()
    for name in NAMES:
        rpc.prompt(f"Remember that the {name} relay is in rack {len(name)}{name[0]}.")
    assert rpc.close() == 0
    assert len(pi_there.server.conversation()) == 21

    hindsight.resume()
    pi_there.say("-p", "Hello there.")
    json.loads(pi_there.mem("queue", "flush", "--json"))
    stored = hindsight.facts()
    assert {name: sum(name in fact for fact in stored) for name in NAMES} == dict.fromkeys(NAMES, 1)
    assert json.loads(pi_there.mem("queue", "list", "--json"))["total"] == 0


@pytest.mark.spec("s1/S-RET-1", "s1/S-RET-9", "s1/S-CUR-1", "s1/S-ID-5")
def test_the_transcript_of_s1enhanced_is_there_once_over_outage_kill_and_resume(
    pi_there: Any, hindsight: HindsightServer
) -> None:
    pi_there.mem("config", "set", "profile", "s1enhanced")

    def relay(rpc: Any, number: int) -> None:
        rpc.prompt(f"The {NAMES[number]} relay is in rack {number}.")

    rpc = pi_there.rpc()
    relay(rpc, 0)
    relay(rpc, 1)
    hindsight.pause()
    relay(rpc, 2)
    relay(rpc, 3)
    rpc.kill()
    hindsight.resume()
    rpc = pi_there.rpc("--continue")
    relay(rpc, 4)
    assert rpc.close() == 0
    pi_there.mem("queue", "retry")
    pi_there.mem("queue", "flush")

    (bank,) = hindsight.get("banks")["banks"]
    path = f"banks/{bank['bank_id']}/documents"
    listed = hindsight.get(f"{path}?limit=50")["items"]
    kept = [hindsight.get(f"{path}/{item['id']}")["original_text"] for item in listed]
    said = "\n".join(kept)
    counts = {name: said.count(f"The {name} relay is in rack") for name in NAMES[:5]}
    assert counts == dict.fromkeys(NAMES[:5], 1)
    assert any(item["id"].startswith("pi-session:") for item in listed)
    assert json.loads(pi_there.mem("queue", "list", "--json"))["total"] == 0


@pytest.mark.spec("br/BR-11", "br/BR-16")
def test_the_command_line_remembers_and_recalls_on_the_server(
    hindsight: HindsightServer, tmp_path: Path
) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HINDSIGHT_MEM_HOME": str(tmp_path / "home"),
        "HINDSIGHT_MEM_BANK__BACKEND": "hindsight",
        "HINDSIGHT_MEM_HINDSIGHT__BASE_URL": hindsight.url,
    }

    def mem(*arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments, "--bank", "booking", "--json"],
            env=env, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    mem("remember", str(SESSION))
    stored = hindsight.facts()
    assert sum("acquirer charges twice" in fact for fact in stored) == 1
    hits = mem("recall", "why PostgreSQL and not MongoDB?")["hits"]
    assert "transactions" in hits[0]["text"]
    mem("remember", str(SESSION))
    assert sorted(hindsight.facts()) == sorted(stored)


@pytest.mark.spec("pi/M-04", "s1/S-Q-1")
def test_what_other_plugins_left_behind_is_neither_repeated_nor_lost(
    pi: Any, hindsight: HindsightServer
) -> None:
    pi.say("-p", f"Remember that the {PORT}")
    [path] = pi.session_files()
    *_, line = lines = path.read_text().splitlines()
    last = json.loads(line)
    state = {
        "type": "custom", "customType": "hindsight-state", "data": {"watermark": last["id"]},
        "id": "0a1b2c3d", "parentId": last["id"], "timestamp": last["timestamp"],
    }  # fmt: skip
    path.write_text("\n".join([*lines, json.dumps(state)]) + "\n")
    waiting = pi.project / ".pi/hindsight/retain-queue.jsonl"
    waiting.parent.mkdir(parents=True)
    item = {"content": "Invoices are numbered by year.", "context": "shop", "tags": ["a"]}
    job = {"id": "j", "bankId": "proj", "documentId": "pi-explicit:1", "item": item, "retries": 1}
    waiting.write_text(json.dumps(job) + "\n")
    pi.mem("install", "pi")
    pi.mem("config", "set", "bank.id", "auto")
    pi.env["HINDSIGHT_MEM_BANK__BACKEND"] = "hindsight"
    pi.env["HINDSIGHT_MEM_HINDSIGHT__BASE_URL"] = hindsight.url

    # The watermark counts by itself, what waited has to be asked for.
    pi.say("-p", "--continue", f"Remember that the {HERON}")
    pi.mem("import", "state")
    pi.mem("import", "state")
    pi.mem("queue", "flush")

    extracted = [r for r in pi.server.requests if r.stage == "memorize/extract"]
    assert extracted
    assert not any("7443" in json.dumps(r.body) for r in extracted)
    documents = hindsight.get("banks/proj/documents?limit=50")["items"]
    assert sum(document["id"] == "pi-explicit:1" for document in documents) == 1
    stored = hindsight.facts()
    assert sum("heron" in fact for fact in stored) == 1
    assert sum("Invoices" in fact for fact in stored) == 1
    assert not any("7443" in fact for fact in stored)
