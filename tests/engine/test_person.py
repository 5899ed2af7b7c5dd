"""The user block: epochs, frozen bytes, what a host's system prompt becomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hindsight_core.assembly import impersonal
from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.config.settings import Settings
from hindsight_core.engine import person as person_module
from hindsight_core.engine.core import MemoryEngine
from hindsight_core.engine.notices import Notices
from hindsight_core.engine.person import Person
from hindsight_core.errors import BankError
from hindsight_core.memory import Document, Fact
from hindsight_core.prompts import Prompts
from hindsight_core.testing.banks import FakeBank
from hindsight_core.testing.clock import FakeClock
from hindsight_core.transcript.sanitise import Sanitiser

MARKER = "<!-- hindsight:user -->"
PROMPT = f"You are an agent.\n\n{MARKER}\nBe brief.\n"
GONE = "You are an agent.\n\nBe brief.\n"
TEA = "The user prefers short answers"
CAT = "The user works in Berlin"


class Outlet:
    """A host that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.capabilities: frozenset[str] = frozenset()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))

    def bridge(self, capabilities: frozenset[str]) -> Outlet:
        return self

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(method)

    def lines(self) -> list[str]:
        return [p["line"] for m, p in self.told if m == "status/changed"]

    def notices(self) -> list[str]:
        return [p["text"] for m, p in self.told if m == "notify"]


