"""Maximum likelihood by generalized score matching: the φ of a moment map, computed on an interval, a triangle and a disc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.data import Table
from zfree.domains import Units
from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment
from zfree.experiments.laws import DiscLaw, Law, SimplexLaw
from zfree.experiments.moment_maps import RADIAL, PolynomialMap, moment_map
from zfree.experiments.records import Each, Key, Pattern, Record, number, number_or_none
from zfree.experiments.recover_mle_figure import figure
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.stein_kernels import field_at, known_kernel, share_of_bound, stein_barrier, stein_gap
from zfree.generators import Barrier, Generator, named
from zfree.moments import Problem
from zfree.solvers import Objective, Restriction, solve

LAWS: dict[str, Law] = {
    "(0, 1), exponential": SimplexLaw((-2.0,), powers=(0.0, 0.0)),
    "(0, 1), x(1 − x)²e^θx": SimplexLaw((3.0,), powers=(1.0, 2.0)),
    "disc, uniform": DiscLaw((0.0, 0.0)),
    "disc, Gaussian": DiscLaw((0.0, 0.0), precision=4.0),
    "triangle, exponential": SimplexLaw((3.0, -1.0), powers=(0.0, 0.0, 0.0)),
    "triangle, Dirichlet": SimplexLaw((0.0, 0.0), powers=(1.0, 0.5, 2.0)),
    "triangle, Gaussian": SimplexLaw((6.0, 3.0), powers=(0.0, 0.0, 0.0), precision=12.0),
}
"""Truths of the families e^{θ·x + b(x)}."""
MAP, HALF = "moment map, γ = 0", "moment map, γ = ½"
STEIN, ENTROPY, MEANS, LOG = "Stein barrier", "entropy, γ = 0", "entropy, γ = 0, mean slacks", "log barrier, γ = 0"
BARRIERS = ("φ₁", "φ₂", "φ₃", LOG, ENTROPY, MEANS, STEIN)
CONTENDERS = (MAP, HALF, *BARRIERS)
LARGEST_DEGREE = 24


def barriers(law: Law, units: Units) -> dict[str, Generator]:
    """What the moment map is compared with; `units` are the mean slacks."""
    return {
        **{name: named(key) for name, key in (("φ₁", "phi1"), ("φ₂", "phi2"), ("φ₃", "phi3"))},
        LOG: Barrier.log(0.0, scale="raw"),
        ENTROPY: Barrier.entropy(0.0, scale="raw"),
        MEANS: Barrier.entropy(0.0, scale=units),
        STEIN: stein_barrier(law, units),
    }


def estimate(law: Law, generator: Generator, X: Array) -> Array:
    """θ̂ = −Γ⁻¹g with this generator."""
    model = law.model()
    problem = Problem(model, generator, law.domain, Table(X))
    return solve(Objective(problem, Restriction.none(model.n_parameters))).theta


@dataclass(frozen=True)
class RecoverMLE(Experiment):
    """The estimate of θ in e^{θ·x + b(x)} with the generator of a moment map, beside maximum likelihood on the same rows.

    The map belongs to a law, so it recovers the likelihood score at that law's θ. Built again at its own estimate until that stays, it gives
    maximum likelihood itself.
    """

    rows: int = 400
    degrees: tuple[int, ...] = (4, 8, 12, 16, 20)
    rounds: int = 7

    name = "recover-mle"
    title = "Maximum likelihood recovered by a moment map"
    place = "Not in the paper: its open problem, the choice of φ, for linear statistics"
    small: ClassVar[dict[str, Any]] = {"rows": 200, "degrees": (4, 8, 12)}

    def check(self) -> None:
        if self.rows < 20:
            raise SpecificationError(f"rows must be 20 at least, got {self.rows}.")
        if len(self.degrees) < 2 or list(self.degrees) != sorted(self.degrees):
            raise SpecificationError(f"degrees must be two at least, in growing order; got {list(self.degrees)}.")
        if not 4 <= self.degrees[0] <= self.degrees[-1] <= LARGEST_DEGREE:
            raise SpecificationError(f"degrees must be between 4 and {LARGEST_DEGREE}, got {list(self.degrees)}.")
        if self.rounds > 100:
            raise SpecificationError(f"rounds must be 100 at most, got {self.rounds}.")

    def plan(self) -> list[Key]:
        return [(k,) for k in range(len(LAWS))]

    def count(self) -> int:
        return len(LAWS)

    def memory(self) -> float:
        return 2e8 + 1e4 * self.rows  # third derivatives of some hundred polynomials at each row

    def trial(self, key: Key, scratch: Path) -> Record:
        truth = list(LAWS.values())[key[0]]
        X = truth.draw(self.rows, self.stream(*key))
        mle = truth.likelihood(X.mean(axis=0))
        information = truth.at(mle).moments()[1]

        def distance(theta: Array) -> float:
            gap = theta - mle
            return float(np.sqrt(self.rows * gap @ information @ gap / len(gap)))

        others = {name: estimate(truth, g, X) for name, g in barriers(truth, Units.of(truth.domain, X)).items()}
        last = self.degrees[-1]
        law, path = truth.at(others[MEANS]), [distance(others[MEANS])]
        for _ in range(self.rounds):
            law = truth.at(estimate(truth, moment_map(law, last).barrier(), X))
            path.append(distance(np.array(law.theta)))
        found = moment_map(law, last)
        estimates = {MAP: estimate(truth, found.barrier(), X), **others}
        if isinstance(found, PolynomialMap) and len(mle) == 1:
            estimates[HALF] = estimate(truth, found.paper_barrier(), X)
        path.append(distance(estimates[MAP]))
        return {
            "mle": mle.tolist(),
            "estimate": estimates[MAP].tolist(),
            "path": path,
            "gap": stein_gap(law, found.barrier()),
            "distances": {name: distance(estimates[name]) if name in estimates else None for name in CONTENDERS},
            **self._at_the_truth(truth),
        }

    def _at_the_truth(self, truth: Law) -> Record:
        """Gaps of Stein's identity by degree, of D from where it is known otherwise, and shares of the bound."""
        maps = [moment_map(truth, degree) for degree in self.degrees]
        nodes, p = truth.nodes()
        generators = {MAP: maps[-1].barrier(), **barriers(truth, Units.of(truth.domain, nodes, p))}
        if isinstance(maps[-1], PolynomialMap) and len(truth.theta) == 1:
            generators[HALF] = maps[-1].paper_barrier()
        D, known = field_at(truth, generators[MAP], nodes)[0], known_kernel(truth, nodes)
        apart = None if known is None else float(np.abs(D - known).max() / np.abs(known).max())
        shares = {name: share_of_bound(truth, generators[name]) if name in generators else None for name in CONTENDERS}
        return {"residuals": [stein_gap(truth, m.barrier()) for m in maps], "shares": shares, "kernel": apart}

    def record(self) -> Pattern:
        each = dict.fromkeys(CONTENDERS, number_or_none)
        vectors = dict.fromkeys(("mle", "estimate", "path", "residuals"), Each(number))
        return {**vectors, "gap": number, "distances": each, "shares": each, "kernel": number_or_none}

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        found = {list(LAWS)[key[0]]: record for key, record in records}
        numbers = []
        title = f"Maximum likelihood of θ and the estimate with the φ of the moment map, N = {self.rows}"
        for j, index in enumerate("₁₂"):
            for law, r in found.items():
                if j < len(r["mle"]):
                    numbers += [
                        Number(title, law, f"MLE θ{index}", round(r["mle"][j], 9) + 0.0),
                        Number(title, law, f"estimate θ{index}", round(r["estimate"][j], 9) + 0.0),
                    ]
        for law, r in found.items():
            numbers.append(Number(title, law, "difference", float(np.abs(np.subtract(r["mle"], r["estimate"])).max())))
            numbers.append(Number(title, law, "in standard errors", r["distances"][MAP]))
            numbers.append(Number(title, law, "gap of Stein's identity", r["gap"]))
            if r["kernel"] is not None:
                numbers.append(Number(title, law, "D from its known form", r["kernel"]))
        title = "Stein's identity at the truth: largest |∇·D + D s + (x − E x)|, in standard deviations of x"
        for law, r in found.items():
            for degree, gap in zip(self.degrees, r["residuals"], strict=True):
                numbers.append(Number(title, law, f"degree {degree}", gap))
        title = "Distance from maximum likelihood, in standard errors, when D is built again at its own estimate"
        for k in range(self.rounds + 2):
            for law, r in found.items():
                numbers.append(Number(title, "entropy, no map yet" if k == 0 else f"round {k}", law, r["path"][k]))
        for field, title in (
            ("distances", f"Distance of each estimate from maximum likelihood, in standard errors, N = {self.rows}"),
            ("shares", "Share of the Cramér–Rao bound at the truth, by quadrature"),
        ):
            for name in CONTENDERS:
                for law, r in found.items():
                    if r[field][name] is not None:
                        numbers.append(Number(title, name, law, r[field][name]))
        return Report(numbers, self._findings(found), lambda: figure(LAWS, found, self.degrees[-1]), REMARKS)

    def _findings(self, found: dict[str, Record]) -> list[Finding]:
        gaps = {law: r["distances"][MAP] for law, r in found.items()}
        allowed = {law: max(np.sqrt(self.rows) * r["gap"], 1e-9) for law, r in found.items()}
        worst = max(gaps, key=lambda law: gaps[law])
        halves = [
            abs(r["distances"][HALF] - r["distances"][MAP]) for r in found.values() if r["distances"][HALF] is not None
        ]
        others = min(r["distances"][name] for r in found.values() for name in ("φ₁", "φ₂", "φ₃", LOG))
        first, last = (max(r["residuals"][k] for r in found.values()) for k in (0, -1))
        known = max(r["kernel"] for r in found.values() if r["kernel"] is not None)
        shares = [r["shares"][MAP] for r in found.values()]
        best = {law: max(r["shares"][n] for n in ("φ₁", "φ₂", "φ₃", LOG)) for law, r in found.items()}
        stein = {law: r["shares"][STEIN] for law, r in found.items()}
        moving = [r["path"] for r in found.values()]
        dirichlet = found["triangle, Dirichlet"]["shares"][ENTROPY]
        return [
            Finding(
                "with the φ of the moment map generalized score matching is maximum likelihood, to the solver's accuracy",
                all(gaps[law] <= min(allowed[law], 1e-3) for law in gaps),
                f"largest distance {short(gaps[worst])} standard errors, {worst}",
            ),
            Finding(
                "on the interval the φ of γ = 0 and the other one of γ = ½ give the same estimate",
                max(halves) < 1e-7,
                f"{short(max(halves))} standard errors apart",
            ),
            Finding(
                "no barrier of the paper is maximum likelihood, nor is the log barrier with γ = 0",
                others > 1e-3,
                f"the closest is {short(others)} standard errors away",
            ),
            Finding(
                "Stein's identity holds better with every degree, until rounding",
                last < 1e-3 * first and all(_falls(r["residuals"]) for r in found.values()),
                f"worst of all laws {short(first)} at degree {self.degrees[0]}, {short(last)} at {self.degrees[-1]}",
            ),
            Finding(
                "D is the kernel that is known otherwise, by quadrature on the interval and in closed form for a Dirichlet",
                known < 1e-6,
                f"largest relative gap {short(known)}",
            ),
            Finding(
                "building D again at its own estimate converges to maximum likelihood",
                all(path[-1] < 1e-3 * path[0] and path[-1] < 1e-3 for path in moving),
                f"from {short(max(p[0] for p in moving))} to {short(max(p[-1] for p in moving))} standard errors at most",
            ),
            Finding(
                "the moment map reaches the Cramér–Rao bound, the paper's φ and the log barrier do not",
                min(shares) > 1 - 1e-6 and max(best.values()) < 0.99,
                f"shares {min(shares):.6f} at least; {', '.join(f'{short(best[law])} on {law}' for law in best)}",
            ),
            Finding(
                "the Stein barrier, which needs no solver, has 99% of it on every law",
                min(stein.values()) > 0.99,
                ", ".join(f"{stein[law]:.4f} on {law}" for law in stein),
            ),
            Finding(
                "for a Dirichlet the entropy with γ = 0 is the moment map",
                abs(dirichlet - 1.0) < 1e-6,
                f"share {dirichlet:.6f}",
            ),
        ]


