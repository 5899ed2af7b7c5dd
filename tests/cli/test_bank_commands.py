from __future__ import annotations

import json

import pytest

SECRET = "ghp_" + "A1b2C3d4E5" * 4
LINES = [
    {"id": "f1", "text": "CART_TTL is 72 h", "kind": "fact", "tags": ["cart"], "document": "d1"},
    {"id": "f2", "text": "Never deploy on Friday", "category": "constraint"},
    {"text": "CART_TTL is 24 h", "superseded_by": "f1", "timestamp": "2026-01-02T10:00:00Z"},
]


@pytest.fixture
def write(tmp_path):
    def lines(*records):
        path = tmp_path / "facts.jsonl"
        texts = [r if isinstance(r, str) else json.dumps(r) for r in records]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return path

    return lines


def test_import_list_and_find(mem, write):
    said = mem("bank", "import", write(*LINES))
    assert said.code == 0
    assert "3 facts imported into shop" in said.out
    page = mem("facts", "list", "--json").data
    assert page["total"] == 2
    [cart] = [row for row in page["facts"] if row["id"] == "shop:f1"]
    assert cart == {
        "id": "shop:f1", "text": "CART_TTL is 72 h", "kind": "fact", "category": None,
        "state": "valid", "bank": "shop", "document": "d1", "timestamp": None, "tags": ["cart"],
        "metadata": {},
    }  # fmt: skip
    assert mem("facts", "list", "--json", "--state", "all").data["total"] == 3
    [old] = mem("facts", "list", "--json", "--state", "superseded").data["facts"]
    assert old["timestamp"] == "2026-01-02T10:00:00Z"
    assert mem("facts", "list", "--json", "--limit", 1, "--offset", 1).data["total"] == 2
    assert mem("recall", "cart ttl").code == 0


def test_a_bad_line_costs_no_good_one(mem, write):
    said = mem("bank", "import", write(LINES[0], "{broken", {"id": "x"}, LINES[1]), "--json")
    assert said.code == 2
    assert [bad["line"] for bad in said.data["bad"]] == [2, 3]
    assert "line 2: not JSON" in said.err
    assert "line 3: no text" in said.err
    assert mem("facts", "list", "--json").data["total"] == 2


def test_importing_again_changes_nothing(mem, write):
    path = write(*LINES)
    mem("bank", "import", path)
    said = mem("bank", "import", path, "--json")
    assert (said.code, said.data["imported"], said.data["unchanged"]) == (0, 0, 3)


def test_secrets_are_redacted_before_they_are_stored(mem, write):
    mem("bank", "import", write({"text": f"token={SECRET}", "metadata": {"note": SECRET}}))
    assert SECRET not in mem("bank", "export").out
    assert mem("facts", "list", "--json").data["total"] == 1


def test_export_and_import_are_an_exact_copy(mem, write, tmp_path):
    mem("bank", "import", write(*LINES))
    mem("facts", "invalidate", "f2", "--reason", "we do now")
    mem("facts", "pin", "f1")
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert mem("bank", "export", first).code == 0
    assert mem("bank", "import", first, "--bank", "copy").code == 0
    mem("bank", "export", second, "--bank", "copy")
    assert first.read_text() == second.read_text()
    assert mem("bank", "export").out == first.read_text()


@pytest.mark.parametrize("fact", ["f1", "shop:f1"])
def test_a_fact_is_corrected_by_either_id(mem, write, fact):
    mem("bank", "import", write(*LINES))
    assert mem("facts", "edit", fact, "--text", "CART_TTL is\n96 h", "--tag", "x").code == 0
    [shown] = mem("facts", "show", fact, "--json").data["facts"]
    assert (shown["text"], shown["tags"]) == ("CART_TTL is 96 h", ["x"])
    retired = mem("facts", "invalidate", fact, "--reason", "wrong", "--json").data["facts"][0]
    assert (retired["state"], retired["reason"]) == ("invalidated", "wrong")
    assert mem("facts", "restore", fact, "--json").data["facts"][0]["state"] == "valid"
    assert mem("facts", "delete", fact, "--yes").code == 0
    assert mem("facts", "show", fact).code == 2


def test_a_pinned_fact_is_not_retired(mem, write):
    mem("bank", "import", write(*LINES))
    mem("facts", "pin", "f1")
    refused = mem("facts", "invalidate", "f1")
    assert (refused.code, "unpin it first" in refused.err) == (1, True)
    mem("facts", "unpin", "f1")
    assert mem("facts", "invalidate", "f1").code == 0


