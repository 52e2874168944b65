r"""Does the generator vanish fast enough for this model?

At distance s from a facet let the density behave like :math:`s^\kappa`, the score like :math:`s^{-m}`, and D across the facet
like :math:`s^q`. The boundary term of the integration by parts (Proposition 3.2) is of order :math:`s^{\kappa + q - m}`, and
the influence of a row, :math:`J(\nabla\cdot D + D s_\theta)`, of order :math:`s^{q - 1 - m}`. Hence

- the estimate is consistent if :math:`q > m - \kappa`;
- it has a finite variance if :math:`q > 1 + m - (1 + \kappa)/2`, and along the facet if :math:`2 q_\parallel + \kappa > -1`.

Where the domain has no end, infinity is one more part of its boundary: :mod:`zfree.inference.tails` measures what happens there, and
:func:`judge` looks at both.

A smooth positive density (:math:`\kappa = m = 0`) needs q > ½: for Barrier(p, γ) that is (2 − p)(1 + γ) > ½, so p < 3/2 for γ = 0
and p < 5/3 for γ = ½. A Dirichlet part with parameter α (:math:`\kappa = \alpha - 1`, m = 1) needs q > 2 − α/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.generators import Decay
from zfree.inference.tails import TailOrder
from zfree.models import BoundaryOrder
from zfree.moments import Problem
from zfree.solvers import Restriction


class BoundaryVerdict(NamedTuple):
    """Whether an estimate is consistent and has a variance, and if not, where and why."""

    consistent: bool
    finite_variance: bool
    reason: str = ""


def judge(decay: Decay | None, orders: Sequence[BoundaryOrder], tails: Sequence[TailOrder] = ()) -> BoundaryVerdict:
    """Hold the generator's decay against the model's behaviour at every part of the boundary, infinity included."""
    worst = BoundaryVerdict(True, True)
    for order in orders if decay is not None else ():
        assert decay is not None
        needed = required_decay(order)
        along = 2.0 * decay.along + order.density > -1.0
        if decay.across > needed and along:
            continue
        consistent = decay.across > order.pole - order.density
        reason = (
            f"close to {order.where} the density behaves like s^{order.density:.3g} and D like s^{decay.across:.3g}, "
            + (f"which must be faster than s^{needed:.3g}" if not decay.across > needed else "and D grows along it")
            + f": take a Barrier with (2 − power)(1 + det_power) above {max(needed, 0.0):.3g}, such as Barrier.log(det_power=0)"
        )
        if worst.finite_variance or (worst.consistent and not consistent):
            worst = BoundaryVerdict(consistent, False, reason)
    for tail in tails:
        if not tail.finite_variance and (worst.finite_variance or (worst.consistent and not tail.consistent)):
            worst = BoundaryVerdict(tail.consistent, False, tail.reason)
    return worst


def required_decay(order: BoundaryOrder) -> float:
    """The exponent that D across the boundary must exceed for a finite variance."""
    return max(1.0 + order.pole - (1.0 + order.density) / 2.0, order.pole - order.density)


def boundary_orders(problem: Problem, theta: Array, restriction: Restriction) -> tuple[BoundaryOrder, ...]:
    """How the model behaves at the boundary: what it says itself, or what a look at rows moved towards it shows."""
    if not problem.domain.has_boundary:
        return ()
    said = problem.model.boundary_orders(theta)
    if said is not None:
        return said
    measured = probe(problem, theta, restriction)
    return () if measured is None else (measured,)


def probe(problem: Problem, theta: Array, restriction: Restriction) -> BoundaryOrder | None:
    """Measure the exponents of an unknown model: the worst over rows moved straight to their nearest facet.

    With s → 0 the normal score times s tends to the exponent κ of the density, and the Jacobian of the statistics whose
    parameters are free grows like s^(−m). None when the model cannot be evaluated there.
    """
    domain, source = problem.domain, problem.source
    X = np.concatenate(source.every(max(1, (source.n_rows or 64) // 64)).reduce(lambda block: [block.X], 1))
    chart = domain.chart
    inner, Y = (domain, X) if chart is None else (chart.domain, chart.pull(X))
    assert problem.units is not None
    spread = problem.units.spread if chart is None else problem.units.spread[chart.kept]
    distance, gradient = inner.boundary_distance(Y, spread)  # the nearest facet in columns without units
    usable = np.isfinite(distance) & gradient.any(axis=1)
    if not usable.any():
        return None
    steepest = gradient[usable] * spread**2
    size = np.linalg.norm(steepest / spread, axis=1, keepdims=True)
    Y, distance, normal = Y[usable], distance[usable] * size[:, 0], steepest / size
    try:
        with np.errstate(all="ignore"):
            near, _ = _approach(problem, theta, restriction, Y, normal, distance, 1e-4)
            nearer, density = _approach(problem, theta, restriction, Y, normal, distance, 1e-6)
            pole = np.log(np.maximum(nearer, 1e-300) / np.maximum(near, 1e-300)) / np.log(100.0)
    except SpecificationError:
        return None
    if not (np.isfinite(pole).all() and np.isfinite(density).all()):
        return None
    worst_pole = max(0.0, float(np.quantile(pole, 0.9)))
    return BoundaryOrder("the boundary", float(np.clip(np.quantile(density, 0.1), -0.95, 50.0)), round(worst_pole, 3))


def _approach(
    problem: Problem,
    theta: Array,
    restriction: Restriction,
    Y: Array,
    normal: Array,
    distance: Array,
    fraction: float,
) -> tuple[Array, Array]:
    """Size of the Jacobian, and normal score times distance, at rows moved to a fraction of their distance."""
    chart = problem.domain.chart
    moved = Y - ((1.0 - fraction) * distance)[:, None] * normal
    points = moved if chart is None else chart.push(moved)
    direction = normal if chart is None else normal @ chart.matrix.T
    jacobian = problem.model.apply_jacobian(points, direction)[restriction.free]
    slope = np.einsum("nj,nj->n", problem.model.score(points, theta), direction)
    return np.abs(jacobian).max(axis=0, initial=0.0), fraction * distance * slope
