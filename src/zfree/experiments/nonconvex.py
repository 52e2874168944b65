"""A ball and a shell: what a convex hull costs (appendix, "Evaluation Under Non-Convex Support")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Shells
from zfree.experiments.base import Experiment
from zfree.experiments.boundary_term import boundary_term
from zfree.experiments.comparison import gather
from zfree.experiments.paper import NONCONVEX
from zfree.experiments.records import Key, Pattern, Record, errors_of
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import (
    AUTO,
    MLE,
    Errors,
    GaussianSetting,
    as_mean,
    as_precision,
    gaussian_memory,
    likelihood_memory,
)
from zfree.generators import Barrier, BoundaryDistance, Custom, Generator

HULL, TRUNCATED, SMOOTH = "hull, φ₃", "truncated SM", "smooth weight"
BLOCKS = ("μ", "K")


@dataclass(frozen=True)
class NonConvex(Experiment):
    """A Gaussian on {‖x‖ < a} ∪ {b < ‖x‖ < c}, fitted on its convex hull and on the domain itself."""

    radii: tuple[float, ...] = (0.2, 0.5, 1.0)
    mean: float | tuple[float, ...] = 0.0
    precision: float | tuple[float, ...] = 1.0
    sizes: tuple[int, ...] = (50, 100, 200)
    trials: int = 50

    name = "nonconvex"
    title = "Non-convex support: a ball and a shell"
    place = "Appendix, figure of the non-convex support"
    small: ClassVar[dict[str, Any]] = {"trials": 20}
    stated: ClassVar[tuple[str, ...]] = ("radii", "mean", "precision")

    def domain(self) -> Shells:
        """The ball and the shell."""
        return Shells(self.radii, d=3)

    def setting(self) -> GaussianSetting:
        """The truth."""
        return _setting(self)

    def check(self) -> None:
        self.setting()

    def contenders(self) -> dict[str, tuple[Domain, Generator | str]]:
        """Rows of the table: where to fit and with what."""
        domain = self.domain()
        return {
            HULL: (domain.hull, Barrier.log(scale="raw")),
            TRUNCATED: (domain, BoundaryDistance()),
            SMOOTH: (domain, smooth_weight(domain)),
            AUTO: (domain, "auto"),
        }

    def plan(self) -> list[Key]:
        return [(n, trial) for n in self.sizes for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        setting, rng = self.setting(), self.stream(*key)
        X = setting.draw(key[0], rng)
        errors: dict[str, Errors] = {}
        for name, (domain, generator) in self.contenders().items():
            errors[name] = GaussianSetting(domain, setting.mean, setting.precision).errors_with(generator, X)
        return {"errors": {**errors, **setting.errors((MLE,), X, rng)}}

    def record(self) -> Pattern:
        return {"errors": errors_of((*self.contenders(), MLE), BLOCKS)}

    def memory(self) -> float:
        return gaussian_memory(3, max(self.sizes)) + likelihood_memory(3)

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        names = (*self.contenders(), MLE)
        errors = {
            (block, n, name): gather([r["errors"][name][block] for key, r in records if key[0] == n])
            for block in BLOCKS
            for n in self.sizes
            for name in names
        }
        medians = {key: float(np.median(values)) for key, values in errors.items()}
        numbers = [
            Number(
                f"Median squared error of {block}, {self.trials} trials",
                name,
                f"N = {n}",
                medians[block, n, name],
                NONCONVEX[block].get(n) if name == HULL and self.like_the_paper else None,
            )
            for block in BLOCKS
            for name in names
            for n in self.sizes
        ]
        more, findings = self._explanation()
        return Report(
            [*numbers, *more],
            [*self._trends(medians), *findings],
            lambda: self._figure(errors, names),
            (REMARK,),
        )

    def _trends(self, medians: dict[tuple[str, int, str], float]) -> list[Finding]:
        def path(block: str, name: str) -> list[float]:
            return [medians[block, n, name] for n in sorted(self.sizes)]

        def falls(values: list[float]) -> bool:
            return all(later < earlier for earlier, later in pairwise(values))

        def told(values: list[float]) -> str:
            return " → ".join(short(v) for v in values)

        mu, k, truncated = path("μ", HULL), path("K", HULL), path("K", TRUNCATED)
        other = path("μ", TRUNCATED)
        return [
            Finding("on the hull the error of μ falls with N", falls(mu), told(mu)),
            Finding(
                "on the hull the error of μ is below that of truncated SM",
                all(a < b for a, b in zip(mu, other, strict=True)),
                f"{told(mu)} against {told(other)}",
            ),
            Finding("on the hull the error of K does not: it plateaus", max(k) < 2 * min(k), told(k)),
            Finding("with truncated SM the error of K falls", falls(truncated), told(truncated)),
        ]

    def _explanation(self) -> tuple[list[Number], list[Finding]]:
        """The boundary term by quadrature, for the paper's standard Gaussian and for one off the centre."""
        domain, identity = self.domain(), np.eye(3)
        means = {"centred": np.zeros(3), "mean (0.3, 0, 0)": np.array([0.3, 0.0, 0.0])}
        terms = {name: boundary_term(domain, Barrier.log(scale="raw"), mean, identity) for name, mean in means.items()}
        numbers = []
        for name, term in terms.items():
            title = f"Boundary term of the hull estimator for K = I, {name}"
            size = float(np.abs(term.surface).max())
            for label, inside, outside in zip(term.model.names, term.volume, term.surface, strict=True):
                numbers.append(Number(title, label, "Γ₀θ₀ + g₀ over the volume", _clean(inside, size)))
                numbers.append(Number(title, label, "∮ p n·D∇t over the spheres", _clean(outside, size)))
        drift = {name: float(np.sum((term.limiting_mean - means[name]) ** 2)) for name, term in terms.items()}
        for name, term in terms.items():
            limits = {
                "K[x1,x1]": term.limiting_precision[0, 0],
                "squared error of μ": drift[name],
                "squared error of K": np.sum((term.limiting_precision - identity) ** 2),
            }
            numbers += [
                Number("The hull estimator as N → ∞, K = I", k, name, _clean(v, 1.0)) for k, v in limits.items()
            ]
        gap = max(float(np.abs(t.volume - t.surface).max() / np.abs(t.surface).max()) for t in terms.values())
        term = terms["centred"]
        diagonal = np.concatenate([term.model.rows == term.model.cols, np.zeros(3, dtype=bool)])
        on, off = term.surface[diagonal], np.abs(term.surface[~diagonal]).max()
        findings = [
            Finding(
                "integration by parts leaves exactly the integral over the inner spheres",
                gap < 1e-8,
                f"volume and surface agree to {gap:.0e}",
            ),
            Finding(
                "for a centred Gaussian it acts on the diagonal of K alone, not on η = Kμ",
                bool(off < 1e-8 * on.min() and np.ptp(on) < 1e-8 * on.min()),
                f"{short(float(on[0]))} for every K[j,j], at most {off:.0e} elsewhere",
            ),
            Finding(
                "with the mean off the centre, μ is inconsistent too",
                drift["mean (0.3, 0, 0)"] > 1e-6,
                f"its error tends to {short(drift['mean (0.3, 0, 0)'])}",
            ),
        ]
        return numbers, findings

    def _figure(self, errors: dict[tuple[str, int, str], Array], names: Sequence[str]) -> Any:
        from zfree.plotting.trials import boxes

        return boxes(
            {b: {f"N = {n}": {c: errors[b, n, c] for c in names} for n in self.sizes} for b in BLOCKS},
            "squared error of {}",
        )


