"""Asserts for template packs."""

from __future__ import annotations

import pytest

from hindsight_core.testing import assert_template, assert_template_pack

JUDGE = "Request: {{ request }}\nKey: {{ query }}\n{{ facts }}\nAnswer with a score."


def test_a_good_template_gives_its_text(tmp_path):
    text = assert_template("recall/judge", JUDGE, contains=["Key: redis ttl"], query="redis ttl")
    assert text.startswith("Request: sample request")
    path = tmp_path / "judge.j2"
    path.write_text(JUDGE)
    assert assert_template("recall/judge", path, query="redis ttl") == text
    assert assert_template("recall/judge.system", "Judge.") == "Judge."


@pytest.mark.parametrize(
    ("stage", "template", "says"),
    [
        ("recall/juge", JUDGE, "no stage 'recall/juge'"),
        ("core/open", "<open>", "packaged only"),
        ("recall/judge", "{{ request }}{{ query }}", "does not use facts"),
        ("recall/judge", JUDGE + "{{ mood }}", "mood"),
        ("recall/judge", JUDGE + "{% if %}", "recall/judge"),
        ("recall/judge", JUDGE + "{{ ''.__class__.__mro__ }}", "recall/judge"),
        ("recall/judge.system", "", "comes out empty"),
    ],
)
def test_a_wrong_template_is_named(stage, template, says):
    with pytest.raises(AssertionError, match=says):
        assert_template(stage, template)


def test_what_is_left_out_on_purpose_and_what_must_be_said():
    short = "{{ request }}{{ facts }}"
    assert_template("recall/judge", short, omits=["query"])
    with pytest.raises(AssertionError, match="does not say 'score'"):
        assert_template("recall/judge", short, omits=["query"], contains=["score"])
    with pytest.raises(AssertionError, match="no variable mood"):
        assert_template("recall/judge", JUDGE, mood="good")


def test_a_pack_is_checked_as_a_whole(tmp_path):
    with pytest.raises(AssertionError, match="no template in"):
        assert_template_pack(tmp_path)
    (tmp_path / "recall").mkdir()
    (tmp_path / "recall/judge.j2").write_text(JUDGE)
    (tmp_path / "recall/judge.system.j2").write_text("Judge.")
    assert assert_template_pack(tmp_path) == ["recall/judge", "recall/judge.system"]
    (tmp_path / "recall/juge.j2").write_text(JUDGE)
    with pytest.raises(AssertionError, match=r"did you mean recall/judge"):
        assert_template_pack(tmp_path)
