"""Secrets: a corpus of shapes, plugins' rules, repeated and adversarial text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.redact import DEFAULT_RULES, MARK, Redactor, SecretRule

REDACTOR = Redactor()


def make(*parts: str) -> str:
    """A fake secret, joined at run time so that no scanner takes the source for a leak."""
    return "".join(parts)


A = "Zk3Qm8Rt"
HEX = "9f86d081884c7d65"
LONG = A + "Vb7Nw2Xc5Lp9" + A + "Hj4Fd6Gs1"
SHORT = make("hun", "ter2")
PASSWORD = make("Correct", "-Horse-", "4711")
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", LONG))
KEY_BODY = "\n".join(("MIIEvQIBADANBgkqhkiG9w0" + A + "B" * 33, "q" * 60 + A[:4], A * 5))


def pem(kind: str, *, end: bool = True) -> str:
    tail = f"\n-----END {kind}-----" if end else ""
    return f"-----BEGIN {kind}-----\n{KEY_BODY}{tail}"


# (what it is, text, the values that must be gone)
SHAPES: list[tuple[str, str, tuple[str, ...]]] = [
    (name, f"use {token} for now, then go on", (token,))
    for name, token in {
        "aws access key": make("AK", "IA", "Q3EGRIZ7WXYZ2ABC"),
        "aws session key": make("AS", "IA", "Q3EGRIZ7WXYZ2ABC"),
        "github classic": make("gh", "p_", LONG),
        "github oauth": make("gh", "o_", LONG),
        "github app": make("gh", "s_", LONG),
        "github fine-grained": make("github", "_pat_", "11ABCDEFG0", LONG),
        "gitlab": make("gl", "pat-", LONG[:20]),
        "gitlab runner": make("gl", "rt-", LONG[:20]),
        "slack bot": make("xo", "xb-", "123456789012-", LONG),
        "slack app": make("xa", "pp-", "1-A0123-", LONG),
        "stripe live": make("sk_", "live_", LONG[:24]),
        "stripe restricted": make("rk_", "live_", LONG[:24]),
        "stripe webhook": make("wh", "sec_", LONG),
        "anthropic": make("sk-", "ant-", "api03-", LONG),
        "openai project": make("sk-", "proj-", LONG),
        "openai": make("sk", "-", LONG, A),
        "openrouter": make("sk-", "or-v1-", HEX * 4),
        "google api": make("AI", "za", "SyD-", LONG[:32]),
        "google oauth secret": make("GOC", "SPX-", LONG[:28]),
        "google access": make("ya", "29.", "a0Ae", LONG),
        "hugging face": make("h", "f_", LONG),
        "npm": make("np", "m_", LONG),
        "pypi": make("py", "pi-", "AgEIcHlwaS5vcmc", LONG),
        "rubygems": make("ruby", "gems_", HEX * 3),
        "docker": make("dckr", "_pat_", LONG),
        "sendgrid": make("S", "G.", LONG[:22], ".", LONG, A),
        "mailgun": make("ke", "y-", HEX * 2),
        "brevo": make("xkey", "sib-", HEX * 4, "-", A),
        "twilio": make("S", "K", HEX * 2),
        "digitalocean": make("dop", "_v1_", HEX * 4),
        "vault": make("hv", "s.", "CAESI", LONG),
        "doppler": make("dp", ".pt.", LONG),
        "linear": make("lin", "_api_", LONG),
        "notion": make("nt", "n_", "123456789", LONG),
        "figma": make("fi", "gd_", LONG),
        "atlassian": make("ATA", "TT3", "xFfGF0", LONG),
        "databricks": make("da", "pi", HEX * 2),
        "new relic": make("NR", "AK-", LONG[:27].upper()),
        "grafana": make("gl", "sa_", LONG, "_", HEX[:8]),
        "sentry": make("snt", "rys_", LONG),
        "postman": make("PM", "AK-", HEX, "-", HEX * 2),
        "planetscale": make("pscale", "_pw_", LONG),
        "supabase": make("sb", "p_", HEX * 2),
        "shopify": make("shp", "at_", HEX * 2),
        "groq": make("gs", "k_", LONG),
        "replicate": make("r", "8_", LONG),
        "tailscale": make("ts", "key-", "auth-", LONG),
        "launchdarkly": make("sd", "k-", "9f86d081-884c-7d65-9a2f-eaa0c55ad015"),
        "telegram": make("123456789", ":", "AA", "Hdqtcv", LONG[:30]),
        "age": make("AGE-", "SECRET-KEY-1", LONG.upper()),
        "own live key": make("zz_", "live_", "0000FAKE0000FAKE0000"),
        "jwt": JWT,
        "bcrypt": make("$2", "b$12$", LONG, LONG[:16]),
    }.items()
]
SHAPES += [
    ("pem", pem("PRIVATE KEY"), tuple(KEY_BODY.split("\n"))),
    ("pem rsa", pem("RSA PRIVATE KEY"), tuple(KEY_BODY.split("\n"))),
    ("pem openssh", pem("OPENSSH PRIVATE KEY"), tuple(KEY_BODY.split("\n"))),
    ("pgp", pem("PGP PRIVATE KEY BLOCK"), tuple(KEY_BODY.split("\n"))),
    ("pem without its end", pem("EC PRIVATE KEY", end=False), tuple(KEY_BODY.split("\n"))),
    ("pem cut in front", pem("PRIVATE KEY").split("\n", 1)[1], tuple(KEY_BODY.split("\n"))),
    ("pem in json", repr(pem("PRIVATE KEY")), tuple(KEY_BODY.split("\n"))),
    ("url", f"postgres://app:{PASSWORD}@10.0.0.5/shop", (PASSWORD,)),
    ("url short", f"postgres://app:{SHORT}@10.0.0.5/shop", (SHORT,)),
    ("url with sign", f"amqp://q:p@{PASSWORD}@mq:5672/x", (PASSWORD,)),
    ("url without user", f"redis://:{PASSWORD}@cache:6379/0", (PASSWORD,)),
    ("url token", f"https://{LONG}@git.example/x.git", (LONG,)),
    ("slack webhook", f"https://hooks.slack.com/services/T0/B0/{LONG}", (LONG,)),
    ("discord webhook", f"https://discord.com/api/webhooks/123/{LONG}", (LONG,)),
    ("query parameter", f"GET /v1?a=1&access_token={LONG}&b=2", (LONG,)),
    ("azure sas", f"https://x.blob.core.example/c?sv=1&sig={LONG}%3D", (LONG,)),
    ("bearer header", f"Authorization: Bearer {LONG}", (LONG,)),
    ("basic header", f"'Authorization': 'Basic {make('bGFiOg', LONG)}'", (LONG,)),
    ("short bearer", f"Authorization: Bearer {make('eyJ', 'FAKE.eyJ', 'FAKE.FAKE')} x", ("FAKE",)),
    ("api key header", f"X-Api-Key: {LONG}", (LONG,)),
    ("gitlab header", f"PRIVATE-TOKEN: {LONG}", (LONG,)),
    ("cookie", f"Cookie: sid={LONG}; theme=dark1234", (LONG,)),
    ("set-cookie", f"Set-Cookie: session={LONG}; Path=/; HttpOnly", (LONG,)),
    ("env", f"export PAYHUB_API_KEY={LONG}", (LONG,)),
    ("env word", "DB_PASSWORD=" + make("lett", "erbox"), (make("lett", "erbox"),)),
    ("env quoted", f'SECRET_KEY="{LONG} with words"', (LONG,)),
    ("env inline", f"API_TOKEN={LONG} make deploy", (LONG,)),
    ("env uuid", f"HEROKU_API_KEY={make('01234567-89ab-', 'cdef-0123-456789ab')}", ("cdef-0123",)),
    ("docker -e", f"docker run -e MYSQL_ROOT_PASSWORD={PASSWORD} mysql", (PASSWORD,)),
    ("json", f'{{"db_password": "{PASSWORD}", "n": 1}}', (PASSWORD,)),
    ("json escaped", f'{{\\"clientSecret\\": \\"{LONG}\\"}}', (LONG,)),
    ("yaml", f"auth:\n  password: {PASSWORD}\n", (PASSWORD,)),
    ("yaml quoted", f"api_key: '{LONG}'", (LONG,)),
    ("toml", f'token = "{LONG}"', (LONG,)),
    ("python", f'client_secret: str = "{LONG}"', (LONG,)),
    ("camel case", f'const dbPassword = "{PASSWORD}";', (PASSWORD,)),
    ("ruby", f':secret_key => "{LONG}"', (LONG,)),
    ("ini", f"aws_secret_access_key = {LONG}", (LONG,)),
    ("npmrc", f"//registry.example/:_authToken={LONG}", (LONG,)),
    ("docker config", f'"auth": "{make("bGFiOg", LONG)}"', (LONG,)),
    ("netrc", f"machine git.example login lab password {PASSWORD}", (PASSWORD,)),
    ("pgpass", f"db.example:5432:shop:app:{PASSWORD}", (PASSWORD,)),
    ("kubeconfig", f"client-key-data: {LONG}{LONG}", (LONG,)),
    ("wireguard", f"PrivateKey = {make(LONG, A)[:43]}=", (LONG[:30],)),
    ("option", f"deploy --password {PASSWORD} --yes", (PASSWORD,)),
    ("option with =", f"gh auth --token={LONG}", (LONG,)),
    ("curl user", f"curl -s -u lab:{PASSWORD} http://127.0.0.1/x", (PASSWORD,)),
    ("mysql", f"mysql -u root -p{PASSWORD} shop", (PASSWORD,)),
    ("sshpass", f"sshpass -p {PASSWORD} ssh lab@rig", (PASSWORD,)),
    ("redis-cli", f"redis-cli -h cache -a {PASSWORD} ping", (PASSWORD,)),
    ("docker login", f"docker login -u lab -p {PASSWORD} r.example", (PASSWORD,)),
    ("openssl", f"openssl rsa -passin pass:{PASSWORD} -in k.pem", (PASSWORD,)),
    ("ado connection", f"Server=db;User Id=app;Password={PASSWORD};Encrypt=yes", (PASSWORD,)),
    ("azure storage", f"AccountName=x;AccountKey={LONG}==;Suffix=y", (LONG,)),
    ("libpq", f"host=db user=app password={PASSWORD} dbname=shop", (PASSWORD,)),
    ("login pair", f"ChirpStack on :8090, login lab / {PASSWORD}. For GitLab", (PASSWORD,)),
    ("password in prose", f"The password is {PASSWORD}, keep it", (PASSWORD,)),
    ("password for", f"password for the rig is {PASSWORD}.", (PASSWORD,)),
    ("passphrase", 'passphrase is "correct horse battery staple"', ("horse battery",)),
    ("German", f"Das Passwort lautet {PASSWORD}!", (PASSWORD,)),
    ("Russian", f"пароль: {PASSWORD}", (PASSWORD,)),
    ("Chinese", f"密码: {PASSWORD}", (PASSWORD,)),
    ("PIN", "the door PIN is 4821, second floor", ("4821",)),
    ("token in prose", f"the deploy token is {HEX}{HEX}", (HEX,)),
    ("2fa code", "backup code: " + make("8f3a-", "99d1-22"), (make("8f3a-", "99d1"),)),
    ("seed phrase", "seed phrase: " + " ".join(["ocean", "tiger", "maple"] * 4), ("ocean tiger",)),
]  # fmt: skip


@pytest.mark.spec("br/BR-07", "pi/D-16")
@pytest.mark.parametrize(("text", "values"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_a_secret_of_this_shape_is_removed(text: str, values: tuple[str, ...]) -> None:
    clean = REDACTOR.redact(text)
    assert MARK in clean
    assert [value for value in values if value in clean] == []


def test_the_corpus_has_at_least_sixty_shapes() -> None:
    assert len(SHAPES) >= 60
    assert len({name for name, _, _ in SHAPES}) == len(SHAPES)


@pytest.mark.spec("br/BR-07")
def test_the_useful_part_survives() -> None:
    text = f"export PAYHUB_API_KEY={LONG} and the db is postgres://app:{PASSWORD}@10.0.0.5/shop"
    assert REDACTOR.redact(text) == (
        f"export PAYHUB_API_KEY={MARK} and the db is postgres://app:{MARK}@10.0.0.5/shop"
    )


def test_a_value_with_a_known_token_in_it_is_one_mark() -> None:
    assert REDACTOR.redact(f"API_TOKEN=v2:{JWT}") == f"API_TOKEN={MARK}"
    assert REDACTOR.redact(f"API_TOKEN=v2:{JWT} next") == f"API_TOKEN={MARK} next"


def test_the_text_around_a_key_stays() -> None:
    assert REDACTOR.redact(f"before\n{pem('PRIVATE KEY')}\nafter").endswith(
        f"{MARK}-----END PRIVATE KEY-----\nafter"
    )


def test_a_value_counts_by_the_name_it_stands_under() -> None:
    assert REDACTOR.named("password", make("hun", "ter2")) == MARK
    assert REDACTOR.named("dbPassword", make("hun", "ter2")) == MARK
    assert REDACTOR.named("API_TOKEN", LONG) == MARK
    assert REDACTOR.named("X-Api-Key", LONG) == MARK
    assert REDACTOR.named("max_tokens", "4096") == "4096"
    assert REDACTOR.named("token", "$TOKEN") == "$TOKEN"
    assert REDACTOR.named("path", "/etc/rig/chirp.token") == "/etc/rig/chirp.token"
    assert REDACTOR.named("note", f"PIN is {'4821'}") == f"PIN is {MARK}"


def test_plugins_add_shapes() -> None:
    rule = SecretRule("badge", r"badge (?P<secret>\d{6})", ("badge",))
    assert Redactor(extra=[rule]).redact("badge 123456") == f"badge {MARK}"


@pytest.mark.parametrize("rule", DEFAULT_RULES, ids=lambda rule: rule.name)
def test_every_rule_compiles_and_has_needles_in_lower_case(rule: SecretRule) -> None:
    assert rule.find or re.compile(rule.pattern)
    assert rule.needles and all(needle == needle.lower() for needle in rule.needles)


WORDS = st.sampled_from(
    ["password", "token", "=", ":", " ", "\n", '"', "'", "://", "@", "-----BEGIN PRIVATE KEY-----",
     "-----END PRIVATE KEY-----", "Bearer ", "eyJ", ".", "API_KEY=", MARK, "a1B2c3D4e5F6", "sk-",
     "Cookie: a=", ";", "\\", "$", "{", "PIN ", "4821", "-p", "mysql ", "/", "x" * 40]
)  # fmt: skip


@given(st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=30).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(once) == once


@given(before=st.text(max_size=40), after=st.text(max_size=40), number=st.integers(0, 52))
def test_a_known_token_is_found_wherever_it_stands(before: str, after: str, number: int) -> None:
    token = SHAPES[number][2][0]
    assert token not in REDACTOR.redact(f"{before} {token} {after}")


@pytest.mark.parametrize(
    "unit",
    ["a", "password", "password=", "-----BEGIN PRIVATE KEY-----\n", "://a:", "eyJ", "eyJaaaaaaa.",
     "Cookie: a=b; ", "token is ", "PIN 1 2 ", "curl -u ", "A_", "AAAA\n", "\"password\": \"",
     "login a / ", "$5$", "sk-", "seed phrase: abc ", "--password ", "x.y.", "key",
     "-----END PRIVATE KEY"],
)  # fmt: skip
def test_repeated_beginnings_of_secrets_cost_linear_time(unit: str) -> None:
    """A rule that is not linear takes minutes here, and the test's timeout ends it."""
    text = unit * (400_000 // len(unit))
    assert len(REDACTOR.redact(text)) <= len(text) * 20
