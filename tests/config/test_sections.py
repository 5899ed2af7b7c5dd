"""A plugin's own section."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, SecretStr

from hindsight_core.config.change import change
from hindsight_core.config.show import rows
from hindsight_core.errors import ConfigError


class Toy(BaseModel):
    """Settings of a toy plugin."""

    url: str = "http://toy"
    size: int = 3
    token: SecretStr | None = None


class Strict(BaseModel):
    """A section with a key that must be given."""

    name: str


def test_a_section_from_every_layer(world):
    world.own("[plugins.toy-store]\nsize = 4\n")
    world.env = {"HINDSIGHT_MEM_PLUGINS__TOY_STORE__URL": "http://env"}
    loaded = world.load(sections={"toy-store": Toy})
    section = loaded.settings.plugins.sections["toy-store"]
    assert (section.size, section.url) == (4, "http://env")
    assert loaded.warnings == ()


def test_wrong_and_unknown_keys_are_named(world):
    file = world.own('[plugins.toy]\nsize = "big"\nsise = 1\nurl = "http://mine"\n')
    loaded = world.load(sections={"toy": Toy})
    section = loaded.settings.plugins.sections["toy"]
    assert (section.size, section.url) == (3, "http://mine")
    assert f"{file}: unknown key plugins.toy.sise; did you mean size?" in loaded.warnings
    assert any("plugins.toy.size = " in warning for warning in loaded.warnings)


def test_a_missing_key_gives_no_section(world):
    loaded = world.load(sections={"strict": Strict})
    assert "strict" not in loaded.settings.plugins.sections
    assert loaded.warnings == ("plugins.strict.name must be set, or the plugin gets no section",)


def test_a_section_of_no_plugin(world):
    file = world.own("[plugins.toyy]\nsize = 1\n")
    (warning,) = world.load(sections={"toy": Toy}).warnings
    assert warning.startswith(f"{file}: plugins.toyy: no plugin of this name") and "toy?" in warning
    assert world.load().warnings == (), "without plugins nothing is known about their sections"


@pytest.mark.spec("br/BR-55")
def test_secrets_are_masked(world):
    secret = "".join(["hush", "-", "hush"])
    world.own(
        f'[plugins.toy]\ntoken = "{secret}"\n[hindsight]\ntoken = "{secret}"\n'
        f'base_url = "http://me:{secret}@bank"\n[agents.a.hindsight]\ntoken = "{secret}"\n'
    )
    loaded = world.load(sections={"toy": Toy})
    found = rows(loaded)
    assert found["hindsight.token"]["value"] == "********"
    assert found["plugins.toy.token"]["value"] == "********"
    assert found["hindsight.base_url"]["value"] == "http://********@bank"
    assert secret not in str(found) + str(loaded.settings.hindsight.token)


def test_a_wrong_secret_is_not_shown(world):
    secret = 12345678
    world.own(f"[hindsight]\ntoken = {secret}\n")
    (warning,) = world.load().warnings
    assert str(secret) not in warning and "hindsight.token" in warning


def test_a_secret_in_a_projects_file_is_named(world):
    world.own_project('[hindsight]\ntoken = "x"\n')
    (warning,) = world.load().warnings
    assert "is a secret in a project's file" in warning


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [("size", "big", "a valid integer"), ("sise", "4", "did you mean size")],
)
def test_setting_a_plugins_value_asks_its_model(world, tmp_path, key, text, expected):
    settings = world.load(sections={"toy-store": Toy}).settings
    file = tmp_path / "config.toml"
    with pytest.raises(ConfigError, match=expected):
        change(file, f"plugins.toy_store.{key}", text, project=False, settings=settings)
    assert not file.exists()
    named = change(file, "plugins.toy_store.size", "4", project=False, settings=settings)
    assert named == ("plugins.toy_store.size", 4)
    # Not installed yet: nobody can say what is right.
    change(file, "plugins.later.anything", "4", project=False, settings=settings)
