"""A person's notes are facts: an item or a paragraph each, under its heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_core.errors import ConfigError
from hindsight_core.importing.memories.notes import facts_of

NOTES = """# Shop

A web shop for concert tickets, written in Python.

<!-- hindsight:user -->
@docs/other.md

## Conventions

- **Never** commit to `main` directly;
  open a pull request.
* [x] Money is an integer of cents.
- ok

## Build

Run the tests:

```sh
make test
```

### Database

1. PostgreSQL 16, see [the guide](docs/db.md).

| a | b |
|---|---|

```python
def long():
    one()
    two()
    three()
```
"""


def texts(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return [fact.text for fact in facts_of(path)]


def test_items_and_paragraphs_under_their_headings(tmp_path):
    assert texts(tmp_path / "AGENTS.md", NOTES) == [
        "AGENTS.md: A web shop for concert tickets, written in Python.",
        "Conventions: Never commit to `main` directly; open a pull request.",
        "Conventions: Money is an integer of cents.",
        "Build: Run the tests: `make test`",
        "Build / Database: PostgreSQL 16, see the guide.",
    ]


def test_rules_are_constraints_and_a_fact_knows_its_file(tmp_path):
    texts(tmp_path / "AGENTS.md", NOTES)
    facts = list(facts_of(tmp_path / "AGENTS.md"))
    assert [fact.kind for fact in facts] == ["fact", "constraint", "constraint", "fact", "fact"]
    assert {fact.metadata["file"] for fact in facts} == {"AGENTS.md"}
    assert {fact.provenance.speaker for fact in facts} == {"user"}
    assert all(fact.timestamp and fact.timestamp.tzinfo for fact in facts)


@pytest.mark.parametrize(
    "text", ["", "# Title\n", "```\nnever closed\n", "<!-- open", "- a\n- b\n"]
)
def test_what_says_nothing_is_nothing(tmp_path, text):
    assert texts(tmp_path / "MEMORY.md", text) == []


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"NONE\.md cannot be read"):
        list(facts_of(tmp_path / "NONE.md"))
