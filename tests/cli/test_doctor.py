from __future__ import annotations

from hindsight_core.testing.model_server import ModelServer


def levels(said):
    return {finding["name"]: finding["level"] for finding in said.data["findings"]}


def test_an_empty_home_is_fine_and_says_that_there_is_no_model(mem):
    said = mem("doctor", "--json")
    assert said.code == 0
    found = levels(said)
    assert found["bank"] == "ok"
    assert found["queue"] == "ok"
    assert found["model"] == "warning"
    assert mem("facts", "list", "--state", "all", "--json").data["total"] == 0


def test_a_model_that_does_not_answer_is_a_failure(mem, loopback, monkeypatch):
    with ModelServer({"doctor": {"status": 401, "body": "{}"}}) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")
        said = mem("doctor", "--json")
    assert said.code == 1
    assert levels(said)["model for recall"] == "failed"


def test_a_wrong_template_is_named(mem):
    mem("prompts", "copy", "recall/judge")
    import os
    from pathlib import Path

    override = Path(os.environ["HINDSIGHT_MEM_HOME"], "templates/recall/judge.j2")
    override.write_text("{{ requst }} {{ query }} {{ facts }}")
    said = mem("doctor", "--json")
    texts = [f["text"] for f in said.data["findings"] if f["name"] == "templates"]
    assert any("requst" in text for text in texts)
