"""What a check of a fit found, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from zfree.inference.indicators import DEPENDENCE, LOG_DENSITY

ALARM = 0.001
"""The p-value below which a fit warns."""
DOUBT = 0.05
"""The p-value below which the verdict names the part that fits worst."""


@dataclass(frozen=True, eq=False)
class GoodnessOfFit:
    """What the comparison of the rows with draws of the model found.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that the family is right; NaN when it was not checked.
    by_column : mapping of str to float
        p-values of the parts: every column, ``"log-density"``, and ``"dependence"`` of pairs of columns. One of several can be
        small by chance; the alarm looks at `p_value` alone.
    worst : str
        The part with the smallest p-value.
    distance : float
        Between θ̂ and the likelihood root, in standard errors of θ̂, root mean square over the parameters, beyond what the draws
        leave uncertain (`distance_error`). If the model is right it is seldom above one, and close to zero for an efficient estimate.
    distance_error : float
        Its uncertainty from the draws.
    n_rows, n_draws : int
        Rows that were compared, and draws they were compared with.
    reason : str
        Why it was not checked; empty when it was.
    remark : str
        What was done to compare like with like, if anything.
    """

    p_value: float = float("nan")
    parts: tuple[tuple[str, float], ...] = ()
    distance: float = float("nan")
    distance_error: float = float("nan")
    n_rows: int = 0
    n_draws: int = 0
    reason: str = ""
    remark: str = ""

    @property
    def by_column(self) -> Mapping[str, float]:
        """p-values of the parts, by name."""
        return MappingProxyType(dict(self.parts))

    @property
    def worst(self) -> str:
        """The part with the smallest p-value; empty when it was not checked."""
        return min(self.parts, key=lambda part: part[1])[0] if self.parts else ""

    @property
    def alarms(self) -> bool:
        """Whether the fit warns."""
        return self.p_value < ALARM

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.reason:
            return f"not checked, because {self.reason}"
        if self.p_value >= DOUBT:
            words = f"no sign of misfit (p = {self.p_value:.2g})"
        elif not self.alarms:
            words = f"slight doubt (p = {self.p_value:.2g}, most in {self._where()})"
        else:
            words = f"the data contradict the model (p = {self.p_value:.2g}, most in {self._where()})"
        if self.distance > 2.0 + 2.0 * self.distance_error:
            words += f"; the estimate is {self.distance:.1f} of its standard errors from that of maximum likelihood"
        return words + (f"; {self.remark}" if self.remark else "")

    def _where(self) -> str:
        special = {LOG_DENSITY: "the log-density", DEPENDENCE: "the dependence of the columns"}
        return special.get(self.worst, f"column {self.worst!r}")

    def __str__(self) -> str:
        return self.verdict
