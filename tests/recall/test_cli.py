"""The commands recall, reflect and explain on a real bank in an empty home."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.banks.sqlite import SqliteBank, bank_path
from hindsight_core.cli.entry import run
from hindsight_core.config.paths import Paths
from hindsight_core.memory import Fact

FACTS = (
    Fact(
        "f1", "CART_TTL is 30 minutes", kind="decision", timestamp=datetime(2026, 3, 1, tzinfo=UTC)
    ),
    Fact("f2", "The importer retries 5 times", timestamp=datetime(2026, 2, 1, tzinfo=UTC)),
    Fact("f3", "Deploys go through make ship", tags=("ops",)),
)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A home with one bank; gives a function that runs a command on it."""
    home = tmp_path / "home"
    monkeypatch.setenv("HINDSIGHT_MEM_HOME", str(home))
    monkeypatch.chdir(tmp_path)

    async def fill() -> None:
        path = bank_path(Paths.from_env({"HINDSIGHT_MEM_HOME": str(home)}).banks, "shop")
        bank = SqliteBank("shop", path)
        await bank.import_facts(FACTS)
        await bank.close()

    asyncio.run(fill())
    return home


@pytest.fixture
def command(shop, capsys):
    def call(*arguments: str):
        code = run([*arguments, "--bank", "shop"])
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


@pytest.fixture
def data(command):
    def call(*arguments: str):
        code, out, _ = command(*arguments, "--json")
        return code, json.loads(out)

    return call


def test_search(data):
    code, found = data("recall", "importer retries")
    assert (code, found["outcome"]) == (0, "ok")
    assert found["hits"][0] == {
        "id": "shop:f2",
        "text": "The importer retries 5 times",
        "score": found["hits"][0]["score"],
        "bank": "shop",
        "kind": "fact",
        "timestamp": "2026-02-01T00:00:00+00:00",
    }


@pytest.mark.spec("br/BR-35")
def test_nothing_found_is_empty_and_exit_0(data, command):
    assert data("recall", "zebra") == (0, {"outcome": "empty", "hits": []})
    assert command("recall", "zebra")[:2] == (0, "nothing found\n")


@pytest.mark.spec("br/BR-35")
def test_a_broken_bank_is_failed_and_exit_1(shop, data, command):
    path = bank_path(Paths.from_env({"HINDSIGHT_MEM_HOME": str(shop)}).banks, "shop")
    path.unlink()
    path.mkdir()
    code, found = data("recall", "importer")
    assert (code, found["outcome"], found["hits"]) == (1, "failed", [])
    assert found["reason"]
    code, out, error = command("recall", "importer")
    assert (code, out) == (1, "") and error.startswith("hindsight-mem: ")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--kind", "decision"), ["shop:f1"]),
        (("--since", "2026-02-15", "--until", "2026-03-02"), ["shop:f1"]),
        (("--tag", "ops"), ["shop:f3"]),
        (("--limit", "1"), None),
    ],
)
def test_options(data, options, ids):
    _, found = data("recall", "cart importer deploys", *options)
    if ids is None:
        assert len(found["hits"]) == 1
    else:
        assert [hit["id"] for hit in found["hits"]] == ids


def test_a_wrong_date_is_a_usage_error_that_names_it(command):
    code, _, error = command("recall", "cart", "--since", "yesterday")
    assert code == 2
    assert "yesterday" in error and "--since" in error


def test_explain_option_shows_the_parts(command, data):
    assert "words" in data("recall", "importer", "--explain")[1]["hits"][0]["parts"]
    assert "\n      words " in command("recall", "importer", "--explain")[1]


@pytest.mark.spec("pi/D-28")
def test_a_turn_shows_its_outcome_and_block_and_is_logged(command, data):
    code, out, _ = command("recall", "--turn", "how often does the importer retry?")
    assert code == 0
    assert out.startswith("degraded: no model")
    assert "(degraded)" not in out
    assert "- [2026-02-01] The importer retries 5 times" in out
    _, logged = data("explain")
    assert logged["turn"]["outcome"] == "degraded"


def test_a_turn_as_data(data):
    code, found = data("recall", "--turn", "how often does the importer retry?")
    assert (code, found["outcome"]) == (0, "degraded")
    assert found["queries"] == ["how often does the importer retry?"]
    assert found["block"].startswith("<hindsight-memory kind=")
    assert [hit["id"] for hit in found["hits"]] == ["shop:f2"]


@pytest.mark.parametrize(("prompt", "outcome"), [("write a haiku", "empty"), ("?!", "skipped")])
def test_a_turn_without_facts(data, prompt, outcome):
    code, found = data("recall", "--turn", prompt)
    assert (code, found["outcome"], found["block"]) == (0, outcome, None)
    assert found["reason"]


def test_reflect_without_a_model_lists_the_facts(data):
    code, answer = data("reflect", "importer retries")
    assert (code, answer["outcome"], answer["facts"]) == (0, "degraded", ["shop:f2"])
    assert "The importer retries 5 times" in answer["text"]
    assert data("reflect", "zebra")[1]["outcome"] == "empty"


@pytest.mark.spec("pi/R-22", "br/BR-32")
def test_explain_says_why_of_each_fact(command, data):
    _, found = data("recall", "--turn", "how often does the importer retry?")
    code, out, _ = command("explain", found["turn"])
    assert code == 0
    assert "injected\n    shop:f2  The importer retries 5 times" in out
    assert "(text not logged" in out


def test_explain_without_a_log_and_with_an_unknown_turn(command, data):
    assert command("explain")[:2] == (0, "no recall is in the activity log yet\n")
    assert data("explain") == (0, {"turn": None})
    code, _, error = command("explain", "t404")
    assert code == 2 and "t404" in error


def test_the_search_loads_no_prompt_machinery(shop):
    import subprocess
    import sys

    script = (
        "import sys; from hindsight_core.cli.entry import run\n"
        "code = run(['recall', 'importer', '--bank', 'shop', '--json'])\n"
        "heavy = {'jinja2', 'rich', 'httpx', 'numpy', 'json_repair'} & set(sys.modules)\n"
        "assert code == 0 and not heavy, (code, heavy)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
