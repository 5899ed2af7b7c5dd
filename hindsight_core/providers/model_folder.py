"""A folder with an embedding model that the user has: its files, identity and prefixes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings

Kind = Literal["query", "document"]
_DIGEST = 16
_MOST_TOKENS = 512
# Names under which exports keep the words that go before a document.
_DOCUMENT_PROMPTS = ("document", "passage", "text")


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Where a model is.

    Attributes:
        path: The folder.
        provider: Name of the provider, for messages and the identity.
    """

    path: Path
    provider: str

    def file(self, *names: str) -> Path:
        """The first of these files that is there.

        Raises:
            ConfigError: None of them is.
        """
        for name in names:
            if (self.path / name).is_file():
                return self.path / name
        raise ConfigError(
            f"embeddings.model = {self.path} has no {' or '.join(names)}. Name a folder with a "
            f"{self.provider} export of an embedding model."
        )

    def data(self, name: str) -> dict[str, Any]:
        """A JSON file of the folder; empty when it is not there or no object."""
        try:
            found = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def identity(self, files: Sequence[Path]) -> str:
        """Provider, folder name and a digest of what makes the vectors, wherever it is."""
        digest = hashlib.sha256(repr(self.prefixes()).encode())
        for path in files:
            with path.open("rb") as content:
                digest.update(hashlib.file_digest(content, "sha256").digest())
        return f"{self.provider}/{self.path.name}:{digest.hexdigest()[:_DIGEST]}"

    def prefixes(self) -> dict[Kind, str]:
        """What the model wants before a query and before a document.

        Taken from ``config_sentence_transformers.json``. Without prompts there, a model that
        calls itself an E5 gets ``query: `` and ``passage: ``, which it was trained with.
        """
        prompts = self.data("config_sentence_transformers.json").get("prompts")
        if isinstance(prompts, dict) and prompts:
            found = [str(prompts[name]) for name in _DOCUMENT_PROMPTS if name in prompts]
            return {"query": str(prompts.get("query", "")), "document": (*found, "")[0]}
        name = str(self.data("config.json").get("_name_or_path", "")) or self.path.name
        if "e5" in name.rpartition("/")[2].lower().replace("_", "-").split("-"):
            return {"query": "query: ", "document": "passage: "}
        return {"query": "", "document": ""}

    def most_tokens(self) -> int:
        """Tokens that the model reads; the rest of a text is left out."""
        limits = (
            self.data("sentence_bert_config.json").get("max_seq_length"),
            self.data("tokenizer_config.json").get("model_max_length"),
            _MOST_TOKENS,
        )
        return min(int(n) for n in limits if isinstance(n, int | float) and n > 0)


def model_folder(settings: Settings, provider: str) -> ModelFolder:
    """The folder that ``embeddings.model`` names.

    Raises:
        ConfigError: None is named, or it is no folder, or two different ones are named.
    """
    section = settings.embeddings
    named = {n for n in (section.model, section.query_model, section.document_model) if n}
    if len(named) != 1:
        raise ConfigError(
            f"embeddings.provider = {provider} needs one folder with a model, and "
            f"{len(named)} are named: set embeddings.model"
        )
    path = Path(named.pop()).expanduser()
    if not path.is_dir():
        raise ConfigError(f"embeddings.model = {path} is no folder: name one with a model in it")
    return ModelFolder(path.resolve(), provider)


def required(module: str, *, extra: str) -> Any:  # noqa: ANN401 - a module
    """Import a library of an extra.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"embeddings.provider = {extra} needs {module}, which cannot be imported ({error}): "
            f"pip install 'hindsight-core[{extra}]'"
        ) from error
