"""A table of estimates: as text, as a DataFrame, as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.errors import MissingDependencyError

if TYPE_CHECKING:
    import pandas


class Block(NamedTuple):
    """The estimates of one parametrisation."""

    title: str
    names: tuple[str, ...]
    values: Array
    standard_errors: Array
    z_values: Array
    p_values: Array
    intervals: Array


@dataclass(frozen=True, eq=False)
class Summary:
    """Printable summary of a fit. ``str()`` gives text, :meth:`to_frame` a DataFrame, notebooks show HTML."""

    title: str
    header: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]
    level: float
    notes: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def _lines(self) -> list[str]:
        """What stands below the table."""
        return [f"note: {note}" for note in self.notes] + [f"remark: {remark}" for remark in self.remarks]

    def _columns(self) -> tuple[str, ...]:
        low, high = 50 * (1 - self.level), 50 * (1 + self.level)
        return ("estimate", "std. error", "z", "P>|z|", f"[{low:.4g}%", f"{high:.4g}%]")

    @staticmethod
    def _cells(block: Block) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for i, name in enumerate(block.names):
            value, se = block.values[i], block.standard_errors[i]
            if se == 0:
                rows.append((name, f"{value:.5g}", "fixed", "", "", "", ""))
                continue
            low, high = block.intervals[i]
            numbers = (f"{value:.5g}", f"{se:.3g}", f"{block.z_values[i]:.2f}", f"{block.p_values[i]:.3f}")
            rows.append((name, *numbers, f"{low:.5g}", f"{high:.5g}"))
        return rows

    def __str__(self) -> str:
        cells = [(block.title, self._cells(block)) for block in self.blocks]
        columns = ("", *self._columns())
        every = [columns, *(row for _, rows in cells for row in rows)]
        widths = [max(len(row[k]) for row in every) for k in range(len(columns))]
        widths[0] = max(widths[0], *(len(title) for title, _ in cells))
        total = max(sum(widths) + 2 * (len(widths) - 1), 60)

        def line(row: tuple[str, ...]) -> str:
            first = row[0].ljust(widths[0])
            return "  ".join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()

        out = [f"{self.title}: score-matching estimate", "=" * total]
        out += [f"{key:<16} {value}" for key, value in self.header]
        for title, rows in cells:
            out += ["-" * total, line((title, *columns[1:])), "-" * total]
            out += [line(row) for row in rows]
        out.append("=" * total)
        out += self._lines()
        return "\n".join(out)

    __repr__ = __str__

    def to_frame(self) -> pandas.DataFrame:
        """One row per parameter, indexed by its name."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_frame() needs pandas: run `pip install pandas`.") from error
        columns = self._columns()
        frames = [
            pandas.DataFrame(
                np.column_stack([b.values, b.standard_errors, b.z_values, b.p_values, b.intervals]),
                index=pandas.Index(list(b.names), name="parameter"),
                columns=list(columns),
            )
            for b in self.blocks
        ]
        return pandas.concat(frames)

    def _repr_html_(self) -> str:
        head = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self.header)
        body = ""
        for block in self.blocks:
            names = "".join(f"<th>{html.escape(c)}</th>" for c in (block.title, *self._columns()))
            rows = "".join(
                "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._cells(block)
            )
            body += f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines())
        return f"<h4>{html.escape(self.title)}</h4><table>{head}</table>{body}{notes}"
