from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight_core.memory import Document, Hit, Query
from hindsight_core.testing.banks import fact
from hindsight_core.turns import Turn
from hindsight_core.worktree import ranking
from hindsight_core.worktree.freshness import FRESH, Freshness, freshness, stamped
from hindsight_core.worktree.plugin import TreeMarks, TreeStamps
from hindsight_core.worktree.ranking import against_tree, moved_down
from hindsight_core.worktree.tree import MAX_FOLDERS, Tree
from hindsight_core.worktree.whole import WholeTree, verify

NOW = datetime(2030, 3, 4, 9, 30, tzinfo=UTC)
COMMIT = "a" * 40


@pytest.fixture
def shop(tmp_path):
    """A checkout of one commit, made at NOW."""
    root = tmp_path / "shop"
    (root / ".git/refs/heads").mkdir(parents=True)
    (root / ".git/logs").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/refs/heads/main").write_text(COMMIT + "\n")
    moment = int(NOW.timestamp())
    (root / ".git/logs/HEAD").write_text(f"{'0' * 40} {COMMIT} A <a@b> {moment} +0000\tclone\n")
    write(root / "src/net/retry.py", "RETRIES = 3\n")
    write(root / "tox.ini", "[tox]\n")
    return root


def write(path, text, *, at=NOW):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))


def said(text, **values):
    return fact(text, timestamp=NOW, **values)


def test_a_fact_is_stamped_with_where_it_was_said(shop):
    found = stamped(said("Retries are in src/net/retry.py and in gone.py"), Tree(shop)).provenance
    assert (found.branch, found.commit) == ("main", COMMIT)
    assert [path for path, _ in found.files] == ["src/net/retry.py"]
    again = stamped(replace(said("x"), provenance=replace(found, branch="old")), Tree(shop))
    assert again.provenance.branch == "old"


def test_changed_is_what_differs_from_what_was_noted(shop):
    retry = stamped(said("Retries are in src/net/retry.py"), Tree(shop))
    assert freshness(retry, Tree(shop)) == FRESH
    # A checkout writes files anew without changing them.
    write(shop / "src/net/retry.py", "RETRIES = 3\n", at=NOW + timedelta(days=9))
    assert freshness(retry, Tree(shop)) == FRESH
    write(shop / "src/net/retry.py", "RETRIES = 5\n", at=NOW - timedelta(days=9))
    assert freshness(retry, Tree(shop)) == Freshness(changed=("src/net/retry.py",))
    (shop / "src/net/retry.py").unlink()
    assert freshness(retry, Tree(shop)) == Freshness(missing=("src/net/retry.py",))


def test_without_a_note_the_time_of_the_file_counts(shop):
    retry = said("Retries are in src/net/retry.py")
    assert freshness(retry, Tree(shop)) == FRESH
    write(shop / "src/net/retry.py", "RETRIES = 3\n", at=NOW + timedelta(hours=1))
    assert freshness(retry, Tree(shop)).changed == ("src/net/retry.py",)
    # A clone made later wrote all of them.
    later = int((NOW + timedelta(hours=2)).timestamp())
    log = shop / ".git/logs/HEAD"
    log.write_text(log.read_text().replace(str(int(NOW.timestamp())), str(later)))
    assert freshness(retry, Tree(shop)) == FRESH
    assert freshness(replace(retry, timestamp=None), Tree(shop)) == FRESH


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Payments are in src/pay.py", ("src/pay.py",)),
        ("Retries are in net/retry.py", ()),  # people leave out src/
        ("Look at pay.py", ()),  # it may be anywhere
        ("Elsewhere: /etc/app/conf.ini, ~/notes/a.md, ../b/c.py", ()),
        ("See tox.ini", ()),
    ],
)
def test_missing_is_what_is_nowhere_near(shop, text, missing):
    assert freshness(said(text), Tree(shop)).missing == missing


def test_absolute_paths_inside_the_checkout_count(shop):
    assert freshness(said(f"See {shop}/src/pay.py"), Tree(shop)).missing == (f"{shop}/src/pay.py",)


