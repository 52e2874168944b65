"""The scoring rule of new rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import shown
from zfree.data import Source, Table
from zfree.domains import Domain, Units
from zfree.errors import DataError, SpecificationError
from zfree.generators import Generator, named
from zfree.inference.new_rows import rows_inside
from zfree.models import Model
from zfree.moments import Problem, Rows


def row_scores(
    model: Model, generator: Any, domain: Domain, units: Units | None, theta: Array, X: Array | Source, log_scale: float
) -> Array:
    """S(x_i; θ) = ½ sᵀDs + ∇·(Ds) of each row (paper, eq. 12), divided by e^log_scale, with D in the units of the rows that were fitted."""
    judge = named(generator) if isinstance(generator, str) else generator
    if not isinstance(judge, Generator):
        raise SpecificationError(
            f"generator must be a generator such as zf.Barrier(1, 0), or its name; got {shown(judge)}."
        )
    source = X if isinstance(X, Source) else Table(rows_inside(domain, X))
    problem = Problem(model, judge, domain, source, units=units)

    def of_each(rows: Rows) -> list[Array]:
        values = rows.scores(theta, log_scale)
        if not np.isfinite(values).all():
            row = rows.block.number(int(np.argmin(np.isfinite(values))))
            raise DataError(
                f"the scoring rule of row {row} leaves the range of floating point. Leave out extreme rows, or, with many columns, pass "
                "log_scale=result.moments.log_scale."
            )
        return [values]

    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate(problem.reduce(of_each))