REMARK = (
    "The boundary term has the sign opposite to the paper's −C_K Tr(K), because the sphere ‖x‖ = b outweighs ‖x‖ = a; nothing else "
    "in its argument changes. In the limit K̂ on the hull is far from K and negative, and μ̂ = K̂⁻¹η̂ is small because K̂ is large: μ is "
    "estimated well because the truth is 0. The smooth weight, the product of |r_k² − ‖x‖²| over the spheres, tests the paper's guess "
    "that the kinks of the Euclidean distance cause the spread of truncated SM in μ."
)


@lru_cache(maxsize=1)
def _setting(experiment: NonConvex) -> GaussianSetting:
    # Kept between trials: the setting keeps the draws of its Monte-Carlo likelihood.
    return GaussianSetting(experiment.domain(), as_mean(experiment.mean, 3), as_precision(experiment.precision, 3))


def _clean(value: float, size: float) -> float:
    """Rounding is zero."""
    return 0.0 if abs(value) < 1e-12 * size else float(value)


def smooth_weight(domain: Shells) -> Custom:
    """D = |Π_k (r_k² − ‖x − c‖²)| I: vanishes on every sphere like the distance, without its kinks halfway between them."""
    squares = domain.radii**2

    def weight(X: Array) -> Array:
        u = np.sum((X - domain.center) ** 2, axis=1)
        distance: Array = np.abs(np.prod(squares - u[:, None], axis=1))
        return distance

    def gradient(X: Array) -> Array:
        offset = X - domain.center
        u = np.sum(offset**2, axis=1)
        slope: Array = (weight(X) * np.sum(-2.0 / (squares - u[:, None]), axis=1))[:, None] * offset
        return slope

    return Custom(weight, gradient, vanishing_at_boundary=True)
