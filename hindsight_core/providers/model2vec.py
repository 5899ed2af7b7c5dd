"""An embedder of static word vectors: a Model2Vec folder of the user's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ConfigError
from hindsight_core.providers.json_text import clean
from hindsight_core.providers.model_folder import Kind, ModelFolder, model_folder, required

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

EXTRA = "model2vec"
MAX_CHARACTERS = 24_000
_FILES = ("model.safetensors", "embeddings.safetensors")


class Model2VecEmbedder:
    """Implements `hindsight_core.providers.base.Embedder`.

    The folder holds ``model.safetensors`` and ``tokenizer.json``, as the library saves them. It
    is fast and small, and weaker than a sentence model.

    Args:
        folder: Where the model is. It is loaded at the first call, and never downloaded.

    Raises:
        ConfigError: Files or the extra ``model2vec`` are missing.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self._library = required("model2vec", extra=EXTRA)
        files = [folder.file(*_FILES), folder.file("tokenizer.json"), folder.file("config.json")]
        self._folder = folder
        self._prefixes = folder.prefixes()
        self.identity = folder.identity(files)
        self.dimensions: int | None = None
        self._loaded: Any = None
        self._guard = threading.Lock()

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[list[float]]:
        """One vector a text, in order, made in a worker thread.

        Raises:
            ConfigError: The model cannot be loaded.
        """
        if not texts:
            return []
        prefix = self._prefixes[kind]
        return await asyncio.to_thread(
            self._all, [prefix + clean(text[:MAX_CHARACTERS]) for text in texts]
        )

    def _all(self, texts: list[str]) -> list[list[float]]:
        with self._guard:
            model = self._load()
            # One process and no progress bar: a few texts at a time come here.
            vectors = model.encode(texts, show_progress_bar=False, use_multiprocessing=False)
        self.dimensions = int(vectors.shape[1])
        return [[float(number) for number in vector] for vector in vectors]

    def _load(self) -> Any:  # noqa: ANN401 - of a library that may be missing
        if self._loaded is None:
            try:
                self._loaded = self._library.StaticModel.from_pretrained(self._folder.path)
            except Exception as error:
                raise ConfigError(
                    f"the model in {self._folder.path} cannot be loaded: {error}. Save it again."
                ) from error
        return self._loaded


def model2vec_embedder(settings: Settings, services: Services) -> Model2VecEmbedder:
    """The factory registered as ``model2vec``."""
    return Model2VecEmbedder(model_folder(settings, EXTRA))
