from __future__ import annotations

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.memorize.capture.likeness import BY_WORDS, Likeness, by_words, cosine

TABS, SAME = "The user prefers tabs in Python files.", "In Python files the user prefers tabs."


@pytest.mark.spec("am/A-STORE-1")
def test_cosines_are_exact_and_vectors_that_do_not_fit_are_far_off():
    assert cosine([3.0, 4.0], [4.0, 3.0]) == pytest.approx(0.96)
    assert cosine([1.0, 0.0], [-2.0, 0.0]) == -1
    assert (cosine([1.0], [1.0, 0.0]), cosine([], [])) == (-1, -1)
    assert cosine([0.0, 0.0], [1.0, 0.0]) == 0


def test_words_stand_in_where_there_are_no_vectors():
    assert by_words(TABS, SAME) == pytest.approx(1)
    assert by_words("The port is 7443.", "The port is 7444.") == 1  # another value of the same
    assert by_words(TABS, "The build takes nine minutes.") == 0
    assert by_words("...", TABS) == 0


class Vectors:
    identity, dimensions = "test", 2

    def __init__(self, error: ProviderError | None = None) -> None:
        self.error = error
        self.kinds: list[str] = []

    async def embed(self, texts, *, kind):
        self.kinds.append(kind)
        if self.error:
            raise self.error
        return [[1.0, 0.0] if "tabs" in text else [0.6, 0.8] for text in texts]


@pytest.mark.spec("am/A-MERGE")
async def test_both_sides_are_embedded_as_documents():
    embedder = Vectors()
    assert await Likeness(embedder).to(TABS, [SAME, "other"]) == ([1.0, pytest.approx(0.6)], 1.0)
    assert embedder.kinds == ["document"]


async def test_an_embedder_that_is_away_leaves_the_words():
    scores, factor = await Likeness(Vectors(ProviderError("away"))).to(TABS, [SAME])
    assert (scores, factor) == ([pytest.approx(1)], BY_WORDS)
    assert await Likeness(None).to(TABS, []) == ([], BY_WORDS)
