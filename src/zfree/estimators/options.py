"""What every estimator can be told beside its model and its generator: declared once, for all of them.

Estimators are dataclasses: each declares its own parameters only, and the signature that scikit-learn reads is generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from zfree.errors import SpecificationError
from zfree.estimators.validation import check_fixed, check_not_negative, check_target
from zfree.generators import Combined
from zfree.inference import check_wanted
from zfree.selection import Target


@dataclass(eq=False, repr=False, kw_only=True)
class Options:
    """Keyword parameters of every estimator; :class:`zfree.Dirichlet` describes them."""

    fixed: Mapping[str, float] | None = None
    ridge: float = 0.0
    target: Target = "information"
    boundary: str = "raise"
    boundary_eps: float | None = None
    standard_errors: str = "auto"
    covariance: str | None = "auto"
    check: bool = True

    def _check_options(self, generator: object) -> None:
        """What can be said of the options before the data are looked at."""
        check_not_negative(self.ridge, "ridge")
        check_fixed(self.fixed)
        check_wanted(self.standard_errors, self.covariance)
        check_target(self.target)
        if isinstance(generator, Combined) and self.covariance not in ("auto", "full"):
            raise SpecificationError(
                f'Combined weighs estimates by their covariance, which covariance={self.covariance!r} leaves out: pass "full" or "auto".'
            )
