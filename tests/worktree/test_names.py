from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.worktree.names import MOST, files_in


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Retries live in src/net/retry.py.", ["src/net/retry.py"]),
        ("See `src/net/retry.py:42` and (docs/a.md)", ["src/net/retry.py", "docs/a.md"]),
        ("Edit ./tox.ini, then pyproject.toml", ["tox.ini", "pyproject.toml"]),
        ("The route is app/[id]/page.tsx", ["app/[id]/page.tsx"]),
        ("/srv/shop/src/a.py#L10-L20 is generated", ["/srv/shop/src/a.py"]),
        ("Makefile targets and ops/Dockerfile", ["Makefile", "ops/Dockerfile"]),
        ("../up/one.py is not ours", ["../up/one.py"]),
        ("crates/core/src/lib.rs:10-20 panics", ["crates/core/src/lib.rs"]),
        ("Компонент в web/кнопка.tsx", ["web/кнопка.tsx"]),
    ],
)
def test_files_are_found(text, files):
    assert list(files_in(text)) == files


@pytest.mark.parametrize(
    "text",
    [
        "CI/CD and TCP/IP, and/or 9443/tcp on origin/main",
        "Node.js 20 and Next.js, e.g. v1.2.3 of foo.bar",
        "https://example.com/a/b.html and example.com/docs/x.md",
        "mail bob@example.com, 10.0.0.1:8443, 72 h/day",
        "C:\\Users\\x\\a.py",
        "scoped @types/node.js",
        "all .csv and .conf files",
        "",
        "nothing at all",
    ],
)
def test_what_only_looks_like_one_is_none(text):
    assert files_in(text) == ()


def test_there_is_a_bound():
    assert len(files_in(" ".join(f"src/a{n}.py" for n in range(100)))) == MOST


@given(st.text(max_size=400))
def test_any_text_is_read(text):
    assert all(path in text for path in files_in(text))
