"""An embedder that runs an ONNX export of a sentence model from a folder of the user's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import ConfigError
from hindsight_core.providers.json_text import clean
from hindsight_core.providers.model_folder import Kind, ModelFolder, model_folder, required

if TYPE_CHECKING:
    from pathlib import Path

    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

EXTRA = "onnx"
MAX_CHARACTERS = 24_000
_TINY = 1e-12
_BLANK = "."


class OnnxEmbedder:
    """Implements `hindsight_core.providers.base.Embedder`.

    The folder holds ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``, as exports
    for sentence transformers do. A text's vector is the mean of its tokens' vectors, or that of
    the first token where ``1_Pooling/config.json`` says so, of length 1. Texts go through one at
    a time: a quantised model gives a text another vector beside other texts.

    Args:
        folder: Where the model is. It is loaded at the first call.

    Raises:
        ConfigError: Files or the extra ``onnx`` are missing.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self._runtime = required("onnxruntime", extra=EXTRA)
        self._tokenizers = required("tokenizers", extra=EXTRA)
        self._model = folder.file("model.onnx", "onnx/model.onnx")
        self._vocabulary = folder.file("tokenizer.json")
        self._folder = folder
        self._prefixes = folder.prefixes()
        self._first_token = bool(folder.data("1_Pooling/config.json").get("pooling_mode_cls_token"))
        self.identity = folder.identity([*_parts(self._model), self._vocabulary])
        self.dimensions: int | None = None
        self._loaded: tuple[Any, Any] | None = None
        self._guard = threading.Lock()

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[list[float]]:
        """One vector a text, in order, made in a worker thread.

        Raises:
            ConfigError: The model cannot be loaded or is of another form.
        """
        prefix = self._prefixes[kind]
        found = []
        for text in texts:
            found.append(await asyncio.to_thread(self._one, prefix + text[:MAX_CHARACTERS]))
        return found

    def _one(self, text: str) -> list[float]:
        import numpy

        with self._guard:
            session, tokenizer = self._load()
        encoded = tokenizer.encode(clean(text))
        if not encoded.ids:
            # A blank text, and a model that frames no text: some direction is better than none.
            encoded = tokenizer.encode(_BLANK)
        every = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        wanted = [item.name for item in session.get_inputs()]
        given = {name: numpy.array([every[name]], dtype="int64") for name in wanted}
        states = session.run(None, given)[0][0]
        if states.ndim == 2:
            states = states[0] if self._first_token else states.mean(axis=0)
        vector = states / max(float(numpy.linalg.norm(states)), _TINY)
        self.dimensions = len(vector)
        return [float(number) for number in vector]

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            try:
                options = self._runtime.SessionOptions()
                options.log_severity_level = 3
                session = self._runtime.InferenceSession(
                    str(self._model), options, providers=["CPUExecutionProvider"]
                )
                tokenizer = self._tokenizers.Tokenizer.from_file(str(self._vocabulary))
            except Exception as error:
                raise ConfigError(
                    f"the model in {self._folder.path} cannot be loaded: {error}. Export it again."
                ) from error
            _check_inputs(session, self._model)
            tokenizer.no_padding()
            tokenizer.enable_truncation(self._folder.most_tokens())
            self._loaded = session, tokenizer
        return self._loaded


def onnx_embedder(settings: Settings, services: Services) -> OnnxEmbedder:
    """The factory registered as ``onnx``."""
    return OnnxEmbedder(model_folder(settings, EXTRA))


def _check_inputs(session: Any, model: Path) -> None:  # noqa: ANN401 - of a library without types
    names = {item.name for item in session.get_inputs()}
    strange = names - {"input_ids", "attention_mask", "token_type_ids"}
    if strange or "input_ids" not in names:
        raise ConfigError(
            f"{model} takes {', '.join(sorted(names))}, so it is no sentence model. Export one "
            "with input_ids and attention_mask."
        )


def _parts(model: Path) -> list[Path]:
    """The model's file, and that of its weights where they are apart."""
    beside = (model.with_name(f"{model.name}{end}") for end in ("_data", ".data"))
    return [model, *(path for path in beside if path.is_file())]
