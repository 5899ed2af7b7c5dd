"""What is no secret stays: ids, hashes, references, placeholders, paths and ordinary code."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from hindsight_core.redact import MARK, Redactor

REDACTOR = Redactor()

SAFE = [
    "fixed in 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b: rename the token column",
    "id 01234567-89ab-cdef-0123-456789abcdef",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DSLnWMcQBo+w5Q6QWoWO0YbQ=",
    'integrity="sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="',
    "image@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "export PAYHUB_API_KEY=$PAYHUB_KEY",
    "API_KEY=${API_KEY:-}",
    'curl -H "Authorization: Bearer $CHIRP_API_TOKEN" http://127.0.0.1',
    "curl -s -u lab:$CHIRP_PW http://127.0.0.1:8090/api/gateways",
    "the header has to be `Authorization: Bearer ...`; basic auth is refused",
    "Authorization: Bearer <token>",
    "API_KEY=your-api-key-here",
    "password: changeme",
    'password = os.environ["DB_PASSWORD"]',
    "token = self.tokenizer.next_token()",
    "the API token is kept in /etc/rig/chirp.token on rig-2, tests read CHIRP_API_TOKEN",
    "TOKEN_FILE=/run/secrets/token",
    "max_tokens: 4096",
    "password: str",
    "password is required",
    "the password is wrong",
    "the token is a SHA-256 digest",
    "secretName: shop-tls",
    "passwordless login, PasswordField, token_count = 12",
    "tokens: 20, prompt_tokens=1024",
    "${{ secrets.DEPLOY_TOKEN }}",
    "src/hindsight_core/transcript/readers/canonical.py:41:7",
    "https://user@git.example/shop.git",
    "postgres://localhost:5432/shop",
    "docker run -u 1000:1000 img",
    "api_key=None, secret=None",
    "user src/app.py / docs",
    "the account acme/shop2 and user: src/main2.py",
    "log in at https://git.example/x1",
    "OKTA 00 and 00000000000000000000000000000000000000000",
    "CACHE_KEY=user:42",
    "GET /search?key=value&token=abc",
]


@pytest.mark.spec("br/BR-07")
@pytest.mark.parametrize("text", SAFE)
def test_what_is_no_secret_stays(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_false_positives_on_ordinary_code_are_rare() -> None:
    """Below one removal in 10,000 lines of the standard library."""
    root = Path(sysconfig.get_path("stdlib"))
    files = [*root.glob("*.py"), *root.glob("asyncio/*.py"), *root.glob("email/*.py")]
    files += [*root.glob("http/*.py"), *root.glob("urllib/*.py"), *root.glob("json/*.py")]
    texts = [file.read_text(errors="replace") for file in files]
    removed = sum(REDACTOR.redact(text).count(MARK) for text in texts)
    lines = sum(text.count("\n") for text in texts)
    assert lines > 80_000
    assert removed * 10_000 <= lines
