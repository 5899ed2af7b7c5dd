"""How text is counted in tokens where no tokenizer is at hand."""

from __future__ import annotations

CHARACTERS_PER_TOKEN = 4
"""A rough mean over languages and code, and the one that every budget here is made with."""
