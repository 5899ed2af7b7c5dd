"""Reads the Markdown tables that benchmarks print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Columns by name, rows by their first cell, without marks of emphasis."""

    columns: list[str]
    rows: dict[str, list[str]]

    def number(self, row: str, column: str) -> float:
        """A cell as a number, of ``8.8 ms`` its first word.

        Raises:
            KeyError: There is no such row, column or number.
        """
        try:
            return float(self.rows[row][self.columns.index(column)].split()[0])
        except (ValueError, IndexError) as error:
            raise KeyError(f"{row}, {column}") from error


def tables(text: str) -> list[Table]:
    """All tables, in order."""
    found: list[Table] = []
    block: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").split("|")
            block.append([cell.strip().strip("*") for cell in cells])
        elif block:
            head, *rest = block
            rows = {row[0]: row[1:] for row in rest if row[0].strip("-: ")}
            rows |= {row[0]: row[1:] for row in rest if not row[0] and any(row[1:])}
            found.append(Table(columns=head[1:], rows=rows))
            block = []
    return found
