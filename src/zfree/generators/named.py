"""The paper's own generators and the baselines it compares with, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from zfree.conversion import shown
from zfree.errors import SpecificationError
from zfree.generators.barrier import Barrier
from zfree.generators.base import Generator
from zfree.generators.diagonal import CoordinateWeight, Identity, SectionDistance
from zfree.generators.distances import BoundaryDistance

NAMED: Mapping[str, Generator] = MappingProxyType(
    {
        "phi1": Barrier(power=4 / 3, scale="raw"),
        "phi2": Barrier.entropy(scale="raw"),
        "phi3": Barrier.log(scale="raw"),
        "hyvarinen-2005": Identity(),
        "hyvarinen-2007": CoordinateWeight("x^2"),
        "h1": CoordinateWeight("x"),
        "h2": CoordinateWeight("x^2"),
        "truncated-sm": BoundaryDistance(),
        "gsm-cd": SectionDistance("x"),
    }
)
"""φ₁, φ₂, φ₃ of the paper; Hyvärinen 2005 and 2007; Yu, Drton and Shojaie 2019 (h₁ = x, h₂ = x²); Liu, Kanamori and Williams
2022 (truncated score matching); Yu, Drton and Shojaie 2024 for compositions (GSM CD, h(x) = x)."""


def named(name: str) -> Generator:
    """A generator of the literature by its name.

    Parameters
    ----------
    name : str
        ``"phi1"``, ``"phi2"``, ``"phi3"`` (the paper), ``"hyvarinen-2005"``, ``"hyvarinen-2007"``, ``"h1"``, ``"h2"`` (Yu et al.
        2019), ``"truncated-sm"`` (Liu et al. 2022) or ``"gsm-cd"`` (Yu et al. 2024).

    Examples
    --------
    >>> import zfree as zf
    >>> zf.named("truncated-sm")
    BoundaryDistance()

    An estimator takes the name too: ``zf.TruncatedGaussian(domain, generator="truncated-sm")``.
    """
    if not isinstance(name, str) or name not in NAMED:
        raise SpecificationError(
            f'no generator is called {shown(name)}; there are {", ".join(NAMED)}. Estimators also take "auto", "search", or an object such as '
            "zf.Barrier(power=4/3)."
        )
    return NAMED[name]
