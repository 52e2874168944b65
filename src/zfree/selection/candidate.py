"""A generator that was looked at, and the record of a choice among several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array
from zfree.deprecation import renamed_attributes
from zfree.errors import MissingDependencyError
from zfree.generators import Generator
from zfree.inference import FitResult
from zfree.solvers import Objective, Solution

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Fitted:
    """A candidate on the rows it was looked at with.

    Attributes
    ----------
    objective : Objective
        With its moments.
    solution : Solution
    meat : ndarray of shape (r, r)
        Σ ψ_i ψ_iᵀ at the solution.
    covariance : ndarray of shape (r, r)
    """

    objective: Objective
    solution: Solution
    meat: Array
    covariance: Array


@renamed_attributes("0.3", problem="refused")
@dataclass(frozen=True, eq=False)
class Candidate:
    """A generator, how good it is on these data, or the reason why it was refused.

    Attributes
    ----------
    generator : Generator
        Built from its pilot, if it wants one.
    criterion : float
        Tr(W Σ̂) for the target of the choice; infinite for one that was refused, NaN for one that was not compared.
    effective_rows : float
        Rows that the criterion rests on (NaN where not measured).
    refused : str
        Why it was not taken, or must not be believed; empty otherwise.
    n_rows : int
        Rows that it was measured on.
    fitted : Fitted or None
        What is known of it on the rows; a record does not keep that.
    result : FitResult or None
        Of a ranking: the whole fit.
    excess, excess_se : float
        How much larger the criterion is than that of the best candidate of a ranking (0.1 is ten per cent), with its standard error by a paired
        jackknife.
    """

    generator: Generator
    criterion: float = float("inf")
    effective_rows: float = float("nan")
    refused: str = ""
    n_rows: int = 0
    fitted: Fitted | None = None
    result: FitResult | None = None
    excess: float = float("nan")
    excess_se: float = float("nan")

    @property
    def total_variance(self) -> float:
        """Tr(Σ̂); infinite when the candidate could not be fitted."""
        return self.result.total_variance if self.result else float("inf")

    @property
    def condition_number(self) -> float:
        """κ(Γ_N)."""
        return self.result.condition_number if self.result else float("inf")

    def for_the_record(self) -> Candidate:
        """Without what belongs to the rows."""
        return replace(self, fitted=None)

    @property
    def cautious(self) -> float:
        """log criterion, plus about one standard error of it.

        Where the variance is barely finite, the sample misses the rare rows that make it large and the criterion flatters; there it also rests
        on few rows, and the standard error makes up for it.
        """
        return float(np.log(self.criterion) + 1.0 / np.sqrt(self.effective_rows))


@dataclass(frozen=True, eq=False)
class Selection:
    """Why this generator: every candidate that was looked at, and the one that was taken.

    Attributes
    ----------
    chosen : Generator
    criterion : float
        Tr(W Σ̂) of the chosen one. With the default target its reciprocal estimates the share of the Cramér–Rao bound that is
        reached (optimistic or pessimistic by some per cent at a few hundred rows).
    trials : tuple of Candidate
        In the order they were tried.
    target : str
        What W measures.
    remark : str
        An edge that was hit, or why theory names this one.
    by_theory : bool
        Whether the generator was known beforehand, and nothing compared.
    rows : int or None
        How many rows were looked at, if not all: a sample of them decides where there are many.
    """

    chosen: Generator
    criterion: float
    trials: tuple[Candidate, ...]
    target: str
    remark: str = ""
    by_theory: bool = False
    rows: int | None = None

    def __str__(self) -> str:
        rows = [("generator", "criterion", "rows behind it", "remark")]
        for t in sorted(self.trials, key=lambda t: t.criterion):
            taken = "chosen" if t.generator == self.chosen else t.refused
            rows.append((repr(t.generator), _shown(t.criterion, ".4g"), _shown(t.effective_rows, ".0f"), taken))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = (
            "named by theory, not searched for" if self.by_theory else f"selection by {self.target} (smaller is better)"
        )
        looked = [f"looked at: a sample of {self.rows} rows"] if self.rows is not None else []
        return "\n".join([head, *looked, *lines, *([f"note: {self.remark}"] if self.remark else [])])

    __repr__ = __str__

    def to_frame(self) -> pandas.DataFrame:
        """One row per candidate, best first."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_frame() needs pandas: run `pip install pandas`.") from error
        ordered = sorted(self.trials, key=lambda t: t.criterion)
        return pandas.DataFrame(
            {
                "generator": [repr(t.generator) for t in ordered],
                "power": [getattr(t.generator, "power", np.nan) for t in ordered],
                "det_power": [getattr(t.generator, "det_power", np.nan) for t in ordered],
                "criterion": [t.criterion for t in ordered],
                "effective_rows": [t.effective_rows for t in ordered],
                "refused": [t.refused for t in ordered],
                "chosen": [t.generator == self.chosen for t in ordered],
            }
        )


def _shown(value: float, form: str) -> str:
    return "–" if np.isnan(value) else f"{value:{form}}"
