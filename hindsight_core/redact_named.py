"""Rules for values that are secret because of the name that they stand next to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hindsight_core.redact_rules import SecretRule, Span
from hindsight_core.redact_values import (
    STRONG_NAMES,
    WEAK_NAMES,
    is_code,
    is_mixed,
    is_open,
    is_password_name,
    is_random,
    is_secret_name,
)

_NEEDLES = (
    "pass", "pwd", "pw", "secret", "token", "key", "credential", "kennwort", "contrase", "пароль",
    "密码", "パスワード", "pin", "otp", "auth", "bearer", "jwt", "salt", "pepper", "session",
)  # fmt: skip
_WORDS = rf"{STRONG_NAMES}|{WEAK_NAMES}"
# What stands before a value: a name, perhaps a type, and a separator.
_ASSIGNED = re.compile(
    r"(?<![\w.-])(?P<name>(?:[A-Za-z]{2,12} )?[\w.-]{2,100}+)\\?[\"'\]]{0,2}"
    r"(?:\s{0,2}:\s{0,2}[A-Za-z_][\w.\[\]| ]{0,40}?(?=\s{0,3}=))?"
    r"\s{0,3}(?P<sep>:=|=>|=|:)(?![=:>~])[ \t]{0,8}"
)
_VALUE = re.compile(
    r"(?:[bru]{0,2}(?P<open>\\?[\"'`]))?"
    r"(?P<secret>(?(open)(?:(?!(?P=open))(?:\\.|[^\\\n])){1,400}|[^\s\"'`,;<>(){}\[\]]{3,400}))"
    r"(?(open)(?P=open)|(?P<after>[^\n]?))"
)


def _assignments(text: str, start: int, end: int) -> Iterator[Span]:
    for found in _ASSIGNED.finditer(text, start, end):
        name = found["name"]
        # The word must end the name: `token_count` or `passwordless` hold no secret.
        if not is_secret_name(name):
            continue
        value = _VALUE.match(text, found.end(), end)
        if value is None:
            continue
        if value["open"]:
            secret = _is_quoted_secret(name, value["secret"])
        else:
            secret = _is_bare_secret(name, value["secret"], found["sep"], value["after"])
        if secret:
            yield value.span("secret")


def _is_quoted_secret(name: str, value: str) -> bool:
    if is_open(value) or len(value) < 4:
        return False
    if is_password_name(name):
        spaced = any(map(str.isspace, value))
        return "phrase" in name.lower() if spaced else is_mixed(value, least=4) or len(value) >= 6
    return " " not in value and (is_mixed(value, least=8) or is_random(value, least=12))


def _is_bare_secret(name: str, value: str, separator: str, after: str) -> bool:
    value = value.rstrip(".:!?")
    if is_open(value) or is_code(value) or after in tuple("([.{"):
        return False
    if is_password_name(name):
        inside_call = after in tuple("),") and value.isidentifier()
        digits = value.isdigit() and len(value) >= 4 and separator == "="
        return not inside_call and (is_mixed(value) or digits)
    if value.isidentifier() and (after == ";" or not is_random(value, least=12)):
        return False
    return is_mixed(value, least=8) or is_random(value, least=12)


def _environment(found: re.Match[str]) -> bool:
    name, value = found["name"], found["secret"]
    if not is_secret_name(name) or is_open(value) or is_code(value) or len(value) < 4:
        return False
    return is_password_name(name) or not value.isdigit()


def _option(found: re.Match[str]) -> bool:
    value = found["secret"]
    return not (is_open(value) or value.startswith("-")) and (
        is_password_name(found["name"]) or is_mixed(value, least=8)
    )


def _said(found: re.Match[str]) -> bool:
    value = found["secret"].rstrip(".,;:!?)")
    if is_open(value):
        return False
    if found["open"]:
        return len(value) >= 4 and (is_password_name(found["name"]) or is_mixed(value, least=8))
    return _wordless(value) if is_password_name(found["name"]) else is_random(value, least=16)


def _login(found: re.Match[str]) -> bool:
    value = found["secret"].rstrip(".,;:!?)")
    return not is_open(value) and _wordless(value)


def _beside(found: re.Match[str]) -> bool:
    return not found["open"] and _login(found) and any(map(str.isdigit, found["secret"]))


def _wordless(value: str) -> bool:
    joined = value.lower() != value and any(sign in value for sign in "-_.")
    return is_mixed(value) or (len(value) >= 8 and joined and not is_code(value))


_PIN = r"(?P<secret>\d[\d -]{2,10}\d)(?!\w)"
_SAID = r"(?P<open>[\"'`“‘«])?(?P<secret>(?(open)[^\"'`”’»\n]{4,200}|[^\s\"'`<>]{4,200}))"

_RULES = (
    SecretRule(
        "environment assignment",
        r"(?<![\w$])(?P<name>[A-Z][A-Z0-9_]{1,80})\\?=(?P<open>\\?[\"'])?"
        r"(?P<secret>(?(open)[^\"'`\n\\]{1,2000}|[^\s\"'`]{1,2000}))",
        _NEEDLES,
        _environment,
    ),
    SecretRule("assignment", needles=_NEEDLES, find=_assignments),
    SecretRule(
        "command-line option",
        rf"(?<![\w-])--?(?:[a-z0-9]{{1,20}}-){{0,4}}(?P<name>(?i:{_WORDS}))(?:[ \t]{{1,3}}|=)"
        rf"[\"']?(?P<secret>[^\s\"'`]{{4,400}})",
        _NEEDLES,
        _option,
    ),
    SecretRule(
        "connection string",
        r"(?i)(?<![\w])(?P<name>password|pwd|accountkey|sharedaccesskey|sharedsecret)\s?=\s?"
        r"(?P<secret>[^;\s\"']{3,400})(?=;)",
        ("accountkey", "sharedaccess", "password", "pwd"),
        lambda found: not is_open(found["secret"]) and not is_code(found["secret"]),
    ),
    SecretRule(
        "said in prose",
        rf"(?<![\w-])(?P<name>(?i:{_WORDS}))(?:[ \t]+(?:for|of|to|on|in|at|für|von|de)"
        r"[ \t]+\S{1,40}(?:[ \t]+\S{1,40})?)?"
        r"[ \t]+(?i:is|was|are|ist|lautet|war|es|est|=>|->|→|now)[ \t]+"
        rf"(?:(?i:now|still|just|set to|jetzt)[ \t]+)?{_SAID}",
        _NEEDLES,
        _said,
    ),
    SecretRule(
        "password beside its name",
        rf"(?<![\w-])(?!pass )(?P<name>(?i:{STRONG_NAMES}))[ \t]+{_SAID}",
        _NEEDLES,
        _beside,
    ),
    SecretRule(
        "login pair",
        r"(?i)\b(?:log ?in|credentials?|creds|account|user(?:name)?|sign in|zugang|anmeldung)\b"
        r"[ \t]{0,3}(?:is|are|with|as|:|=|ist|mit)?[ \t]{0,3}[\w.@+-]{1,60}"
        r"(?:[ \t]{1,2}/[ \t]{1,2}|:)"
        r"(?P<secret>[^\s\"'`(){}\[\]<>]{6,200})(?![(<\[])",
        ("log", "cred", "account", "user", "sign in", "zugang", "anmeldung"),
        _login,
    ),
    SecretRule(
        "PIN",
        r"(?:(?i:\bpin[ -]?(?:code|number)\b)|\bPIN\b)[ \t]{0,3}"
        rf"(?:(?i:is|ist|was|for \S{{1,30}} is)|[:=])?[ \t]{{0,3}}{_PIN}",
        ("pin",),
    ),
    SecretRule("pin in prose", rf"(?i)\bpin[ \t]+(?:is|ist|was|lautet)[ \t]+{_PIN}", ("pin",)),
    SecretRule(
        "one-time code",
        r"(?i)\b(?:otp|2fa|mfa|verification|recovery|backup|one[- ]time|security)[ -]codes?\b"
        r"[ \t]{0,3}(?:is|are|was|:|=)[ \t]{0,3}(?P<secret>[A-Za-z0-9][\w-]{4,40}\d[\w-]{0,20})",
        ("code",),
    ),
)
NAMED_RULES: tuple[SecretRule, ...] = tuple(replace(rule, local=True) for rule in _RULES)
