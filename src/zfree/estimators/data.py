"""The rows an estimator works with."""

from __future__ import annotations

from typing import NamedTuple

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.inference.goodness import Rows


class Data(NamedTuple):
    """Rows strictly inside the domain, in the coordinates the model is written in."""

    X: Array
    weight: Array | None
    columns: tuple[str, ...]
    domain: Domain
    dropped: int = 0
    """Rows on the boundary that were left out."""

    @property
    def rows(self) -> Rows:
        """What a check of the fit looks at; equal weights are none."""
        equal = self.weight is None or bool((self.weight == self.weight[0]).all())
        return Rows(self.X, None if equal else self.weight, self.columns)
