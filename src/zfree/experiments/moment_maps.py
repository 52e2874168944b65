r"""Moment maps: the convex φ whose generator recovers maximum likelihood of θ in e^{θ·x + b(x)}.

For a law p with mean m there is a convex Ψ such that ∇Ψ carries the density e^{−Ψ} to that of x − m (Cordero-Erausquin and Klartag
2015). Its Legendre dual φ solves on the domain

.. math:: \log\det\nabla^2\phi - (x - m)\cdot\nabla\phi + \phi = \log p ,

and the gradient of this equation, multiplied by D = (∇²φ)⁻¹, says ∇·D + D ∇log p = −(x − m): D is a Stein kernel of p (Fathi 2019). In the code Ψ is
taken without the shift, so that ∇Ψ is x itself.
"""

from __future__ import annotations

from zfree.errors import SpecificationError
from zfree.experiments.disc_maps import RadialMap, TiltedMap
from zfree.experiments.laws import DiscLaw, Law, SimplexLaw
from zfree.experiments.polytope_maps import MomentMap, PolynomialMap

__all__ = ["MomentMap", "PolynomialMap", "RadialMap", "TiltedMap", "moment_map"]

RADIAL = 6
"""A polynomial in the radius alone costs less than one in the plane: its degree is this many times larger."""


def moment_map(law: Law, degree: int) -> MomentMap:
    """The moment map of a law by polynomials of this degree, on a disc of a larger one."""
    if isinstance(law, SimplexLaw):
        return PolynomialMap(law, degree)
    if isinstance(law, DiscLaw):
        return TiltedMap(law, 16 + 2 * degree, degree // 2 + 2) if any(law.theta) else RadialMap(law, RADIAL * degree)
    raise SpecificationError("moment maps are computed on an interval, a triangle and a disc.")
