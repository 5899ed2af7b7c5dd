"""For pytest: the fixtures ``memory`` and ``new_memory``; it loads wherever the core is installed.

So it imports nothing of the core before a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from hindsight_core.testing.sandbox import Memory

# Failing asserts of the shipped suites are explained like a test's own.
pytest.register_assert_rewrite(
    "hindsight_core.testing.banks",
    "hindsight_core.testing.decision_contract",
    "hindsight_core.testing.embedder_contract",
    "hindsight_core.testing.hosts",
    "hindsight_core.testing.model_contract",
)


def pytest_configure(config: pytest.Config) -> None:
    """Make known the marker that tests of the shipped suites carry."""
    config.addinivalue_line(
        "markers", "spec(*ids): the specified behaviours that this test asserts, such as pi/R-06"
    )


@pytest.fixture
def new_memory(tmp_path: Path) -> Iterator[Callable[..., Memory]]:
    """Make a memory with settings, plugins or a scripted model of one's own.

    Its arguments are those of `hindsight_core.testing.sandbox.Memory`, plugins first. A test
    fails when its plugins, templates or settings had problems, unless it asks for
    ``strict=False``.
    """
    from hindsight_core.testing.sandbox import Memory

    made: list[tuple[Memory, bool]] = []

    def make(*plugins: object, strict: bool = True, **options: Any) -> Memory:  # noqa: ANN401
        folder = tmp_path / f"memory-{len(made) + 1}"
        made.append((Memory(folder, plugins=plugins or None, **options), strict))
        return made[-1][0]

    yield make
    problems: list[str] = []
    for memory, strict in made:
        problems += memory.problems if strict else []
        memory.close()
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def memory(new_memory: Callable[..., Memory]) -> Memory:
    """A memory in a temporary folder, with every plugin that is installed here."""
    return new_memory()
