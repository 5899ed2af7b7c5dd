"""Whatever a repository brings along: it is read, or told, and never more than that."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.sharing.conflicts import has_markers, resolve, settle
from hindsight_core.sharing.fact_file import FactFile, parse, render
from hindsight_core.sharing.folder import FactFolder

LINES = st.lists(
    st.sampled_from(
        ["---", "id: f1", "state: valid", "state: deleted", "tag: a", "said: 2030-01-01",
         "changed: 2030-01-01T00:00:00Z", "<<<<<<< HEAD", "=======", ">>>>>>> x", "||||||| b",
         "A fact", "version: 1", "superseded_by: f2", "file: ab12 src/a.py", "", ":", "key:"]
    )
    | st.text(max_size=30)
).map("\n".join)  # fmt: skip


@given(LINES)
def test_a_text_is_a_fact_or_no_fact(text):
    with suppress(ValueError):
        form = parse(text, stem="f1")
        assert "\n" not in form.text
        assert parse(render(form), stem="f1") == form


@given(LINES, st.sampled_from(["both", "newest"]))
def test_a_conflict_is_resolved_or_told(text, how):
    if not has_markers(text):
        return
    with suppress(ValueError):
        kept = resolve(text, stem="f1", how=how)
        assert 1 <= len(kept) <= 2
        assert len({form.id for form in kept}) == len(kept)
        assert not any(has_markers(render(form)) for form in kept)


FORMS = st.builds(
    FactFile,
    id=st.just("f1"),
    text=st.sampled_from(["A fact", "Another fact", "A third"]),
    kind=st.sampled_from(["fact", "decision"]),
    state=st.sampled_from(["valid", "invalidated"]),
    tags=st.sampled_from([(), ("a",), ("b",)]),
)


@given(FORMS, FORMS)
def test_no_text_is_lost_by_keeping_both(ours, theirs):
    kept = settle(ours, theirs, how="both")
    assert {form.text for form in kept} == {ours.text, theirs.text}
    assert len({form.id for form in kept}) == len(kept)
    same = settle(theirs, ours, how="both")
    assert {form.text for form in same} == {form.text for form in kept}


@given(st.binary(max_size=300))
def test_a_file_of_any_bytes_is_read_or_told(tmp_path_factory, raw):
    checkout = tmp_path_factory.mktemp("shop")
    folder = FactFolder(checkout)
    folder.path.mkdir(parents=True)
    (folder.path / "a.md").write_bytes(raw)
    reading = folder.read()
    assert reading.count == 1
