"""Plain text and Markdown: a dialogue with speakers, or one note."""

from __future__ import annotations

from pathlib import Path

from hindsight_core.transcript.readers import read_transcript


def test_text_with_speakers(tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    path.write_text(
        "# Talk\n\nUser: which port?\nreally\n\n**Assistant**: 7443.\n\n## User\n\nthanks\n"
        "Human (10:02): bye\nNote: this is no speaker\nA.I.: nor this\n"
    )
    found = read_transcript(path)
    assert [(e.role, e.text) for e in found.entries] == [
        ("user", "# Talk"),
        ("user", "which port?\nreally"),
        ("assistant", "7443."),
        ("user", "thanks"),
        ("user", "bye\nNote: this is no speaker\nA.I.: nor this"),
    ]


def test_a_note_is_the_persons_and_has_the_same_ids_wherever_it_lies(tmp_path: Path) -> None:
    one, two = tmp_path / "a.md", tmp_path / "deep" / "b.txt"
    two.parent.mkdir()
    for path in (one, two):
        path.write_text("The build needs Go 1.22.\n")
    first, second = read_transcript(one), read_transcript(two)
    assert (first.session_id, first.entries) == (second.session_id, second.entries)
    assert [(e.role, e.text) for e in first.entries] == [("user", "The build needs Go 1.22.")]
    two.write_text("The build needs Go 1.23.\n")
    assert read_transcript(two).session_id != first.session_id


def test_a_long_note_is_read_in_pieces_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    text = "\n".join(f"line {n} of the long note" for n in range(4_000)) + "y" * 50_000
    path.write_text(text)
    entries = read_transcript(path).entries
    assert max(len(e.text) for e in entries) <= 16_000
    assert "".join("".join(e.text for e in entries).split()) == "".join(text.split())
    assert len({e.id for e in entries}) == len(entries)
