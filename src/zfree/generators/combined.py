"""Several generators at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zfree.conversion import shown
from zfree.errors import SpecificationError
from zfree.generators.base import Generator


@dataclass(frozen=True)
class Combined:
    r"""Use the unbiased estimating equations :math:`\Gamma_k\theta + g_k = 0` of several generators together.

    Parameters
    ----------
    generators : sequence of Generator, optional
        At least two. By default the one that ``"auto"`` would choose and two companions.

    Notes
    -----
    The equations are linear in θ, so the two-step generalized method of moments is a closed form: the combination of the single
    estimates with the smallest estimated variance. With as many free weights as there are parameters that variance is
    underestimated and the combination loses; the weights are therefore shrunk, by cross-validation, to one number per
    generator or further. That the single estimates agree is a test of the model (Hansen's J) that needs no normalising constant.
    """

    generators: Sequence[Generator] | None = None

    def __post_init__(self) -> None:
        if self.generators is None:
            return
        if not isinstance(self.generators, list | tuple):
            raise SpecificationError(f"Combined takes a list of generators, got {shown(self.generators)}.")
        object.__setattr__(self, "generators", tuple(self.generators))
        distinct = [g for k, g in enumerate(self.generators) if g not in self.generators[:k]]
        if (
            len(distinct) < 2
            or len(distinct) < len(self.generators)
            or not all(isinstance(g, Generator) for g in distinct)
        ):
            raise SpecificationError(
                "Combined takes at least two different generators, for example [Barrier(1.2, 0), Barrier(0.7, 0)]."
            )
