"""The tests test what they mean to test: the wheel under tox, the checkout otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import hindsight_core
from hindsight_core.prompt_layers import packaged_root

WHEEL = "HINDSIGHT_TEST_WHEEL" in os.environ  # read at import: fixtures clear our variables


def test_the_package_under_test():
    package = Path(hindsight_core.__file__).parent
    assert ("site-packages" in package.parts) == WHEEL


def test_templates_are_inside_the_wheel_and_beside_the_package_in_a_checkout():
    package = Path(hindsight_core.__file__).parent
    assert packaged_root() == (package if WHEEL else package.parent) / "templates"
    assert (packaged_root() / "core" / "open.j2").is_file()
    assert (package / "templates").exists() == WHEEL
