"""Draws that know how far they can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import is_number, shown, whole_number
from zfree.domains import Domain
from zfree.errors import ImproperDensityError, SamplingWarning, SpecificationError, warn
from zfree.memory import available_bytes, in_words
from zfree.models import Model, Normalisable

LARGEST_RHAT = 1.05
"""Split-R̂ above which chains have not mixed. With hundreds of short chains noise alone reaches 1.02."""
SMALLEST_SIZE = 400
"""Effective size that draws need to be trusted, or their own number where that is smaller (Vehtari et al. 2021, section 4)."""
SMALL = 2**20
"""Bytes that need no question to the system."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws from a model, and how far to trust them.

    Attributes
    ----------
    draws : ndarray of shape (n, d)
    exact : bool
        Whether they are independent draws from the law itself. Otherwise they are states of Markov chains.
    rhat, effective_size : ndarray or None
        Split-R̂ and effective sample size of the chains, one per coordinate that they move in; None for exact draws.
    method : str
        How they were made.
    remark : str
        What else speaks against them; empty as a rule.
    """

    draws: Array
    exact: bool
    method: str
    rhat: Array | None = None
    effective_size: Array | None = None
    remark: str = ""

    @property
    def doubt(self) -> str:
        """Why the draws cannot be trusted; empty when they can."""
        if self.rhat is None or self.effective_size is None:
            return self.remark
        worst, fewest = int(np.argmax(self.rhat)), int(np.argmin(self.effective_size))
        rhat, size = float(self.rhat[worst]), float(self.effective_size[fewest])
        needed = min(len(self.draws), SMALLEST_SIZE)
        if rhat <= LARGEST_RHAT and size >= needed:
            return self.remark
        return (
            f"the chains have not mixed ({self.method}): the largest split-R̂ is {rhat:.3g} (coordinate {worst}, at most "
            f"{LARGEST_RHAT:g} can be trusted), the smallest effective size {size:.0f} (coordinate {fewest}, at least {needed})"
        )

    def or_warn(self) -> Draws:
        """Themselves, after a warning when they cannot be trusted."""
        if self.doubt:
            warn(
                f"these draws cannot be trusted: {self.doubt}. Look for modes far apart, and let the chains run longer "
                "(patience= of sample_model, steps= of an energy model).",
                SamplingWarning,
            )
        return self

    def __str__(self) -> str:
        if self.rhat is None or self.effective_size is None:
            return f"{len(self.draws)} draws ({self.method}), independent and exact"
        return (
            f"{len(self.draws)} draws ({self.method}); largest split-R̂ {self.rhat.max():.3f}, smallest effective size "
            f"{self.effective_size.min():.0f}"
        )


def check_number(n: Any, n_columns: int) -> int:
    """How many draws, as an int ≥ 1; they must fit into memory, with a copy on the way."""
    count = whole_number(n, "the number of draws n")
    needed = 16 * count * n_columns
    if needed > SMALL and needed > (there := available_bytes()):
        raise SpecificationError(
            f"the number of draws n is too large: {count} draws of {n_columns} columns need {in_words(needed)} of memory, and "
            f"{in_words(there)} are available. Draw them in pieces."
        )
    return count


def check_domain(domain: Any) -> None:
    """A domain, and not its class or its name."""
    if not isinstance(domain, Domain):
        raise SpecificationError(f"domain must be a domain such as zf.Orthant(2), got {shown(domain)}.")


def check_model(model: Any) -> None:
    """A model, which is not the estimator that fits it."""
    if not isinstance(model, Model):
        raise SpecificationError(
            f"model must be a model such as zfree.models.GammaModel(['x1']), got {shown(model)}. An estimator that was fitted holds "
            "its model in result_.model."
        )


def check_patience(patience: Any) -> float:
    """A factor of the moves that chains may take."""
    if not is_number(patience) or not 0.0 < patience < np.inf:
        raise SpecificationError(f"patience must be a finite number > 0, such as 2.0, got {shown(patience)}.")
    return float(patience)


def refuse_improper(verdict: Normalisable, domain: Domain) -> None:
    """There is nothing to draw from where the density cannot be normalised."""
    if verdict.holds is False:
        raise ImproperDensityError(
            f"the density cannot be normalised on {domain!r}: {verdict.reason}. There is no distribution to draw from: the parameters "
            "come from too few rows, or from data that the model does not describe."
        )
