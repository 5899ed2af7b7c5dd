"""Settings of language models and embedders."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from hindsight_core.config.settings.base import Argv, Ms, Names, Positive, Section, Url

_OWN = ("base_url", "api_key_env", "model")


class Models(Section):
    """The language models behind recall and memorize."""

    tied: ClassVar = {"provider": (*_OWN, "command", "context_window")}

    provider: str = Field(
        "auto",
        description="`auto`, `host`, `openai`, `anthropic`, `ollama`, `command`, `none`, or a "
        "plugin's name.",
    )
    base_url: Url | None = Field(None, description="Address of the provider; needs no key.")
    api_key_env: str | None = Field(None, description="Environment variable that holds the key.")
    model: str | None = Field(None, description="Model for both purposes.")
    command: Argv = Field(
        (),
        description="For `command`: `claude`, `codex`, `gemini`, or a command line that reads a "
        "prompt on stdin and prints the answer; the first of the three on the path by default.",
    )
    recall: str | None = Field(None, description="Model for recall, `provider/id`.")
    retain: str | None = Field(None, description="Model for memorize, `provider/id`.")
    recall_chain: Names = Field((), description="Models to try next for recall.")
    retain_chain: Names = Field((), description="Models to try next for memorize.")
    timeout_ms: Ms = Field(20000, description="Limit of one call, in milliseconds.")
    context_window: Positive | None = Field(
        None, description="Tokens that the model can read, when the provider does not say."
    )
    max_tokens: Positive | None = Field(None, description="Upper bound of every answer, in tokens.")
    reasoning: Literal["off", "minimal", "low", "medium", "high"] = Field(
        "off", description="Reasoning asked of the model."
    )


class Embeddings(Section):
    """The embedder; without one the search is by words."""

    tied: ClassVar = {"provider": (*_OWN, "query_model", "document_model", "dimensions")}
    either: ClassVar = (("model",), ("query_model", "document_model"))

    provider: str = Field(
        "none",
        description="`none`, `openai`, `ollama`, `onnx`, `model2vec`, `semantic`, or the name of a "
        "plugin's.",
    )
    base_url: Url | None = Field(None, description="Address of the provider.")
    api_key_env: str | None = Field(None, description="Environment variable that holds the key.")
    model: str | None = Field(None, description="Model, or the folder of a local one.")
    query_model: str | None = Field(None, description="Model for queries, where it differs.")
    document_model: str | None = Field(None, description="Model for facts, where it differs.")
    dimensions: Positive | None = Field(None, description="Length of a vector, where one can ask.")
    timeout_ms: Ms = Field(20000, description="Limit of one call, in milliseconds.")
