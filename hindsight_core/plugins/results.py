"""What each run-time hook may return: checks at the border to third parties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hindsight_core.plugins.calls import WrongResult

T = TypeVar("T")


def one(kind: type[T]) -> Callable[[Any], T | None]:
    """Accept one value of a class, or None."""

    def accept(value: Any) -> T | None:  # noqa: ANN401
        if value is None or isinstance(value, kind):
            return value
        raise WrongResult(f"returned {type(value).__name__} where {kind.__name__} is expected")

    return accept


def many(kind: type[T]) -> Callable[[Any], tuple[T, ...] | None]:
    """Accept a sequence of values of a class, or None; it becomes a tuple."""

    def accept(value: Any) -> tuple[T, ...] | None:  # noqa: ANN401
        if value is None:
            return None
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise WrongResult(
                f"returned {type(value).__name__} where a sequence of {kind.__name__} is expected"
            )
        for item in value:
            if not isinstance(item, kind):
                raise WrongResult(
                    f"returned {type(item).__name__} in a sequence of {kind.__name__}"
                )
        return tuple(value)

    return accept


def answers(questions: Sequence[str]) -> Callable[[Any], dict[str, bool] | None]:
    """Accept answers to all questions; fewer are no answer, and the next one is asked."""

    def accept(value: Any) -> dict[str, bool] | None:  # noqa: ANN401
        if value is None:
            return None
        if not isinstance(value, Mapping) or not all(isinstance(v, bool) for v in value.values()):
            raise WrongResult("returned no mapping of questions to true or false")
        if not all(question in value for question in questions):
            return None
        return {question: value[question] for question in questions}

    return accept


def folders(value: Any) -> tuple[Path, ...] | None:  # noqa: ANN401
    """Accept a folder or several."""
    if value is None:
        return None
    listed = [value] if isinstance(value, str | Path) else value
    if not isinstance(listed, Sequence) or not all(isinstance(v, str | Path) for v in listed):
        raise WrongResult(f"returned {type(value).__name__} where folders are expected")
    return tuple(Path(item) for item in listed)
