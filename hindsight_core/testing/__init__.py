"""What tests of this package and of plugins use: fakes, builders and contract suites."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.testing.banks import BankContract as BankContract
    from hindsight_core.testing.clock import FakeClock as FakeClock
    from hindsight_core.testing.decision_contract import DecisionContract as DecisionContract
    from hindsight_core.testing.embedder_contract import EmbedderContract as EmbedderContract
    from hindsight_core.testing.embedders import HashEmbedder as HashEmbedder
    from hindsight_core.testing.hosts import HostContract as HostContract
    from hindsight_core.testing.memory_bank import FakeBank as FakeBank
    from hindsight_core.testing.model_contract import ModelContract as ModelContract
    from hindsight_core.testing.model_server import ModelServer as ModelServer
    from hindsight_core.testing.models import ScriptedModel as ScriptedModel
    from hindsight_core.testing.sandbox import Memory as Memory
    from hindsight_core.testing.templates import assert_template as assert_template
    from hindsight_core.testing.templates import assert_template_pack as assert_template_pack

_EXPORTS = {
    "BankContract": "banks",
    "DecisionContract": "decision_contract",
    "EmbedderContract": "embedder_contract",
    "FakeBank": "memory_bank",
    "FakeClock": "clock",
    "HashEmbedder": "embedders",
    "HostContract": "hosts",
    "Memory": "sandbox",
    "ModelContract": "model_contract",
    "ModelServer": "model_server",
    "ScriptedModel": "models",
    "assert_template": "templates",
    "assert_template_pack": "templates",
}
__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import a public name when it is first used: a suite needs pytest, a fake does not."""
    if name not in _EXPORTS:
        raise AttributeError(f"module 'hindsight_core.testing' has no attribute {name!r}")
    return getattr(import_module(f"hindsight_core.testing.{_EXPORTS[name]}"), name)
