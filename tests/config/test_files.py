"""Reading tolerantly, writing atomically."""

from __future__ import annotations

import json
import stat

import pytest

from hindsight_core.config.files import MAX_BYTES, patch, read_table
from hindsight_core.errors import ConfigError


@pytest.mark.spec("pi/C-08")
def test_a_patch_keeps_the_rest_and_makes_the_folder(tmp_path):
    path = tmp_path / "a/b/hindsight.json"
    patch(path, {"recall.max_lines": 3})
    patch(path, {"recall.effort": "light", "profile": "проект"})
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {
        "recall": {"max_lines": 3, "effort": "light"},
        "profile": "проект",
    }
    assert text.startswith('{\n  "recall"') and text.endswith("}\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["hindsight.json"]


def test_comments_in_toml_stay(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[recall] # why\nmax_lines = 3 # few\neffort = 'light'\n")
    patch(path, {"recall.max_lines": 4, "bank.id": "auto", "recall.effort": None})
    assert path.read_text() == (
        '# mine\n[recall] # why\nmax_lines = 4 # few\n\n[bank]\nid = "auto"\n'
    )


def test_a_plugins_key_goes_into_its_own_table(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[plugins]\nblock = []\n\n[plugins.toy-store] # mine\nsize = 3\n")
    patch(path, {"plugins.toy_store.size": 4, "plugins.tour.greeting": "hi"})
    assert "# mine" in path.read_text()
    assert read_table(path) == {
        "plugins": {"block": [], "toy-store": {"size": 4}, "tour": {"greeting": "hi"}}
    }
    patch(path, {"prompts.recall/judge.system": "Judge."})
    assert read_table(path)["prompts"] == {"recall/judge.system": "Judge."}
    for name in ("new.toml", "new.json"):
        patch(tmp_path / name, {"plugins.tour.greeting": "hi", "plugins.block": ["toy"]})
        assert read_table(tmp_path / name) == {
            "plugins": {"tour": {"greeting": "hi"}, "block": ["toy"]}
        }


def test_comments_in_json_are_never_lost(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("{ // mine\n}")
    with pytest.raises(ConfigError, match="comments"):
        patch(path, {"recall.max_lines": 4})
    assert path.read_text() == "{ // mine\n}"


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    patch(link, {"bank.id": "x"})
    assert link.is_symlink() and 'id = "x"' in real.read_text()


@pytest.mark.spec("am/A-CFG-4")
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.json", b'{"a": "hidden" "b"}', "not valid JSON near line 1"),
        ("a.json", b'{\n"a": 1,\n"hidden\n', "not valid JSON"),
        ("a.toml", b"a = 1\nb = = hidden\n", "not valid TOML: Invalid value \\(at line 2"),
        ("a.json", b"\xff\xfe{}", "not UTF-8 \\(byte 0\\)"),
        ("a.json", b"[1]", "must hold a table"),
        ("a.json", b" " * (MAX_BYTES + 1), "larger than"),
        ("a.json", b"[" * 100_000, "not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_said_without_its_content(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=expected) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_absent_empty_and_marked_files(tmp_path):
    assert read_table(tmp_path / "none.json") is None
    (tmp_path / "a.json").write_text("")
    assert read_table(tmp_path / "a.json") == {}
    (tmp_path / "b.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_table(tmp_path / "b.json") == {"a": 1}
    with pytest.raises(ConfigError, match="cannot be read"):
        read_table(tmp_path)
