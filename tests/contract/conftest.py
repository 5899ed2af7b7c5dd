"""Failing asserts of the shipped suites are explained like our own."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("hindsight_core.testing.banks")
