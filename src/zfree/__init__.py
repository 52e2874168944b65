"""Fit probability models nobody can normalise, on the domain the data live in.

Names are loaded when first used, so that ``import zfree`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zfree.deprecation import renamed_names

__version__ = "0.2.0.dev0"

_HOME = {
    "zfree.domains": (
        "Ball",
        "Box",
        "Domain",
        "Ellipsoid",
        "HalfSpace",
        "Orthant",
        "Polytope",
        "Product",
        "RealSpace",
        "Shells",
        "Simplex",
        "SolidSimplex",
        "Units",
    ),
    "zfree.potentials": ("ConvexFunction", "Power", "SlackFunction"),
    "zfree.generators": (
        "Barrier",
        "BoundaryDistance",
        "Combined",
        "CoordinateWeight",
        "Custom",
        "Generator",
        "Identity",
        "SectionDistance",
        "SteinBarrier",
        "SteinMoments",
        "named",
    ),
    "zfree.estimators": (
        "Dirichlet",
        "Exponential",
        "ExponentialFamily",
        "Gamma",
        "Gaussian",
        "GeneralizedGamma",
        "LogNormal",
        "PowerInteraction",
        "TruncatedGaussian",
        "fit",
        "rank",
    ),
    "zfree.inference": ("FitResult",),
    "zfree.selection": ("Ranking",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [*_MODULE_OF]

if TYPE_CHECKING:
    from zfree.domains import (
        Ball,
        Box,
        Domain,
        Ellipsoid,
        HalfSpace,
        Orthant,
        Polytope,
        Product,
        RealSpace,
        Shells,
        Simplex,
        SolidSimplex,
        Units,
    )
    from zfree.estimators import (
        Dirichlet,
        Exponential,
        ExponentialFamily,
        Gamma,
        Gaussian,
        GeneralizedGamma,
        LogNormal,
        PowerInteraction,
        TruncatedGaussian,
        fit,
        rank,
    )
    from zfree.generators import (
        Barrier,
        BoundaryDistance,
        Combined,
        CoordinateWeight,
        Custom,
        Generator,
        Identity,
        SectionDistance,
        SteinBarrier,
        SteinMoments,
        named,
    )
    from zfree.inference import FitResult
    from zfree.potentials import ConvexFunction, Power, SlackFunction
    from zfree.selection import Ranking


_SUBMODULES = ("datasets", "errors", "likelihood", "models", "neighbourhoods", "neural", "plotting", "samplers")


_old_name = renamed_names("zfree", {})  # {"Old": Renamed("New", gone_in="0.4")}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"zfree.{name}")
    if name not in _MODULE_OF:
        return _old_name(name)
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULE_OF])
