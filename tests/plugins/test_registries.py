from __future__ import annotations

import pytest

from hindsight_core.errors import ConfigError, PluginError, ProviderError
from hindsight_core.plugins import Registered, Registry
from hindsight_core.plugins.registries import CORE


def item(name, distribution, factory=lambda *args: args):
    return Registered(name, factory, distribution)


def test_a_name_that_two_claim_belongs_to_neither():
    banks = Registry("banks")
    assert banks.add(item("graph", "one")) is None
    error = banks.add(item("graph", "two"))
    assert error is not None
    assert "'graph'" in str(error) and "one and two" in str(error)
    assert "graph" not in banks and list(banks) == []
    for look_up in (banks.__getitem__, banks.require):
        with pytest.raises(PluginError, match="one and two"):
            look_up("graph")
    assert {x.distribution for x in banks.shadowed} == {"one", "two"}
    assert banks.add(item("graph", "three")) is error


@pytest.mark.parametrize("order", [(CORE, "other"), ("other", CORE)])
def test_a_built_in_keeps_its_name(order):
    banks = Registry("banks")
    assert [banks.add(item("sqlite", name)) is None for name in order] == [True, False]
    assert banks["sqlite"].distribution == CORE
    assert [x.distribution for x in banks.shadowed] == ["other"]


def test_an_unknown_name_is_told_with_those_there_are():
    models = Registry("models")
    models.add(item("openai", CORE))
    with pytest.raises(ConfigError, match=r"no model provider named 'opnai'; there is: openai"):
        models.require("opnai")
    with pytest.raises(KeyError):
        models["opnai"]


def test_a_factory_of_a_third_party_that_fails_names_its_distribution():
    def fails(settings, services):
        raise TypeError("no such option")

    with pytest.raises(PluginError, match=r"hindsight-toy: 'toy' .* no such option") as caught:
        item("toy", "hindsight-toy", fails).create(None, None)
    assert caught.value.distribution == "hindsight-toy"
    with pytest.raises(TypeError):
        item("ours", CORE, fails).create(None, None)


def test_an_error_of_our_tree_passes_unchanged():
    def fails():
        raise ProviderError("no key")

    with pytest.raises(ProviderError, match="no key"):
        item("toy", "hindsight-toy", fails).create()
    assert item("toy", "hindsight-toy").create(1, 2) == (1, 2)
