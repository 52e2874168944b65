"""Where the data live."""

from zfree.domains.ball import Ball
from zfree.domains.base import BarrierHessian, Chart, Domain, Sections
from zfree.domains.box import Box
from zfree.domains.ellipsoid import Ellipsoid
from zfree.domains.halfspace import HalfSpace
from zfree.domains.orthant import Orthant
from zfree.domains.parts import BoundaryParts
from zfree.domains.polytope import Polytope
from zfree.domains.product import Product
from zfree.domains.real import RealSpace
from zfree.domains.shells import Shells
from zfree.domains.simplex import Simplex, SolidSimplex
from zfree.domains.units import Units
from zfree.domains.violations import Violations

__all__ = [
    "Ball",
    "BarrierHessian",
    "BoundaryParts",
    "Box",
    "Chart",
    "Domain",
    "Ellipsoid",
    "HalfSpace",
    "Orthant",
    "Polytope",
    "Product",
    "RealSpace",
    "Sections",
    "Shells",
    "Simplex",
    "SolidSimplex",
    "Units",
    "Violations",
]
