"""What an experiment has to say: numbers beside the paper's, findings, a picture."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Number:
    """One number of a table, with the paper's where it prints one."""

    table: str
    row: str
    column: str
    ours: float
    paper: float | None = None
    digits: int = 3
    """Significant ones that are shown; files of numbers have all."""

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's."""
        if self.paper is None or self.paper == 0.0 or not math.isfinite(self.ours):
            return None
        return self.ours / self.paper


@dataclass(frozen=True)
class Finding:
    """A statement of the paper (or a promise of this library), whether these numbers bear it out, and which they are."""

    statement: str
    holds: bool
    detail: str

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'NO'}: {self.statement} ({self.detail})"


@dataclass(frozen=True)
class Report:
    """Tables, findings, remarks, and a function that draws the figure."""

    numbers: Sequence[Number]
    findings: Sequence[Finding]
    draw: Callable[[], Any]
    remarks: Sequence[str] = ()

    def tables(self) -> dict[str, list[list[str]]]:
        """Header and rows of each table, as text; the paper's numbers and ratios only where there are any."""
        return {name: _layout([n for n in self.numbers if n.table == name]) for name in _unique(self.numbers, "table")}

    def to_markdown(self, title: str, settings: str) -> str:
        """The page of the experiment."""
        parts = [f"# {title}", f"`{settings}`"]
        for name, (header, *rows) in self.tables().items():
            lines = [_line(cells) for cells in (header, ["---"] * len(header), *rows)]
            parts.append(f"**{name}**\n\n" + "\n".join(lines))
        parts += [*self.remarks]
        if self.findings:
            parts.append("\n".join(f"- {finding}" for finding in self.findings))
        return "\n\n".join(parts) + "\n"

    def to_csv(self) -> str:
        """One line per number, with all digits."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["table", "row", "column", "ours", "paper", "ratio"])
        for n in self.numbers:
            writer.writerow([n.table, n.row, n.column, n.ours, _blank(n.paper), _blank(n.ratio)])
        return out.getvalue()


def short(value: float | None, digits: int = 3) -> str:
    """Three significant digits, or as many as are wanted: 0.0072, 1.35, 2.35e4."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "failed" if math.isnan(value) else "∞"
    if value == 0 or 1e-3 <= abs(value) < 9999.5:
        return f"{value:.{digits}g}" if abs(value) < 999.5 else f"{value:.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _layout(numbers: Sequence[Number]) -> list[list[str]]:
    columns, found = _unique(numbers, "column"), {(n.row, n.column): n for n in numbers}
    compared = {n.column for n in numbers if n.paper is not None}
    header = [""]
    for column in columns:
        header += [column, "paper", "ratio"] if column in compared else [column]
    rows = []
    for row in _unique(numbers, "row"):
        cells = [row]
        for column in columns:
            n = found.get((row, column))
            cells.append(short(n.ours, n.digits) if n else "")
            if column in compared:
                cells += [short(n.paper, n.digits), short(n.ratio)] if n else ["", ""]
        rows.append(cells)
    return [header, *rows]


def _line(cells: Sequence[str]) -> str:
    """Of a table in Markdown, where a bar in a name such as exp(-|z|) would begin another cell."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _unique(numbers: Sequence[Number], field: str) -> list[str]:
    return list(dict.fromkeys(getattr(n, field) for n in numbers))


def _blank(value: float | None) -> float | str:
    return "" if value is None else value
