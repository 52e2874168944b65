"""Rows that are not inside a domain: which, why, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from zfree.arrays import Array, Index, Mask


@dataclass(frozen=True)
class Violations:
    """Which rows break which constraint, and by how much.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers, in order.
    constraints : tuple of str
        The constraint each of them breaks (the worst one of the row).
    amounts : ndarray of float
        By how much: 0 for a row exactly on the boundary, positive outside.
    n_rows : int
        How many rows were examined.
    """

    rows: Index
    constraints: tuple[str, ...]
    amounts: Array
    n_rows: int

    def __len__(self) -> int:
        return int(self.rows.size)

    @property
    def on_boundary(self) -> Mask:
        """Whether each listed row is on the boundary, rather than outside."""
        return self.amounts <= 0.0

    def describe(self, most: int = 3) -> str:
        """A sentence naming the first `most` rows."""
        shown = [
            f"row {row} ({name}, {'equality' if amount <= 0 else f'missed by {amount:.3g}'})"
            for row, name, amount in zip(self.rows, self.constraints, self.amounts, strict=True)
        ][:most]
        rest = len(self) - len(shown)
        return "; ".join(shown) + (f"; and {rest} more" if rest else "")

    def __str__(self) -> str:
        if not len(self):
            return f"all {self.n_rows} rows are inside the domain"
        return f"{len(self)} of {self.n_rows} rows are not inside the domain: {self.describe(10)}"
