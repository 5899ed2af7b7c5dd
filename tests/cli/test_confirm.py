"""What is deleted for good is asked about; without a terminal ``--yes`` has to say so."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "command",
    [
        ("facts", "delete", "f1"),
        ("documents", "delete", "d1"),
        ("bank", "delete", "shop"),
        ("queue", "purge"),
    ],
)
def test_without_a_terminal_nothing_is_deleted_before_yes(mem, command):
    assert mem("doctor").code == 0  # makes the bank
    said = mem(*command)
    assert said.code == 2
    assert "add --yes" in said.err
    assert said.out == ""
