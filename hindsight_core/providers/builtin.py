"""The models and embedders that ship with the core, registered like those of any plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.hookspecs import Register, hookimpl

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.providers.base import Embedder, Model
    from hindsight_core.services import Services


class ProviderPlugin:
    """Registers the built-in providers; each module is imported when it is first used."""

    @hookimpl
    def hindsight_register_models(self, register: Register) -> None:
        """``host``, ``openai``, ``anthropic``, ``ollama`` and ``command``."""
        register("host", _host)
        register("openai", _openai)
        register("anthropic", _anthropic)
        register("ollama", _ollama)
        register("command", _command)

    @hookimpl
    def hindsight_register_embedders(self, register: Register) -> None:
        """``openai``, ``ollama``; from a folder ``onnx``, ``model2vec``; complete ``semantic``."""
        register("openai", _openai_embedder)
        register("ollama", _ollama_embedder)
        register("onnx", _onnx_embedder)
        register("model2vec", _model2vec_embedder)
        register("semantic", _semantic_embedder)


def _host(settings: Settings, services: Services) -> Model:
    from hindsight_core.providers.host import host_factory

    return host_factory(settings, services)


def _openai(settings: Settings, services: Services) -> Model:
    from hindsight_core.providers.openai import openai_factory

    return openai_factory(settings, services)


def _anthropic(settings: Settings, services: Services) -> Model:
    from hindsight_core.providers.anthropic import anthropic_factory

    return anthropic_factory(settings, services)


def _ollama(settings: Settings, services: Services) -> Model:
    from hindsight_core.providers.ollama import ollama_factory

    return ollama_factory(settings, services)


def _command(settings: Settings, services: Services) -> Model:
    from hindsight_core.providers.command import command_factory

    return command_factory(settings, services)


def _openai_embedder(settings: Settings, services: Services) -> Embedder:
    from hindsight_core.providers.embeddings import openai_embedder

    return openai_embedder(settings, services)


def _ollama_embedder(settings: Settings, services: Services) -> Embedder:
    from hindsight_core.providers.embeddings import ollama_embedder

    return ollama_embedder(settings, services)


def _onnx_embedder(settings: Settings, services: Services) -> Embedder:
    from hindsight_core.providers.onnx import onnx_embedder

    return onnx_embedder(settings, services)


def _model2vec_embedder(settings: Settings, services: Services) -> Embedder:
    from hindsight_core.providers.model2vec import model2vec_embedder

    return model2vec_embedder(settings, services)


def _semantic_embedder(settings: Settings, services: Services) -> Embedder:
    from hindsight_core.providers.semantic import semantic_embedder

    return semantic_embedder(settings, services)
