"""The commits of a repository that say something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hindsight_core.importing.git.program import NO_PROGRAMS
from hindsight_core.transcript.shapes import read_time

if TYPE_CHECKING:
    from hindsight_core.importing.git.program import Git

_RECORD, _FIELD = "\x1e", "\x1f"
_FORMAT = f"--format={_RECORD}%H{_FIELD}%an{_FIELD}%ae{_FIELD}%aI{_FIELD}%B"
_BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|snyk-bot|mergify|github-actions|pre-commit-ci"
    r"|semantic-release|allcontributors|weblate|crowdin|imgbot|codecov)\b|\bbot@|-bot\b",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"(?:merge (?:branch|pull request|remote|tag|commit|\S+ into)\b|(?:build|chore)\(deps"
    r"|bump \S+ (?:from|to)\b|bump version\b|(?:fixup|squash|amend)!|wip\b|tmp\b|temp\b"
    r"|initial commit$"
    r"|(?:release|version|prepare release)?\s*v?\d+\.\d+(?:\.\d+)?\S*$"
    r"|(?:fix(?:ed)? )?(?:typos?|lint|formatting|whitespace|tests?|ci|build)\.?$"
    r"|update(?:d)? (?:readme|changelog|dependencies|deps|lock ?file)\S*$)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|change-id|reviewed-(?:by|on)|acked-by|tested-by|cc"
    r"|git-svn-id|generated with)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_LOCKS = tuple(
    f":(exclude,glob)**/{name}"
    for name in ("*.lock", "*-lock.json", "*-lock.yaml", "go.sum", "*.min.js", "*.min.css", "*.svg")
)
DIFF = 4_000
FEW_WORDS = 3


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit.

    Attributes:
        id: Its hash.
        subject: First line of its message.
        body: The rest, without trailers.
        when: When it was written (UTC).
    """

    id: str
    subject: str
    body: str
    when: datetime

    @property
    def message(self) -> str:
        """Subject and body."""
        return f"{self.subject}\n\n{self.body}" if self.body else self.subject


@dataclass(frozen=True, slots=True)
class History:
    """Commits to read.

    Attributes:
        commits: Those that say something, oldest first.
        noise: How many were left out: of bots, or saying nothing.
    """

    commits: Sequence[Commit]
    noise: int = 0


def origin(git: Git) -> str:
    """A name of the repository that is the same in every clone: its first commit."""
    return git.read("rev-list", "--max-parents=0", "HEAD").split()[-1]


def head(git: Git) -> str:
    """The commit that is checked out."""
    return git.read("rev-parse", "--verify", "HEAD^{commit}").strip()


def exists(git: Git, commit: str) -> bool:
    """Whether a commit is still there; a rewritten history may have lost it."""
    return bool(git.head_of("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", most=64))


def history(
    git: Git, *, after: str | None, until: str, since: datetime | None, most: int
) -> History:
    """What can be reached from a commit and not from another; merges are left out.

    Args:
        git: In the repository.
        after: A commit that was read up to; None for the beginning.
        until: The commit to read up to.
        since: Only commits written since then.
        most: Only that many, the newest.
    """
    span = f"{after}..{until}" if after else until
    limits = [f"--max-count={most}", *([f"--since={since.isoformat()}"] if since else [])]
    listed = git.read(
        "log", "--no-merges", "--topo-order", *NO_PROGRAMS[2:], *limits, _FORMAT, span, "--"
    )
    found = [commit for record in listed.split(_RECORD) if (commit := _commit(record)) is not None]
    kept = [commit for commit, noise in found if not noise]
    return History(list(reversed(kept)), noise=len(found) - len(kept))


def diff(git: Git, commit: Commit) -> str:
    """The beginning of what a commit changed; lock files and such are left out."""
    form = ("--format=", "--unified=1", "--no-color", *NO_PROGRAMS)
    shown = git.head_of("show", *form, commit.id, "--", ".", *_LOCKS, most=4 * DIFF)
    lines = [line for line in shown.splitlines() if not line.startswith(("index ", "diff --git"))]
    return "\n".join(lines)[:DIFF].strip()


def _commit(record: str) -> tuple[Commit, bool] | None:
    fields = record.strip("\n").split(_FIELD, 4)
    if len(fields) != 5:
        return None
    own, author, mail, when, message = fields
    subject, _, body = message.strip().partition("\n")
    body = re.sub(r"\n{3,}", "\n\n", _TRAILER.sub("", body)).strip()
    commit = Commit(own, subject.strip(), body, read_time(when) or datetime.fromtimestamp(0, UTC))
    bot = _BOT.search(f"{author} <{mail}>")
    return commit, bool(bot or _says_nothing(commit))


def _says_nothing(commit: Commit) -> bool:
    if _NOISE.match(commit.subject):
        return True
    return not commit.body and len(re.findall(r"\w+", commit.subject)) < FEW_WORDS
