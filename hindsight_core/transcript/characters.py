"""Characters that no store and no terminal should see are repaired; long text is bounded."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])?"
)
_NEWLINES = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# C0 and C1 controls, zero-width and bidi controls, invisible tag characters and selectors.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e01ef]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DATA_URI = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,60})?(?:;[\w=.+-]{1,40}){0,4};base64,")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/]{512,}|[A-Za-z0-9_-]{512,})={0,2}")
_EDGE = 200


def repair(text: str) -> str:
    """Text without NUL, lone surrogates, terminal codes, invisible or bidi controls (br/BR-46).

    A surrogate pair in two halves becomes its character, a lone half U+FFFD. Every line end
    becomes LF; tabs stay. Words are never lost.
    """
    if text.isascii() and text.isprintable():
        return text
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _INVISIBLE.sub("", _NEWLINES.sub("\n", text))


def drop_encoded(text: str) -> str:
    """Text with base64 data replaced by a short note of its size (br/BR-59)."""
    if len(text) < 512:
        return text
    text = _ENCODED.sub(lambda found: f"[{len(found[0])} characters of encoded data]", text)
    return _DATA_URI.sub(lambda found: f"{found[1] or 'data'} ", text)


def cut(text: str, limit: int, *, of: int | None = None) -> str:
    """Head and tail of a long text around a line that says how much is missing.

    Args:
        text: Any text.
        limit: The result is never longer.
        of: Length of the original when `text` is what an earlier cut left of it.
    """
    if len(text) <= limit:
        return text
    if limit < 2 * _EDGE:
        return text[: max(0, limit - 1)] + "…" if limit else ""
    room = limit - 60
    tail = room // 3
    head_text = _to_word(text[: room - tail], forward=False)
    tail_text = _to_word(text[-tail:], forward=True)
    missing = (of or len(text)) - len(head_text) - len(tail_text)
    return f"{head_text}\n[... {missing} characters cut ...]\n{tail_text}"


def clip(text: str, limit: int) -> str:
    """The beginning of a text, ending in an ellipsis when something is missing."""
    return text if len(text) <= limit else text[: max(0, limit - 1)].rstrip() + "…"


def _to_word(text: str, *, forward: bool) -> str:
    # Half a token may be half a secret: a cut falls between words where there are any.
    if forward:
        found = re.search(r"\s", text[:_EDGE])
        return text[found.end() :] if found else text
    found = re.search(r"\s\S*$", text[-_EDGE:])
    return text[: len(text) - (_EDGE - found.start())] if found and len(text) >= _EDGE else text
