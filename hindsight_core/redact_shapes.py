"""Secrets by the form they stand in: keys, headers, addresses, files and command lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hindsight_core.redact_rules import SecretRule, Span
from hindsight_core.redact_values import MARK, is_code, is_mixed, is_open, is_random

_W = r"[A-Za-z0-9_-]"


def _closed(found: re.Match[str]) -> bool:
    return not is_open(found["secret"])


def _mixed(found: re.Match[str]) -> bool:
    return _closed(found) and is_mixed(found["secret"])


def _random(found: re.Match[str]) -> bool:
    return _closed(found) and is_random(found["secret"])


def _key_body(found: re.Match[str]) -> bool:
    body = found["secret"].strip()
    return len(body) > 3 and not body.startswith(MARK[:4])


_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")


def _orphan_key_ends(text: str, first: int, last: int) -> Iterator[Span]:
    """Key lines above an end mark whose begin mark was cut off."""
    for found in _KEY_END.finditer(text, first, last):
        start = found.start()
        while start:
            line_start = text.rfind("\n", 0, start - 1) + 1
            line = text[line_start:start].strip()
            if not re.fullmatch(r"[A-Za-z0-9+/=]{8,128}", line):
                break
            start = line_start
        if start < found.start():
            yield start, found.start()


_COOKIE = re.compile(r"\b(?:set-)?cookie[\"']?\s{0,3}[:=]\s{0,3}[\"']?([^\n\"']{4,4000})", re.I)
_CRUMB = re.compile(r"([\w.$-]{1,80})=([^;\s]{6,})")
_ATTRIBUTES = frozenset({"path", "domain", "expires", "max-age", "samesite", "version", "priority"})


def _cookies(text: str, first: int, last: int) -> Iterator[Span]:
    for header in _COOKIE.finditer(text, first, last):
        for crumb in _CRUMB.finditer(text, *header.span(1)):
            if crumb[1].lower() not in _ATTRIBUTES and not is_open(crumb[2]):
                yield crumb.span(2)


_VALUE = r"[\"']?(?P<secret>[^\s\"'`]{3,300})"
_LINE = r"[^\n|;&]{0,200}?"
SHAPE_RULES: tuple[SecretRule, ...] = (
    SecretRule(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?P<secret>[\s\S]*?)(?:(?=-----END)|\Z)",
        ("private key",),
        _key_body,
    ),
    SecretRule("end of a private key", needles=("private key",), find=_orphan_key_ends),
    SecretRule("JWT", rf"(?<!{_W})eyJ{_W}{{4,}}\.{_W}{{4,}}\.{_W}{{3,}}", ("eyj",)),
    SecretRule("JWE or cut JWT", rf"(?<!{_W})eyJ{_W}{{16,}}(?:\.{_W}*)+", ("eyj",)),
    SecretRule(
        "password in a URL",
        r"(?<=://)[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{1,300})@",
        ("://",),
        _closed,
    ),
    SecretRule("token in a URL", r"(?<=://)(?P<secret>[A-Za-z0-9_-]{20,200})@", ("://",), _random),
    SecretRule(
        "query parameter",
        r"(?i)[?&](?:access_token|auth_token|id_token|refresh_token|token|api[-_]?key|apikey|key|sig"
        r"|signature|secret|client_secret|password|passwd|auth|x-amz-signature|x-amz-security-token"
        r"|x-goog-signature)=(?P<secret>[^&\s\"'#<>]{8,2000})",
        ("=",),
        _mixed,
    ),
    SecretRule(
        "webhook address",
        r"(?i)(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/webhooks"
        r"|outlook\.office\.com/webhook|[\w.-]{1,60}\.webhook\.office\.com/webhookb2)/(?P<secret>\S{16,})",
        ("hook",),
    ),
    SecretRule("bot address", r"(?i)(?<=/bot)(?P<secret>\d{6,12}:[\w-]{20,60})", ("/bot",)),
    SecretRule("bot token", r"(?<![\w:])(?P<secret>\d{8,10}:AA[\w-]{30,})", (":aa",)),
    SecretRule("Discord token", r"(?<![\w.])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}", (".",)),
    SecretRule(
        "authorization header",
        r"(?i)authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"'`]?(?:(?:bearer|basic|token|digest|apikey|negotiate"
        r"|key|bot)\s{1,3})?(?P<secret>[^\s\"'`,;]{6,4000})",
        ("authorization",),
        lambda found: not is_code(found["secret"]) and (_random(found) or _mixed(found)),
    ),
    SecretRule(
        "bearer token",
        r"(?i)\b(?:bearer|basic)\s{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{12,4000})",
        ("bearer ", "basic "),
        _mixed,
    ),
    SecretRule("cookie", needles=("cookie",), find=_cookies),
    SecretRule(
        "live or test key",
        r"(?:(?<![A-Za-z0-9])[a-z]{2,12}_|(?<=_))(?:live|test|prod|sandbox|secret)_[A-Za-z0-9]{16,}",
        ("_live_", "_test_", "_prod_", "_sandbox_", "_secret_"),
        lambda found: sum(map(str.isdigit, found[0])) > 2,
    ),
    SecretRule(
        "password hash",
        r"\$(?:2[abxy]|1|5|6|y|gy|7|apr1|argon2id?|scrypt)\$[./A-Za-z0-9$=,+]{20,200}",
        ("$",),
    ),
    SecretRule(
        "WireGuard key",
        r"(?i)\b(?:private|preshared)key\s{0,3}=\s{0,3}(?P<secret>[A-Za-z0-9+/]{42,43}=)",
        ("privatekey", "presharedkey"),
    ),
    SecretRule(
        "kubeconfig key", r"client-key-data:\s{0,3}(?P<secret>\S{20,})", ("client-key-data",)
    ),
    SecretRule(
        "registry auth",
        r"(?i)[\"']?\b_?auth(?:token)?[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<secret>[A-Za-z0-9+/_-]{16,2000}={0,2})",
        ("auth",),
        _random,
    ),
    SecretRule(
        "netrc",
        r"(?i)\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?P<secret>\S{3,200})",
        ("machine",),
        _closed,
    ),
    SecretRule(
        "pgpass",
        r"(?m)^[\w.*-]{1,100}:(?:54\d\d|3306|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:(?P<secret>[^\s:]{3,200})$",
        (":54", ":3306", ":*:"),
        _closed,
    ),
    SecretRule(
        "htpasswd", r"(?m)^[\w.@-]{1,60}:(?P<secret>\{SHA\}[A-Za-z0-9+/=]{20,})", ("{sha}",)
    ),
    SecretRule(
        "user and password option",
        rf"\b(?:curl|wget|xh|https?|lftp|aria2c){_LINE}\s(?:-u|--user|--proxy-user|-a)[ =]?[\"']?"
        rf"[^\s:\"'/]{{1,80}}:(?P<secret>[^\s\"']{{3,200}})",
        (" -u", "--user", "--proxy-user", " -a"),
        lambda found: _closed(found) and not found["secret"].isdigit(),
    ),
    SecretRule(
        "password option",
        rf"(?i)\b(?:sshpass\s+-p|redis-cli\b{_LINE}\s-a|docker\s+login\b{_LINE}\s-p"
        rf"|(?:mongo|mongosh|mongodump|sqlcmd|ldapsearch)\b{_LINE}\s-[pPw]|az\s+login\b{_LINE}\s-p)"
        rf"\s{{0,3}}{_VALUE}",
        ("sshpass", "redis-cli", "docker", "mongo", "sqlcmd", "ldapsearch", "az login"),
        lambda found: _closed(found) and not found["secret"].startswith("-"),
    ),
    SecretRule(
        "mysql password option",
        rf"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b{_LINE}\s-p{_VALUE}",
        ("mysql", "mariadb"),
        _closed,
    ),
    SecretRule("openssl password", rf"(?i)-pass(?:in|out)?\s+pass:{_VALUE}", ("pass:",), _closed),
    SecretRule(
        "seed phrase",
        r"(?i)\b(?:seed|recovery|mnemonic|secret)\s+(?:phrase|words?)\b[^\n:=]{0,20}[:=]\s{0,3}"
        r"(?P<secret>(?:[a-z]{3,8}\s{1,3}){11,23}[a-z]{3,8})",
        ("phrase", "words", "word"),
    ),
)
