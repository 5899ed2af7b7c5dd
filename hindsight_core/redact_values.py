"""Tells a secret value from a placeholder, a reference, a path or ordinary code."""

from __future__ import annotations

import math
import re
from collections import Counter

MARK = "[secret removed]"
# Names of passwords, where any value counts, and of other secrets, whose value must look like one.
STRONG_NAMES = (
    r"pass[-_ ]?words?|passwd|pass[-_ ]?phrases?|pass[-_]?codes?|pwd|pass|pw|pgpassword|sshpass"
    r"|storepass|keypass|passwort|kennwort|contrase(?:ñ|n)a|mot[-_ ]de[-_ ]passe|пароль"
    r"|密码|パスワード"
)
WEAK_NAMES = (
    r"secret|token|api[-_. ]?key|apikey|access[-_. ]?key(?:[-_]?id)?"
    r"|secret[-_. ]?(?:access[-_]?)?key"
    r"|private[-_. ]?key|signing[-_. ]?key|encryption[-_. ]?key|master[-_. ]?key|auth[-_. ]?key"
    r"|account[-_. ]?key|shared[-_. ]?(?:access[-_]?)?(?:key|secret)|license[-_. ]?key"
    r"|service[-_]key"
    r"|subscription[-_. ]?key|functions[-_. ]?key|deploy[-_. ]?key|app[-_. ]?key|preshared[-_]?key"
    r"|client[-_. ]?secret|credentials?|auth[-_. ]?token|bearer|session[-_. ]?(?:key|token)"
    r"|jwt|_auth|pin|otp|salt|pepper|cookie"
)
_PASSWORD_NAME = re.compile(rf"(?:^|[^a-z])(?:{STRONG_NAMES}|pin|otp)$", re.IGNORECASE)
_SECRET_NAME = re.compile(rf"(?:^|[^a-z])(?:{WEAK_NAMES})$", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SUFFIX = re.compile(r"[-_ .]?(?:\d{1,3}|prod|dev|test|staging|stage|live|new|old|main)$", re.I)

_PLACEHOLDER = re.compile(
    r"(?:none|null|nil|undefined|true|false|yes|no|on|off|todo|tbd|n/a|unset|empty|required|optional"
    r"|string|str|bytes|int|bool|any|text|varchar|default|example|sample|dummy|placeholder|value"
    r"|change[-_ ]?(?:me|it|this)|redacted|removed|hidden|masked|censored|secret|password|passwd"
    r"|pass|pwd|token|key|api[-_]?key|user|username|credentials?|env|prompt|stdin|ask|auto"
    r"|(?:your|my|the|some|a|an|new|old|enter|insert|paste|put|replace|fill)[-_ ].*"
    r"|.*[-_ ](?:here|placeholder|goes[-_ ]here)|(.)\1{2,}|abc|foo|bar|foobar|baz|test)",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"[$%<{\[(&*!@~#|=?]|[bfru]{0,2}[\"']|\.{1,3}(?:/|$)|/[\w.-]+/|[A-Za-z]:[\\/]|https?://|file:"
    r"|secret[_-]?ref|vault:|op://|arn:|projects/|env[.:(]"
)
_INSIDE = ("${", "$(", "{{", "}}", "...", "…", "***", "•", "os.environ", "process.env", "getenv")
_CODE = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z_]\w*[(\[].*", re.DOTALL)
_WORDS = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*[_-]?\d{0,3}")
_NAME = re.compile(
    r"[A-Z]+(?:_[A-Z]+)+|[\w./-]*[\w-]\.(?:pem|key|txt|json|ya?ml|toml|py|ts|js|env|crt|p12|cfg|ini|md)"
)
_ALGORITHM = re.compile(
    r"(?:sha|md[45]|bcrypt|argon2|scrypt|pbkdf2|utf|base(?:16|32|58|64)|aes|rsa|hmac|oauth|oidc|x509"
    r"|http|ed25519|ecdsa|tls|v\d|iso|rfc|p\d+$|i18n|l10n|k8s|s3$)",
    re.IGNORECASE,
)


def is_password_name(name: str) -> bool:
    """Whether a variable, key or option holds a password, passphrase or PIN by its name."""
    return bool(_PASSWORD_NAME.search(_plain(name)))


def is_secret_name(name: str) -> bool:
    """Whether a variable, key or option holds any secret by its name."""
    plain = _plain(name)
    return bool(_PASSWORD_NAME.search(plain) or _SECRET_NAME.search(plain))


def is_open(value: str) -> bool:
    """Whether a value is no secret by itself: a placeholder, a reference, a path, a mark."""
    if not value.strip() or (_REFERENCE.match(value) and not _looks_random(value)):
        return True
    if any(mark in value for mark in _INSIDE) or value.startswith(MARK[:7]):
        return True
    return bool(_PLACEHOLDER.fullmatch(value.strip()) or _NAME.fullmatch(value))


def is_mixed(value: str, *, least: int = 6) -> bool:
    """Whether a word is unlike a word: letters with digits, or signs that words do not have."""
    if len(value) < least or _ALGORITHM.match(value):
        return False
    letter, digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if letter and digit:
        return True
    if any(sign in value for sign in "!#$%^&*+?@~"):
        return letter
    return len(value) >= 16 and letter and value.lower() != value and entropy(value) > 3.5


def is_random(value: str, *, least: int = 16) -> bool:
    """Whether a value is long, of letters and digits, and without visible order."""
    if len(value) < least or _WORDS.fullmatch(value):
        return False
    if not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    return entropy(value) > 2.8


def is_code(value: str) -> bool:
    """Whether a bare value reads as an expression of a program."""
    return bool(_CODE.fullmatch(value))


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits each."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())


def _looks_random(value: str) -> bool:
    # Base64 may begin with a slash, a password with a sign; long and mixed is no reference.
    return value[:1] in "/=~#@" and len(value) >= 24 and "/" not in value[1:] and is_random(value)


def _plain(name: str) -> str:
    return _SUFFIX.sub("", _CAMEL.sub("_", name[-100:].strip("-\"' ")))
