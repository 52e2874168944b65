r"""What is added to the loss, or asked of its minimum.

A ridge adds :math:`\tfrac\rho2\sum_l \Gamma_{ll}\theta_l^2`: the diagonal of Γ is multiplied by 1 + ρ, which does not depend on units. That diagonal is an average
over the rows, so that the ridge is part of what every row adds to the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

from zfree.arrays import Array


class Penalty:
    """What solvers and inference ask of a penalty: how much of Γ's own diagonal it adds, and what it holds θ to."""

    share: float = 0.0
    """ρ."""

    def pull(self, theta: Array, diagonals: Array) -> Array:
        """What it adds to the equations of each row, laid out (r, N), from the diagonals of the Γ_i, laid out alike."""
        return (self.share * theta)[:, None] * diagonals


@dataclass(frozen=True)
class NoPenalty(Penalty):
    """The loss as it is."""


@dataclass(frozen=True)
class Ridge(Penalty):
    """The diagonal of Γ times 1 + ρ."""

    share: float


@dataclass(frozen=True, eq=False)
class PositiveDefinite(Penalty):
    """K held in the cone of positive definite matrices, beside another penalty.

    Attributes
    ----------
    spread : ndarray of shape (d,)
        Standard deviations of the columns as K sees them, in units of which the smallest eigenvalue allowed is measured.
    beside : Penalty
    """

    spread: Array
    beside: Penalty

    @property
    def share(self) -> float:  # type: ignore[override]
        return self.beside.share


NO_PENALTY = NoPenalty()


def ridge_of(share: float) -> Penalty:
    """A ridge, or none where its share is zero."""
    return Ridge(share) if share else NO_PENALTY
