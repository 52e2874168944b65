"""Standard errors of functions of θ: the delta method, on the sandwich and on the jackknife."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Mask
from zfree.inference.jackknife import Jackknife, Spread
from zfree.inference.parameters import Parameters
from zfree.inference.uncertainty import Uncertainty, moves
from zfree.models import Model
from zfree.models.base import Derived
from zfree.models.linear_maps import Jacobian


@dataclass(frozen=True, eq=False)
class DeltaMethod:
    """What is known of the error of the working parameters θ, carried over to functions of them."""

    model: Model
    theta: Array
    free: Mask
    uncertainty: Uncertainty
    jackknife: Jackknife | None

    def parameters(
        self, which: str, names: tuple[str, ...], values: Array, jacobian: Jacobian | None, spread: Spread | None = None
    ) -> Parameters:
        """Functions of the working parameters by the delta method (these themselves without a Jacobian)."""
        if refused := self.uncertainty.refusal(which):
            return Parameters(names, values, np.where(moves(jacobian, self.free), np.nan, 0.0), refused=refused)
        sandwich = self.uncertainty.covariance(jacobian)
        variances = self.uncertainty.variances(which, jacobian) if sandwich is None else sandwich.diagonal()
        if self.jackknife is None:
            return Parameters(names, values, variances, sandwich)
        if spread is None:
            spread = self.jackknife.spread(jacobian, full=self._wants_full)
        covariance = spread.covariance
        if self.jackknife.groups and sandwich is not None:
            ratio = np.divide(spread.variances, variances, out=np.ones_like(variances), where=variances > 0)
            covariance = sandwich * np.sqrt(np.multiply.outer(ratio, ratio))
        new = spread.variances if covariance is None else covariance.diagonal()
        return Parameters(names, values, new, covariance, variances, spread.bias, spread.degrees_of_freedom)

    @property
    def _wants_full(self) -> bool:
        """Whether all of the jackknife's covariance is to be had; of groups the sandwich has the correlations."""
        return self.uncertainty.kind == "full" and self.jackknife is not None and not self.jackknife.groups

    def bent(self, which: str, here: Derived) -> Spread | None:
        """What the jackknife says of functions of θ that are not linear; None to take them as linear."""
        if self.jackknife is None or self.uncertainty.refusal(which):
            return None
        moments = self.model.sample_moments(which, self.theta, self.jackknife.changes)
        if moments is not None and np.isfinite(moments).all():
            return self.jackknife.spread(here.jacobian, moments - here.values, full=self._wants_full)
        bias = self.jackknife.spread(None, full=False).bias
        there = self.model.derived(self.theta - bias)[which]()
        # Where a function bends so much on the way (K⁻¹ close to a singular K), the first order is all there is.
        bend = np.abs(there.values - here.values + here.jacobian @ bias)
        if not (bend <= self.parameters(which, *here).standard_errors).all():
            return None
        return self.jackknife.spread(there.jacobian, full=self._wants_full)._replace(bias=here.values - there.values)
