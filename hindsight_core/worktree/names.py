"""Which files a sentence names."""

from __future__ import annotations

import re
from functools import lru_cache

MOST = 8
# Most facts name no file: this finds it out in one go.
_MAYBE = re.compile(r"\w\.[A-Za-z]|\w/|(?:Make|Docker|Jenkins|Just|Proc|Gem)file")
_SPLIT = re.compile(r"[\s\"'`,;{}<>|]+")
_LINE = re.compile(r":\d+(?:[:-]\d+)*$|#L\d+(?:-L?\d+)?$")
# Routes of some frameworks have brackets in their names.
_PART = re.compile(r"[\w.@+~()\[\]-]+\Z")
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app|de|co|gov|edu|local)\Z")
_BARE = frozenset({"Makefile", "Dockerfile", "Jenkinsfile", "Justfile", "Procfile", "Gemfile"})
# What a name without a folder must end in: `e.g`, `Node.js` and `v1.2` are no files.
_KNOWN = frozenset(
    "bat c cc cfg cjs clj conf cpp cs css csv cts cu dart env ex exs fish go gradle h hpp hs html "
    "ini ipynb j2 java jl json json5 jsonc jsx kt less lock lua m md mjs ml mod mts nix php pl po "
    "properties proto ps1 py pyi r rb rs rst sass scala scss sh sql svelte swift tcl tf toml ts "
    "tsx txt vue xml yaml yml zig zsh".split()
)
_PRODUCTS = frozenset({"node.js", "next.js", "vue.js", "nuxt.js", "three.js", "d3.js", "asp.net"})


@lru_cache(maxsize=4096)
def files_in(text: str) -> tuple[str, ...]:
    """Paths that a text names, as it writes them, each once; at most `MOST`."""
    if not _MAYBE.search(text):
        return ()
    found: dict[str, None] = {}
    for word in _SPLIT.split(text):
        path = _path(word)
        if path is not None:
            found[path] = None
            if len(found) == MOST:
                break
    return tuple(found)


def _path(word: str) -> str | None:
    if not word or len(word) > 200 or "://" in word or "\\" in word:
        return None
    word = _LINE.sub("", word.strip("([*").rstrip(".:!?…*)]")).removeprefix("./")
    folder, slash, name = word.rpartition("/")
    if not name or not _PART.match(name):
        return None
    if name in _BARE:
        return word
    suffix = _SUFFIX.search(name)
    # `.csv` is a kind of file and no file.
    if suffix is None or suffix[0] == name or word.startswith("@"):
        return None
    if not slash:
        known = name.rpartition(".")[2].lower() in _KNOWN
        return name if known and name.lower() not in _PRODUCTS and "@" not in name else None
    parts = folder.split("/")
    if _HOST.match(parts[0]) or not all(part == "" or _PART.match(part) for part in parts):
        return None
    return word