def test_what_was_done_before_an_error_is_told(mem, write):
    mem("bank", "import", write(*LINES))
    mem("facts", "pin", "f2")
    said = mem("facts", "invalidate", "f1", "f2", "--reason", "wrong", "--json")
    assert said.code == 1
    assert [row["id"] for row in said.data["facts"]] == ["shop:f1"]
    assert "pinned" in said.err
    assert "1 of 2 were done before it" in said.err
    assert mem("facts", "list", "--state", "invalidated", "--json").data["total"] == 1


def test_what_is_not_there_is_a_usage_error(mem, tmp_path):
    for command in (
        ("facts", "show", "nothing"),
        ("facts", "invalidate", "nothing"),
        ("documents", "show", "nothing"),
        ("documents", "delete", "nothing", "--yes"),
        ("bank", "delete", "nothing", "--yes"),
        ("bank", "import", tmp_path / "none.jsonl"),
        ("bank", "show", "one", "--bank", "two"),
        ("facts", "edit", "nothing", "--text", "x"),
    ):
        said = mem(*command)
        assert said.code == 2, command
        assert said.err.startswith("hindsight-mem: "), command


def test_documents_are_listed_shown_and_deleted(mem, write):
    mem("bank", "import", write(*LINES))
    listed = mem("documents", "list", "--json").data
    assert (listed["total"], listed["documents"][0]["id"], listed["documents"][0]["facts"]) == (
        1, "d1", 1,
    )  # fmt: skip
    shown = mem("documents", "show", "d1", "--json").data
    assert [fact["id"] for fact in shown["facts"]] == ["shop:f1"]
    assert "CART_TTL is 72 h" in mem("documents", "show", "d1").out
    assert mem("documents", "delete", "d1", "--yes").code == 0
    assert mem("facts", "list", "--json").data["total"] == 1


def test_banks_are_listed_counted_and_deleted(mem, write):
    assert mem("bank", "list").out == "no banks yet\n"
    mem("bank", "import", write(*LINES))
    mem("bank", "import", write(*LINES[:1]), "--bank", "other")
    listed = mem("bank", "list", "--json").data
    assert [(row["id"], row["facts"]) for row in listed["banks"]] == [("other", 1), ("shop", 2)]
    assert listed["current"] == "shop"
    stats = mem("bank", "stats", "--json").data
    assert stats["states"] == {"valid": 2, "superseded": 1}
    shown = mem("bank", "show", "--json").data
    assert (shown["id"], shown["backend"], shown["path"].endswith("shop.db")) == (
        "shop", "sqlite", True,
    )  # fmt: skip
    assert mem("bank", "delete", "other", "--yes").code == 0
    assert [row["id"] for row in mem("bank", "list", "--json").data["banks"]] == ["shop"]


def test_a_read_only_bank_is_not_written(mem, write, monkeypatch):
    path = write(*LINES)
    mem("bank", "import", path)
    monkeypatch.setenv("HINDSIGHT_MEM_BANK__READ_ONLY", "true")
    for command in (
        ("bank", "import", path),
        ("facts", "invalidate", "f1"),
        ("facts", "delete", "f1", "--yes"),
        ("documents", "delete", "d1", "--yes"),
        ("bank", "delete", "shop", "--yes"),
    ):
        assert mem(*command).code == 2, command
    assert mem("facts", "list", "--json").data["total"] == 2


@pytest.mark.spec("br/BR-10", "br/BR-28")
def test_index_and_vectors_are_made_anew_from_the_facts(mem, write):
    mem("bank", "import", write(*LINES))
    assert mem("bank", "reindex", "--json").data == {"bank": "shop", "indexed": 2}
    assert "CART_TTL is 72 h" in mem("recall", "cart ttl").out
    refused = mem("bank", "reembed")
    assert (refused.code, "embeddings.provider" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "why"), [("nosuch", "no embedder named 'nosuch'"), ("onnx", "needs one folder")]
)
def test_an_embedder_that_cannot_be_set_up_costs_its_vectors_and_not_the_memory(
    mem, tmp_path, name, why
):
    told = tmp_path / "told.txt"
    told.write_text("We decided that the gateway listens on port 8443.\n")
    mem("config", "set", "embeddings.provider", name)
    assert mem("remember", told).code == 0
    found = mem("recall", "gateway port", "--json")
    assert found.code == 0
    assert "8443" in found.data["hits"][0]["text"]
    refused = mem("bank", "reembed")
    assert (refused.code, why in refused.err) == (1, True)
    assert f"embedder: {'embeddings.provider = ' if name == 'onnx' else ''}" in mem("doctor").out
