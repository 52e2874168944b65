"""Random truncated Gaussians."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.experiments.robustness import Robustness
from zfree.experiments.settings import GaussianSetting, as_precision, as_range, gaussian_memory


@dataclass(frozen=True)
class GaussianRobustness(Robustness):
    """Truths K = s (I + c A), with A a random symmetric matrix of norm one, and μ uniform in each coordinate.

    The paper does not say how it drew its truths; with these ranges the errors of K are close to its tables.
    """

    dimension: int = 10
    scales: tuple[float, float] = (100.0, 200.0)
    coupling: float = 0.5
    means: tuple[float, float] = (0.05, 0.2)

    def memory(self) -> float:
        return gaussian_memory(self.dimension, self.size)

    @abstractmethod
    def domain(self) -> Domain:
        """Where the Gaussians live."""

    def truth(self, rng: np.random.Generator) -> GaussianSetting:
        d = self.dimension
        if not abs(self.coupling) < 1:
            raise SpecificationError(
                f"coupling must be between -1 and 1, got {self.coupling!r}: K would be indefinite."
            )
        A = rng.standard_normal((d, d))
        A = A + A.T
        K = rng.uniform(*as_range(self.scales, "scales", positive=True)) * (
            np.eye(d) + self.coupling * A / np.linalg.norm(A, 2)
        )
        K = as_precision(0.5 * (K + K.T), d)
        return GaussianSetting(self.domain(), rng.uniform(*as_range(self.means, "means"), d), K)
