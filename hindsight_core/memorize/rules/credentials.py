"""Sentences that give a credential away are never kept, whatever else they say."""

from __future__ import annotations

import re

_REDACTED = re.compile(r"\bredacted\b|\[secret|\*{3,}", re.IGNORECASE)
# "the password is ...": not where it lives, but what it is.
_GIVEN = re.compile(
    r"\b(?:passwor[dt]|passwd|passphrase|login|pwd|pin|kennwort|mot de passe|contrase\u00f1a"
    r"|api[ _-]?key|token|\u043f\u0430\u0440\u043e\u043b\u044c)\b"
    r"\s*(?:is|=|:|ist|\u044d\u0442\u043e|est|es|\w+ /)\s*"
    r"(?![\"'`]?(?:in|at|under|kept|stored|from|not|read|set|valid|required|optional)\b)\S+"
    r"|\u5bc6\u7801\s*(?:\u662f|\uff1a|:)",
    re.IGNORECASE,
)


def gives_away(text: str) -> bool:
    """Whether a text says what a password, key or token is, or held one that was removed."""
    return bool(_REDACTED.search(text) or _GIVEN.search(text))