def _falls(residuals: Sequence[float], floor: float = 1e-7) -> bool:
    """Every degree at least halves the gap, or it is at the floor that rounding sets next to the boundary."""
    return all(b < max(0.5 * a, floor) for a, b in pairwise(residuals))


REMARKS = (
    "A law has the density ∝ e^{θ·x + b(x)}. On the interval and the triangle its slacks are x, and one minus their sum; b is zero (exponential), "
    "−6|x|² (Gaussian), log x(1 − x)², or that of a Dirichlet(2, 1.5, 3). The disc has radius one, and b is zero or −2|x|².",
    "D is built at the estimate, again and again: the last round is the estimate of the first table, and the gap there is that of the map at this estimate, as below.",
    f"Degree: of the polynomial u in φ = Σ c s log s + u. On the disc Ψ is computed instead, at θ = 0 as a polynomial in the radius of {RADIAL} times this degree, elsewhere "
    "by polynomials in the radius times waves in the angle. Stein barrier: D = (0.8 K + H₀)⁻¹ with the law's own K "
    "(12, 4 or 0 times the identity), H₀ = Σ (1 + α) a aᵀ/(s̄ s) where the density is like s^α at a facet, on the disc c (I + xxᵀ/u) with u = 1 − |x|² and c = 3/ū.",
)
