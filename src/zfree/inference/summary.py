"""A table of estimates: as text, as a DataFrame, as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.errors import MissingDependencyError
from zfree.inference.parameters import Parameters

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS = 30
"""Parameters of each parametrisation that a summary shows unless it is asked for all."""


class Estimates(NamedTuple):
    """The estimates of one parametrisation."""

    title: str
    estimates: Parameters
    intervals: Array | None
    """None where there is nothing but the values."""


BIASED = 0.25
"""Bias, in standard errors, from which on a summary speaks of it."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Printable summary of a fit. ``str()`` gives text, :meth:`to_frame` a DataFrame, notebooks show HTML."""

    title: str
    header: tuple[tuple[str, str], ...]
    blocks: tuple[Estimates, ...]
    level: float
    notes: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    rows: int | None = None

    def _lines(self) -> list[str]:
        """What stands below the table."""
        lines = [f"bias: {line}" for line in self._biases()]
        lines += [f"note: {note}" for note in self.notes]
        return lines + [f"remark: {remark}" for remark in self.remarks]

    def _columns(self) -> tuple[str, ...]:
        low, high = 50 * (1 - self.level), 50 * (1 + self.level)
        letter = "z" if all(block.estimates.degrees_of_freedom is None for block in self.blocks) else "t"
        return ("estimate", "std. error", letter, f"P>|{letter}|", f"[{low:.4g}%", f"{high:.4g}%]")

    def _cells(self, block: Estimates) -> list[tuple[str, ...]]:
        p = block.estimates
        known = () if block.intervals is None else (p.standard_errors, p.z_values, p.p_values, *block.intervals.T)
        forms = (".3g", ".2f", ".3f", ".5g", ".5g")
        rows: list[tuple[str, ...]] = []
        for i, name in enumerate(p.names[: self.rows]):
            rest: tuple[str, ...] = ("fixed" if p.variances[i] == 0 else "", *4 * ("",))
            if known and p.variances[i] > 0:
                rest = tuple(f"{column[i]:{form}}" for column, form in zip(known, forms, strict=True))
            rows.append((name, f"{p.values[i]:.5g}", *rest))
        return rows

    def _rest(self, block: Estimates) -> list[str]:
        """What is said of the parameters that are not shown."""
        hidden = len(block.estimates.names) - len(block.estimates.names[: self.rows])
        return [f"… {hidden} more: summary(rows=None) shows all, .to_frame() holds all"] if hidden else []

    def _biases(self) -> list[str]:
        """Estimates with a bias worth speaking of; the intervals are corrected for it, the estimates are not."""
        found = []
        for _, p, _ in self.blocks:
            if p.bias is None:
                continue
            share = np.divide(p.bias, se := p.standard_errors, out=np.zeros_like(p.bias), where=se > 0)
            found += [(name, b, s) for name, b, s in zip(p.names, p.bias, share, strict=True) if abs(s) > BIASED]
        if not found:
            return []
        shown = ", ".join(f"{name} {bias:+.3g} ({share:+.2f} std. errors)" for name, bias, share in found[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        return [f"{shown}{more}; estimates are as they are, intervals are corrected."]

    def __str__(self) -> str:
        cells = [(block, self._cells(block)) for block in self.blocks]
        columns = ("", *self._columns())
        every = [columns, *(row for _, rows in cells for row in rows)]
        widths = [max(len(row[k]) for row in every) for k in range(len(columns))]
        widths[0] = max(widths[0], *(len(block.title) for block, _ in cells))
        total = max(sum(widths) + 2 * (len(widths) - 1), 60)

        def line(row: tuple[str, ...]) -> str:
            first = row[0].ljust(widths[0])
            return "  ".join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()

        out = [f"{self.title}: score-matching estimate", "=" * total]
        out += [f"{key:<16} {value}" for key, value in self.header]
        for block, rows in cells:
            out += ["-" * total, line((block.title, *columns[1:])), "-" * total]
            out += [line(row) for row in rows] + self._rest(block)
        out.append("=" * total)
        out += self._lines()
        return "\n".join(out)

    __repr__ = __str__

    def to_frame(self) -> pandas.DataFrame:
        """One row per parameter, indexed by its name; with the estimates alone where no standard errors were computed."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_frame() needs pandas: run `pip install pandas`.") from error
        columns = self._columns()
        frames = []
        for _, p, intervals in self.blocks:
            known = () if intervals is None else (p.standard_errors, p.z_values, p.p_values, intervals)
            numbers = np.column_stack([p.values, *known])
            index = pandas.Index(list(p.names), name="parameter")
            frames.append(pandas.DataFrame(numbers, index=index, columns=list(columns[: numbers.shape[1]])))
        return pandas.concat(frames)

    def _repr_html_(self) -> str:
        head = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self.header)
        body = ""
        for block in self.blocks:
            names = "".join(f"<th>{html.escape(c)}</th>" for c in (block.title, *self._columns()))
            rows = "".join(
                "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._cells(block)
            )
            rest = "".join(f"<p>{html.escape(text)}</p>" for text in self._rest(block))
            body += f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>{rest}"
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines())
        return f"<h4>{html.escape(self.title)}</h4><table>{head}</table>{body}{notes}"
