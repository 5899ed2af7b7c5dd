"""The bearer token: given, from the environment, or from a file that may be renewed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.errors import BankError

if TYPE_CHECKING:
    from hindsight_core.config.settings.bank import Hindsight


class Token:
    """Reads the token once, and again when the server refused it.

    Args:
        settings: ``hindsight.token``, ``token_env`` and ``token_file``, in this order.
    """

    def __init__(self, settings: Hindsight) -> None:
        self._settings = settings
        self._value: str | None = None
        self._read = False

    def value(self) -> str | None:
        """The token; None when none is configured.

        Raises:
            BankError: One is configured and cannot be read.
        """
        if not self._read:
            self._value, self._read = self._load(), True
        return self._value

    def renew(self) -> bool:
        """Read it again after a 401; whether it is another one now."""
        before, self._read = self._value, False
        return self.value() != before

    def _load(self) -> str | None:
        chosen = self._settings
        if chosen.token is not None and chosen.token.get_secret_value().strip():
            return _usable(chosen.token.get_secret_value(), "hindsight.token")
        if chosen.token_env:
            value = os.environ.get(chosen.token_env, "")
            if value.strip():
                return _usable(value, f"the variable {chosen.token_env}")
            if not chosen.token_file:
                raise BankError(
                    f"hindsight.token_env names {chosen.token_env}, which is not set. Export it.",
                    retryable=False,
                )
        return self._from_file(chosen.token_file) if chosen.token_file else None

    def _from_file(self, name: str) -> str:
        path = Path(name).expanduser()
        try:
            value = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise BankError(
                f"hindsight.token_file {path} cannot be read: {error}. Put the token there.",
                retryable=False,
            ) from error
        if not value.strip():
            raise BankError(f"hindsight.token_file {path} is empty. Put the token there.")
        return _usable(value, f"the file {path}")


def _usable(value: str, where: str) -> str:
    token = value.strip()
    if not token.isascii() or any(letter.isspace() or not letter.isprintable() for letter in token):
        raise BankError(
            f"the token in {where} has characters that no header can carry. Set it again.",
            retryable=False,
        )
    return token
