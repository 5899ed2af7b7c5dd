"""What a synchronisation of facts with a repository came to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class SyncReport:
    """What a synchronisation did, or would do.

    Attributes:
        written: Ids of facts whose files were written.
        taken: Ids of facts taken over from files.
        retired: Ids of facts invalidated, since their files were removed.
        erased: Ids of facts deleted for good here, since they were elsewhere.
        tombs: Ids of facts deleted here, whose files say so now.
        settled: Ids of facts of which two forms were brought together.
        conflicts: Names of files whose conflict markers were resolved.
        held: How many facts are not for others: pending, private, waiting for a review.
        foreign: How many files were left alone, since the project is not trusted.
        problems: Name of a file, or id of a fact, to what is wrong with it.
        notes: Id of a fact to what one would not expect.
    """

    written: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    tombs: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    held: int = 0
    foreign: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
