"""Identities that come from content: the same thing has the same id, whoever computes it."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_BULLET = re.compile(r"^\s*[-*•]\s+")
_SPACE = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Form in which two facts are compared: no bullet, single spaces, lower case (pi/R-15)."""
    return _SPACE.sub(" ", _BULLET.sub("", text)).strip().lower()


def fact_id(text: str) -> str:
    """Id of a fact by its normalised text: one bank never holds the same sentence twice."""
    plain = unicodedata.normalize("NFC", normalise(text))
    return hashlib.sha256(plain.encode()).hexdigest()[:20]


def document_id(session_id: str | None, first_entry: str, last_entry: str, *, host: str) -> str:
    """Id of the document for a window: the same window has the same id (pi/M-06)."""
    key = f"{session_id or 'default'}:{first_entry}:{last_entry}"
    return f"{host}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def note_id(text: str) -> str:
    """Id of the document for an explicit note, by its content."""
    return f"note-{hashlib.sha256(normalise(text).encode()).hexdigest()[:24]}"


def digest_id(given: str) -> str:
    """Stands for an id that must not be written as it is."""
    return f"id-{hashlib.sha256(given.encode(errors='surrogatepass')).hexdigest()[:24]}"
