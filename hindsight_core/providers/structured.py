"""The one reader of a model's JSON answers: tolerant of form, never inventing content.

What it accepts besides plain JSON of the asked form: code fences, thinking and prose around it, a
bare list where the form has one list, one wrapper object, trailing commas, wrong escapes, single
quotes, comments, numbers as strings, camelCase keys, a plain string for an item.

What it refuses with `AnswerError`, so that the caller asks once more: prose without JSON, an
object with none of the form's keys, and JSON that was cut off. Even if the complete items of a
cut list could be read, the others would be lost in silence, and a caller would take the window
for done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from hindsight_core.errors import AnswerError
from hindsight_core.providers import json_text

if TYPE_CHECKING:
    from pydantic import BaseModel

F = TypeVar("F", bound="BaseModel")


def read_answer(text: str, form: type[F]) -> F:
    """A model's answer as an object of ``form`` (a pydantic model).

    Plain JSON is tried everywhere before mended JSON, objects before lists, later before earlier
    (a draft comes before the answer).

    Raises:
        AnswerError: The message says what is wrong, in words that help the model to repair it.
    """
    from hindsight_core.providers import fitting

    problem = "there is no JSON in the answer"
    for value in _values(text):
        try:
            return fitting.fit(value, form)
        except ValueError as error:
            problem = _better(problem, str(error))
    raise AnswerError(f"the answer could not be read: {problem}")


def describe(form: type[BaseModel]) -> str:
    """The form in one line, such as ``{"facts": [{"text": str, "category"?: str}]}``."""
    from hindsight_core.providers import forms

    return forms.describe(form)


def _values(text: str) -> Iterator[object]:
    if not isinstance(text, str) or not text.strip():
        raise AnswerError("the answer is empty")
    if len(text) > json_text.MAX_CHARACTERS:
        raise AnswerError(f"the answer is longer than {json_text.MAX_CHARACTERS} characters")
    answer = json_text.without_thinking(json_text.clean(text)).strip()
    whole = json_text.clean(text).strip()
    found = _ordered(answer) or _ordered(whole)
    yield from _plain(whole)
    for span in found:
        yield from _plain(span.text)
    for span in found:
        yield from _mended(span)


def _ordered(text: str) -> list[json_text.Span]:
    """Stretches worth parsing: objects first, the last one first; then lists on their own."""
    found = [span for span in json_text.spans(text) if not span.deep]
    objects = [span for span in found if span.text.startswith("{")]
    lists = [span for span in found if span.text.startswith("[") and span.alone]
    return [*reversed(objects), *reversed(lists)]


def _plain(text: str) -> Iterator[object]:
    try:
        value = json_text.strict(text)
    except ValueError:
        return
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        yield from _plain(value)
    elif isinstance(value, dict | list):
        yield value


def _mended(span: json_text.Span) -> Iterator[object]:
    try:
        value = json_text.tolerant(span)
    except ValueError as error:
        yield error
        return
    if isinstance(value, dict | list):
        yield value


def _better(known: str, new: str) -> str:
    """The problem to report: the first one that is about the form and not about finding it."""
    return new if known.startswith(("there is no", "the JSON")) else known
