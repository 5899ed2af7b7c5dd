"""Names from folders: one rule for every script, and exactly pi-hindsight's for ASCII."""

from __future__ import annotations

import hashlib
import unicodedata

MAX_LENGTH = 64
EMPTY = "default"


def slug(name: str, *, limit: int = MAX_LENGTH, empty: str = EMPTY) -> str:
    """Lower case, every run of other characters one ``-``, cut to a length (pi/C-12, pi/D-21).

    Letters, digits and the marks that belong to letters count in every script; the composed and
    the decomposed form of a name give the same slug.
    """
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    words = "".join(char if _belongs(char) else " " for char in plain).split()
    return "-".join(words)[:limit].strip("-") or empty


def digest(text: str, *, length: int = 6) -> str:
    """The first hex digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def remote_slug(url: str) -> str:
    """A remote's address without scheme, user and ``.git``, as a slug (s1/S-ID-3)."""
    return slug(remote_name(url), limit=200, empty="repo")


def remote_name(url: str) -> str:
    """A remote's address without scheme, user and ``.git``: the same for ssh and https."""
    rest = url.strip().rpartition("://")[2]
    host, _, path = rest.partition("/")
    host = host.rpartition("@")[2]
    return f"{host}/{path}".rstrip("/").removesuffix(".git").replace(":", "/").lower()


def _belongs(char: str) -> bool:
    if char.isascii():
        return char.isalnum()
    return char.isalnum() or unicodedata.category(char).startswith("M")