def test_with_too_many_folders_nothing_is_called_missing(shop):
    for number in range(MAX_FOLDERS + 1):
        (shop / f"p{number}").mkdir()
    assert freshness(said("Payments are in src/pay.py"), Tree(shop)) == FRESH


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_name_that_git_knows_elsewhere_is_not_called_missing(tmp_path):
    root = tmp_path / "real"
    write(root / "core/geo/src/commonMain/Simplify.kt", "")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True)
    told = said("It is in core/geo/Simplify.kt and in core/geo/Gone.kt")
    assert freshness(told, Tree(root)).missing == ("core/geo/Gone.kt",)
    both = ("core/geo/Simplify.kt", "core/geo/Gone.kt")
    assert freshness(told, WholeTree(root)).missing == both


def test_a_whole_look_knows_bare_names_and_deep_folders(shop):
    write(shop / "a/b/c/d/deep.py", "")
    write(shop / "node_modules/x/pay.py", "")
    tree = WholeTree(shop)
    assert freshness(said("It is in d/deep.py, in deep.py"), tree) == FRESH
    assert freshness(said("It is in pay.py"), tree).missing == ("pay.py",)
    assert freshness(said("It is in node_modules/x/pay.py"), tree) == FRESH
    facts = [said("It is in pay.py"), said("It is in tox.ini")]
    assert verify(facts, shop) == {facts[0].id: Freshness(missing=("pay.py",))}


def hits(*texts, scores=(0.9, 0.8, 0.3)):
    return [
        Hit(fact=said(text), bank="shop", score=score)
        for text, score in zip(texts, scores, strict=False)
    ]


async def test_what_no_longer_fits_comes_later_but_comes(shop):
    found = hits("Pay is in src/pay.py", "Retries are in src/net/retry.py", "Weak one")
    marked = await against_tree(found, Tree(shop))
    assert [hit.fact.text for hit in marked] == [
        "Retries are in src/net/retry.py", "Pay is in src/pay.py", "Weak one",
    ]  # fmt: skip
    assert [hit.missing for hit in marked] == [(), ("src/pay.py",), ()]
    assert [hit.score for hit in marked] == [0.8, 0.9, 0.3]


def test_the_order_of_the_others_is_kept():
    a, b, c, d = (
        Hit(fact=said(name), bank="x", score=s)
        for name, s in zip("abcd", (0.2, 0.9, 0.5, 0.4), strict=True)
    )
    stale = replace(b, missing=("x",))
    assert [h.fact.text for h in moved_down([a, stale, c, d])] == ["a", "c", "b", "d"]
    assert moved_down([a, b]) == (a, b)
    both = [replace(a, missing=("x",)), replace(b, changed=("y",))]
    assert moved_down(both) == tuple(both)


async def test_hits_that_name_no_file_cost_nothing(shop):
    found = hits("No file here", "Nor here")
    assert await against_tree(found, Tree(shop)) is found


async def test_a_file_system_that_does_not_answer_costs_little(shop, monkeypatch):
    class Slow(Tree):
        def find(self, path):
            raise OSError("stale handle")

    found = hits("Pay is in src/pay.py")
    assert await against_tree(found, Slow(shop)) == found
    assert ranking.LIMIT_S < 1


async def test_hooks_mark_and_stamp(shop):
    marks, stamps = TreeMarks(Tree(shop), bank="shop"), TreeStamps(Tree(shop), lambda: NOW)
    turn = Turn(id="t", session_id="s", prompt="pay")
    found = await marks.hindsight_filter_hits(turn, Query("pay"), hits("Pay is in src/pay.py"))
    assert found[0].missing == ("src/pay.py",)
    others = [replace(hit, bank="other") for hit in hits("Pay is in src/pay.py")]
    assert await marks.hindsight_filter_hits(turn, Query("pay"), others) == others
    document = Document(id="d", text="", facts=(said("See tox.ini"),), timestamp=NOW)
    stored = await stamps.hindsight_before_store(document)
    assert stored.facts[0].provenance.commit == COMMIT
    old = replace(document, timestamp=NOW - timedelta(days=2))
    assert await stamps.hindsight_before_store(old) == old
    bare = replace(document, facts=None)
    assert await stamps.hindsight_before_store(bare) == bare
