"""Candidates ordered by the paper's diagnostics (appendix, "Data Driven Ranking of Candidate Choices of φ")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zfree.errors import MissingDependencyError, SpecificationError
from zfree.selection.candidate import Candidate

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Ranking:
    """Candidates, best first: by the criterion, inconsistent ones and failures last."""

    candidates: tuple[Candidate, ...]

    @property
    def best(self) -> Candidate:
        """The consistent candidate with the smallest criterion."""
        first = self.candidates[0]
        if first.result is None:
            raise SpecificationError(f"no candidate could be fitted; the first failed with: {first.refused}")
        return first

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def __str__(self) -> str:
        by_trace = all(c.result is None or np.isclose(c.criterion, c.total_variance) for c in self.candidates)
        rows = [
            ("", "generator", "Tr(Σ̂)" if by_trace else "criterion", "above the best", "κ(Γ_N)", "estimate", "remark")
        ]
        for i, c in enumerate(self.candidates, 1):
            estimate = ""
            if c.result is not None:
                head = ", ".join(
                    f"{name}={value:.4g}" for name, value in list(zip(c.result.names, c.result.theta, strict=True))[:3]
                )
                estimate = head + (", …" if len(c.result.theta) > 3 else "")
            rows.append(
                (
                    str(i),
                    repr(c.generator),
                    f"{c.criterion:.4g}",
                    "" if np.isnan(c.excess) else f"{100 * c.excess:+.0f}% ± {100 * c.excess_se:.0f}%",
                    f"{c.condition_number:.4g}",
                    estimate,
                    c.refused,
                )
            )
        widths = [max(len(row[k]) for row in rows) for k in range(7)]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    __repr__ = __str__

    def to_frame(self) -> pandas.DataFrame:
        """One row per candidate, best first, with the whole estimate."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_frame() needs pandas: run `pip install pandas`.") from error
        return pandas.DataFrame(
            {
                "generator": [repr(c.generator) for c in self.candidates],
                "total_variance": [c.total_variance for c in self.candidates],
                "criterion": [c.criterion for c in self.candidates],
                "excess": [c.excess for c in self.candidates],
                "excess_se": [c.excess_se for c in self.candidates],
                "condition_number": [c.condition_number for c in self.candidates],
                "estimate": [None if c.result is None else c.result.theta for c in self.candidates],
                "remark": [c.refused for c in self.candidates],
            }
        )