class Host:
    """One session of a host over a real engine and real files."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.project = folder / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.banks = folder / "memory" / "banks"
        self.outlet = Outlet()
        env = {
            "HINDSIGHT_MEM_HOME": str(folder / "memory"),
            "HOME": str(folder),
            "HINDSIGHT_MEM_BANK__ID": "demo",
            "HINDSIGHT_MEM_BANK__BACKEND": "sqlite",
            "HINDSIGHT_MEM_MODELS__PROVIDER": "none",
            **{f"HINDSIGHT_MEM_{name}": value for name, value in settings.items()},
        }
        self.engine = MemoryEngine(host="generic", env=env, outlet=self.outlet)

    async def start(self, *, trusted: bool = True, **params: object) -> dict[str, Any]:
        opened = await self.engine.call(
            "initialize",
            {
                "cwd": str(self.project),
                "session": {"id": "s1", "trusted": trusted},
                "capabilities": {"status": True},
            },
        )
        await self.engine.call("session/start", {"reason": "startup", **params})
        return opened

    async def prompt(self, text: str = PROMPT) -> str | None:
        placed = await self.engine.call("system/prompt", {"system": text})
        return placed["system"]

    async def learn(self, *texts: str, bank: str = "me") -> None:
        held = SqliteBank(bank, self.banks / f"{bank}.db")
        facts = tuple(Fact(id=f"f{text}", text=text) for text in texts)
        await held.retain(Document(id="/".join(texts), text="", facts=facts))
        await held.close()

    async def facts(self, bank: str) -> list[Fact]:
        held = SqliteBank(bank, self.banks / f"{bank}.db")
        page = await held.list_facts(limit=100)
        await held.close()
        return list(page.facts)

    async def tool(self, name: str, **arguments: object) -> dict[str, Any]:
        return await self.engine.call("tool/call", {"name": name, "arguments": arguments})


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Any]:
    made: list[Host] = []

    def make(user: str = "me", **settings: str) -> Host:
        made.append(Host(tmp_path, BANK__USER_ID=user, **settings))
        return made[-1]

    yield make
    for one in made:
        await one.engine.close()


@pytest.mark.spec("pi/UB-01", "pi/G-04")
@pytest.mark.parametrize("user", ["", "  "])
async def test_without_a_user_bank_there_is_nothing_of_it(host: Any, user: str) -> None:
    made = host(user)
    opened = await made.start(system=PROMPT)

    assert "hindsight_retain_user" not in {tool["name"] for tool in opened["tools"]}
    assert await made.prompt() is None
    assert not [line for line in made.outlet.lines() if "≡" in line]
    assert [file.name for file in made.banks.glob("*.db")] == ["demo.db"]


@pytest.mark.spec("pi/UB-05", "pi/UB-08", "pi/UB-09", "pi/UB-12")
async def test_the_block_stands_at_the_marker_and_its_bytes_do_not_change(host: Any) -> None:
    made = host()
    await made.learn(TEA)
    await made.start(system=PROMPT)

    first = await made.prompt()
    await made.learn(CAT)
    await made.engine.call("compact/before", {"reason": "manual"})
    later = [await made.prompt() for _ in range(3)]
    await made.engine.call("compact/after", {})
    after = await made.prompt()

    head, _, rest = first.partition('<hindsight-memory kind="user">\n')
    assert head == "You are an agent.\n\n"
    assert rest.endswith("</hindsight-memory>\nBe brief.\n")
    assert f"- {TEA}" in first
    assert set(later) == {first}
    assert TEA in after and CAT in after
    assert set([await made.prompt(), await made.prompt()]) == {after}


@pytest.mark.spec("pi/UB-12")
async def test_another_process_makes_the_same_bytes(host: Any) -> None:
    made = host()
    await made.learn(CAT, TEA)
    prompts = []
    for _ in range(2):
        await made.start(system=PROMPT)
        prompts.append(await made.prompt())
        await made.engine.call("session/end", {"reason": "reload"})

    assert prompts[0] == prompts[1]


@pytest.mark.spec("pi/UB-09")
async def test_every_marker_gets_the_block_and_no_marker_nothing(host: Any) -> None:
    made = host()
    await made.learn(TEA)
    await made.start()

    assert await made.prompt("You are an agent.\n") is None
    assert (await made.prompt(f"{MARKER}\nAnd:\n{MARKER}\n")).count(f"- {TEA}") == 2


@pytest.mark.spec("pi/UB-05")
@pytest.mark.parametrize(("trusted", "text"), [(True, TEA), (False, CAT)])
async def test_the_marker_is_looked_for_in_the_files_of_a_trusted_project_and_of_ones_own(
    host: Any, tmp_path: Path, trusted: bool, text: str
) -> None:
    made = host()
    await made.learn(TEA, CAT)
    (made.project / "AGENTS.md").write_text(
        "# Project\n<!-- hindsight:user query: short answers -->"
    )
    own = tmp_path / "AGENTS.md"
    own.write_text("# Mine\n<!-- hindsight:user query: Berlin -->\n")

    await made.start(trusted=trusted, instructions=[str(tmp_path / "missing.md"), str(own)])

    assert text in await made.prompt()


@pytest.mark.spec("pi/UB-05")
async def test_one_seen_in_an_earlier_prompt_goes_before_the_files(host: Any) -> None:
    made = host()
    await made.learn(TEA)
    await made.learn(CAT)
    (made.project / "AGENTS.md").write_text("<!-- hindsight:user query: short answers -->")

    await made.start(system="<!-- hindsight:user query: Berlin -->")

    placed = await made.prompt()
    assert CAT in placed and TEA not in placed


@pytest.mark.spec("pi/UB-04", "pi/UB-10")
async def test_a_refused_marker_is_taken_out_and_told_once(host: Any) -> None:
    made = host()
    await made.learn(TEA)
    broken = PROMPT.replace("user -->", "user limit: 3 -->")
    await made.start(system=broken)

    assert [await made.prompt(broken) for _ in range(2)] == [GONE, GONE]
    (told,) = [text for text in made.outlet.notices() if "marker" in text]
    assert "limit goes with query only" in told


@pytest.mark.spec("pi/UB-07", "pi/UB-10")
async def test_an_empty_bank_leaves_no_block(host: Any) -> None:
    made = host()
    await made.start(system=PROMPT)

    assert await made.prompt() == GONE


@pytest.mark.spec("pi/UB-02")
async def test_what_a_session_writes_by_itself_never_reaches_it(host: Any) -> None:
    made = host(MEMORIZE__EVERY_TURNS="1")
    await made.start(system=PROMPT)
    path = [
        {"id": "a", "role": "user", "parts": [{"type": "text", "text": f"Remember that {TEA}."}]},
        {"id": "b", "role": "assistant", "parts": [{"type": "text", "text": "I will."}]},
    ]
    await made.engine.call("turn/end", {"turnId": "t1", "entries": path, "aborted": False})
    await made.engine.call("compact/before", {"entries": path, "reason": "manual"})
    await made.engine.call("session/end", {"reason": "quit"})

    assert [fact.text for fact in await made.facts("demo")] != []
    assert await made.facts("me") == []


@pytest.mark.spec("pi/UB-02")
async def test_the_pipeline_that_writes_by_itself_does_not_know_it(host: Any) -> None:
    made = host()
    await made.start()
    _, live = made.engine.session

    assert await live.deciding.write((), ()) == ("demo",)
    assert impersonal(live.runtime.settings).bank.user_id is None
    assert live.runtime.settings.bank.user_id == "me"


@pytest.mark.spec("pi/G-04", "pi/UB-11", "pi/W-05")
async def test_the_tool_writes_there_and_marks_the_block_stale(host: Any) -> None:
    made = host()
    await made.learn(TEA)
    opened = await made.start(system=PROMPT)
    before = await made.prompt()

    result = await made.tool("hindsight_retain_user", content=CAT, kind="decision")

    (tool,) = [t for t in opened["tools"] if t["name"] == "hindsight_retain_user"]
    assert tool["parameters"]["required"] == ["content"]
    assert result["content"] == "retained"
    assert result["details"]["facts"][0].startswith("me:")
    (kept,) = [fact for fact in await made.facts("me") if fact.text == CAT]
    assert kept.tags == ("me", "user-manual", "decision")
    assert kept.metadata["source"].endswith("/user-note")
    assert kept.metadata["scope"] == "user"
    assert "project" not in kept.metadata
    assert [fact.text for fact in await made.facts("demo")] == []
    assert await made.prompt() == before
    assert "≡1→" in made.outlet.lines()[-1]
    await made.engine.call("compact/after", {})
    assert CAT in await made.prompt()
    assert "≡2" in made.outlet.lines()[-1] and "→" not in made.outlet.lines()[-1].split("≡")[1][:3]


async def test_what_the_prompt_says_is_not_recalled_as_well(host: Any) -> None:
    made = host(RECALL__USER_BANK="true")
    await made.learn(TEA)
    await made.start()
    ask = {"turnId": "t", "prompt": "Which answers does the user prefer, short ones?"}

    await made.prompt("No marker.")
    without = await made.engine.call("turn/start", {**ask, "entries": []})
    await made.engine.call("compact/after", {})
    await made.prompt()
    placed = await made.engine.call("turn/start", {**ask, "entries": []})

    assert TEA in without["blocks"][0]["text"]
    assert not [block for block in placed["blocks"] if TEA in block["text"]]


# -- a bank that fails or is slow --------------------------------------------------------------


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(person_module, "WAIT_S", 0.05)

    def make(bank: FakeBank) -> Any:
        told: list[str] = []
        states: list[tuple[str, int]] = []
        runtime = SimpleNamespace(
            open_bank=lambda bank_id: bank,
            settings=Settings.model_validate({"bank": {"user_id": "me"}}),
            sanitiser=Sanitiser(),
            prompts=Prompts(),
        )
        made = Person(
            runtime,  # type: ignore[arg-type]
            SimpleNamespace(loaded=None),  # type: ignore[arg-type]
            notices=Notices(lambda level, text: told.append(text)),
            changed=lambda state, facts: states.append((state, facts)),
        )
        return SimpleNamespace(person=made, told=told, states=states, bank=bank)

    return make


def holding(*texts: str) -> FakeBank:
    bank = FakeBank("me", clock=FakeClock(datetime(2026, 4, 1, tzinfo=UTC)))
    bank.facts = {text: Fact(id=text, text=text) for text in texts}
    return bank


@pytest.mark.spec("pi/UB-10")
async def test_a_first_failure_leaves_no_block_and_is_told_once(person: Any) -> None:
    made = person(holding(TEA))
    made.bank.failing = BankError("the bank is ill", retryable=True)
    for _ in range(2):
        made.person.begin({"system": PROMPT})
        assert await made.person.prompt(PROMPT) == GONE

    (told,) = made.told
    assert "nothing of it is in the prompt" in told and "the bank is ill" in told
    assert "ill" not in GONE
    assert made.states[-1] == ("unavailable", 0)


@pytest.mark.spec("pi/UB-10")
async def test_a_failure_later_leaves_the_earlier_block(person: Any) -> None:
    made = person(holding(TEA))
    made.person.begin({"system": PROMPT})
    first = await made.person.prompt(PROMPT)
    made.bank.failing = BankError("the bank is ill", retryable=True)
    made.person.begin({})

    assert await made.person.prompt(PROMPT) == first
    assert TEA in first
    assert made.states == [("shown", 1), ("stale", 1)]
    assert made.told == []


@pytest.mark.spec("pi/UB-09")
async def test_what_comes_after_the_first_turn_waits_for_the_next_epoch(person: Any) -> None:
    gate = asyncio.Event()

    class Slow(FakeBank):
        async def list_facts(self, **options: object) -> Any:
            await gate.wait()
            return await super().list_facts(**options)

    bank = Slow("me", clock=FakeClock(datetime(2026, 4, 1, tzinfo=UTC)))
    bank.facts = {TEA: Fact(id=TEA, text=TEA)}
    made = person(bank)
    made.person.begin({"system": PROMPT})
    first = await made.person.prompt(PROMPT)
    gate.set()
    await asyncio.sleep(0.01)
    second = await made.person.prompt(PROMPT)
    made.person.begin({})

    assert first == second == GONE
    assert made.states[0] == ("stale", 1)
    assert TEA in await made.person.prompt(PROMPT)
    await made.person.close()


@pytest.mark.spec("pi/UB-05", "pi/UB-06")
async def test_without_a_marker_nothing_is_asked(person: Any) -> None:
    made = person(holding(TEA))
    made.person.begin({"system": "No marker."})

    assert await made.person.prompt("No marker.") is None
    await made.person.close()
    assert made.bank.calls == []
