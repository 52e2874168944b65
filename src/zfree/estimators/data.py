"""The rows an estimator works with."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from zfree.data import Table
from zfree.domains import Domain


class Data(NamedTuple):
    """Rows strictly inside the domain, in the coordinates the model is written in."""

    source: Table
    domain: Domain
    dropped: int = 0
    """Rows on the boundary that were left out."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.source.columns

    @property
    def to_check(self) -> Table:
        """What a check of the fit looks at; equal weights are none."""
        weight = self.source.weight
        equal = weight is None or bool((weight == weight[0]).all())
        return replace(self.source, weight=None) if equal and weight is not None else self.source
