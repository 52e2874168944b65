"""Are the verdicts on tails right? Coverage of 95% intervals and errors beside what the fits say: `make bench-tails`.

Lomax, Student and inverse gamma families of one's own, and exponentials, with generators on both sides of the limits of
:mod:`zfree.inference.tails`. The last column is what ten times the rows divide the median error by: √10 with a finite variance.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from tests.heavy_tails import growing, inverse_gamma, lomax, radial, student

import zfree as zf
from benchmarks.table import print_table
from zfree.errors import InconsistentGeneratorWarning, InfiniteVarianceWarning
from zfree.models import CustomModel

SIZES = (300, 3000)


class Case(NamedTuple):
    """A truth, an estimator, and what theory says of it."""

    name: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    estimator: zf.ExponentialFamily | zf.Exponential
    truth: float
    theory: str


def _family(model: CustomModel, domain: zf.Domain, generator: zf.Generator | str) -> zf.ExponentialFamily:
    return zf.ExponentialFamily(
        model._t,
        model._b,
        jacobian=model._jacobian,
        hessian=model._hessian,
        base_gradient=model._base_gradient,
        base_hessian=model._base_hessian,
        domain=domain,
        generator=generator,
        check=False,
    )


def _lomax(alpha: float, generator: zf.Generator | str, theory: str) -> Case:
    est = _family(lomax(), zf.Orthant(1), generator)
    return Case(f"Lomax {alpha:g}, {generator}", lambda rng, n: rng.pareto(alpha, (n, 1)), est, alpha + 1, theory)


def _student(nu: float, q: float, theory: str) -> Case:
    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.standard_normal((n, 2)) / np.sqrt(rng.chisquare(nu, (n, 1)))

    est = _family(student(2), zf.RealSpace(2), radial(q))
    return Case(f"Student {nu:g} in the plane, |x|^{q:g}", draw, est, (nu + 2) / 2, theory)


def _inverse_gamma(alpha: float, theory: str) -> Case:
    est = _family(inverse_gamma(alpha), zf.Orthant(1), zf.Barrier.log(1.0))
    return Case(f"inverse gamma {alpha:g}, x^4", lambda rng, n: 2.0 / rng.gamma(alpha, 1.0, (n, 1)), est, 2.0, theory)


def _exponential(rate: float, theory: str) -> Case:
    est = zf.Exponential(growing(rate), check=False)
    return Case(f"exponential, e^({rate:g}x) − 1", lambda rng, n: rng.exponential(size=(n, 1)), est, 1.0, theory)


FINE, NO_VARIANCE, INCONSISTENT = "fine", "no variance", "inconsistent"
CASES = (
    _lomax(0.7, "h2", FINE),
    _lomax(0.7, "phi3", INCONSISTENT),
    _lomax(1.5, "h2", FINE),
    _lomax(1.5, "phi3", NO_VARIANCE),
    _lomax(4.0, "phi3", FINE),
    _lomax(4.0, "auto", FINE),
    _student(1.0, 2.0, FINE),
    _student(1.0, 2.7, NO_VARIANCE),
    _student(1.0, 3.5, INCONSISTENT),
    _inverse_gamma(1.0, INCONSISTENT),
    _inverse_gamma(1.5, NO_VARIANCE),
    _inverse_gamma(4.0, FINE),
    _exponential(0.2, FINE),
    _exponential(0.7, NO_VARIANCE),
    _exponential(1.5, INCONSISTENT),
)


def _said(caught: list[warnings.WarningMessage]) -> str:
    kinds = [w.category for w in caught]
    if InconsistentGeneratorWarning in kinds:
        return INCONSISTENT
    return NO_VARIANCE if InfiniteVarianceWarning in kinds else FINE


def measure(case: Case, n: int, data_sets: int) -> tuple[float, float, str]:
    """Coverage, median error, and the shares of fits that say fine, no variance, inconsistent."""
    rng, covered, said, errors = np.random.default_rng(n), 0, [], []
    for _ in range(data_sets):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = case.estimator.fit(case.draw(rng, n)).result_
        low, high = result.conf_int()[0]
        covered += bool(low < case.truth < high)
        errors.append(abs(result.theta[0] - case.truth))
        said.append(_said(caught))
    shares = [said.count(word) / data_sets for word in (FINE, NO_VARIANCE, INCONSISTENT)]
    return covered / data_sets, float(np.median(errors)), " ".join(f"{share:.2f}" for share in shares)


def main(data_sets: int = 400) -> None:
    """Print one row per case."""
    rows = []
    for case in CASES:
        few, many = (measure(case, n, data_sets) for n in SIZES)
        gain = few[1] / many[1] if many[1] > 0 else float("nan")
        rows.append([case.name, case.theory, few[2], many[2], f"{few[0]:.3f}", f"{many[0]:.3f}", f"{gain:.2f}"])
    n1, n2 = SIZES
    says = "fine, no variance, inconsistent"
    header = ["truth, D", "theory", f"{says}: N = {n1}", f"N = {n2}", f"coverage: N = {n1}", f"N = {n2}", "gain"]
    print_table(f"{data_sets} data sets each", header, rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
