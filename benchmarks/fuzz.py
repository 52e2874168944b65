"""Random problems in random units against a dense reference: `make fuzz`.

Every problem is drawn in balanced units and solved there by :mod:`benchmarks.dense`. The library gets the same problem with columns in units
over 1e±8 and rows of constraints multiplied over 1e±4, and its estimate and standard errors are mapped back. A fit that warns of ill
conditioning or refuses is not silent; every other one must agree.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

import zfree as zf
from benchmarks.dense import Part, barrier, coordinate, distance, section, solve
from benchmarks.dense_stein import stein_fit
from benchmarks.table import print_table
from zfree.errors import IllConditionedWarning, UnitsWarning, ZfreeError, ZfreeWarning

PROBLEMS = 20_000
TOLERANCE = 1e-6
"""Allowed difference, of the size of the parameter plus its standard error, while Γ is well conditioned."""


@dataclass
class Problem:
    """Rows on a set in balanced units, the same set as the library is told, and the columns' units."""

    parts: list
    domain: zf.Domain
    X: np.ndarray
    units: np.ndarray


def _draw_part(rng, kind, d):
    """(part, function from column units to a domain, rows)."""
    n = 120
    if kind == "RealSpace":
        part = Part("facets", d, np.zeros((0, d)), np.zeros(0))
        return (
            part,
            lambda c: zf.RealSpace(d),
            rng.standard_normal((n, d)) @ (np.eye(d) + 0.5 * rng.standard_normal((d, d))),
        )
    if kind == "Orthant":
        part = Part("facets", d, -np.eye(d), np.zeros(d))
        return part, lambda c: zf.Orthant(d), rng.gamma(rng.uniform(1.5, 4.0, d), 1.0, (n, d))
    if kind == "Box":
        lower = np.where(rng.random(d) < 0.7, rng.uniform(-1, 0, d), -np.inf)
        upper = np.where(rng.random(d) < 0.7, rng.uniform(1, 2, d), np.inf)
        A = np.vstack([-np.eye(d)[np.isfinite(lower)], np.eye(d)[np.isfinite(upper)]])
        b = np.r_[-lower[np.isfinite(lower)], upper[np.isfinite(upper)]]
        X = np.where(np.isfinite(lower), lower, -1.0) + rng.beta(2, 2, (n, d)) * (
            np.where(np.isfinite(upper), upper, 2.0) - np.where(np.isfinite(lower), lower, -1.0)
        )
        return Part("facets", d, A, b), lambda c: zf.Box(lower * c, upper * c), X
    if kind in ("HalfSpace", "Polytope", "Polytope-unbounded"):
        m = {"HalfSpace": 1, "Polytope-unbounded": max(1, d - 1), "Polytope": 2 * d + 3}[kind]
        A = rng.standard_normal((m, d))
        if kind == "Polytope":
            A[: 2 * d] = np.vstack([np.eye(d), -np.eye(d)]) + 0.2 * rng.standard_normal((2 * d, d))
        b = rng.uniform(0.5, 1.5, m)
        draws = rng.uniform(-1.5, 1.5, (200 * n, d))
        X = draws[np.all(draws @ A.T < b, axis=1)][:n]
        rows = 10.0 ** rng.uniform(-4, 4, m)

        def make(c):
            scaled, level = A / c * rows[:, None], b * rows
            return zf.HalfSpace(scaled[0], level[0]) if kind == "HalfSpace" else zf.Polytope(scaled, level)

        needed = [k for k in range(m) if k not in zf.Polytope(A, b).redundant] if kind == "Polytope" else slice(None)
        return Part("facets", d, A[needed], b[needed]), make, X
    if kind == "SolidSimplex":
        A, b = np.vstack([-np.eye(d), np.ones(d)]), np.r_[np.zeros(d), 1.0]
        X = rng.dirichlet(rng.uniform(1.5, 4.0, d + 1), n)[:, :d]
        rows = 10.0 ** rng.uniform(-4, 4, d + 1)
        # In units of its own a solid simplex is a polytope.
        return (
            Part("facets", d, A, b),
            lambda c: zf.SolidSimplex(d) if np.all(c == 1) else zf.Polytope(A / c * rows[:, None], b * rows),
            X,
        )
    if kind == "Simplex":
        d = d + 1
        return Part("simplex", d), lambda c: zf.Simplex(d), rng.dirichlet(rng.uniform(1.5, 4.0, d), n)
    center, radius = rng.uniform(-0.3, 0.3, d), rng.uniform(0.5, 2.0)
    direction = rng.standard_normal((n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    if kind == "Ball":
        X = center + direction * (radius * rng.beta(2.0, 1.5, n) ** (1 / d))[:, None]
        return Part("ball", d, center=center, radii=np.array([radius])), lambda c: zf.Ball(radius * c[0], center * c), X
    radii = radius * np.array([0.4, 1.0])
    X = center + direction * (radii[0] + (radii[1] - radii[0]) * rng.beta(2, 2, n))[:, None]
    return Part("shells", d, center=center, radii=radii), lambda c: zf.Shells(radii * c[0], center * c), X


KINDS = (
    "RealSpace",
    "Orthant",
    "Box",
    "HalfSpace",
    "Polytope",
    "Polytope-unbounded",
    "SolidSimplex",
    "Simplex",
    "Ball",
    "Shells",
)
ONE_UNIT = ("Ball", "Shells")


def draw_problem(rng, kinds):
    """A set (a product, if there are several kinds) with rows and units."""
    pieces = [(kind, *_draw_part(rng, kind, int(rng.integers(1, 4)))) for kind in kinds]
    units, domains = [], []
    for kind, part, make, _ in pieces:
        c = 10.0 ** rng.uniform(-8, 8, part.d)
        c = np.ones(part.d) if kind == "Simplex" else (np.full(part.d, c[0]) if kind in ONE_UNIT else c)
        units.append(c)
        domains.append(make(c))
    X = np.concatenate([rows[: min(len(r) for *_, r in pieces)] for *_, rows in pieces], axis=1)
    domain = domains[0] if len(domains) == 1 else zf.Product(domains)
    c = np.concatenate(units)
    slacks = domain.slacks(X * c)
    # Closer to a facet the reference itself, in double precision, loses the digits; the tests go there in sixty.
    clear = np.all(slacks > 2e-3 * slacks.mean(axis=0), axis=1)
    return Problem([p for _, p, _, _ in pieces], domain, X[clear], c)


def draw_generator(rng, problem, positive):
    """(the library's generator, a function to the reference's D and divergence, the same in the units of the library)."""
    kinds = {part.kind for part in problem.parts}
    options = [] if "shells" in kinds else ["barrier", "barrier", "barrier", "raw barrier"]
    if "simplex" not in kinds and any(part.kind != "facets" or len(part.b) for part in problem.parts):
        options += ["distance", "raw distance"]
        if "shells" not in kinds:
            options += ["section", "raw section"]
    if positive:
        options += ["weight", "raw weight"]
    choice = str(rng.choice(options))
    natural = not choice.startswith("raw")
    scale = "natural" if natural else "raw"
    if choice.endswith("barrier"):
        p, gamma = (
            float(rng.choice([0.0, 1.0, 4 / 3, rng.uniform(-0.5, 1.4)])),
            float(rng.choice([0.0, 0.5, rng.uniform(0, 1)])),
        )
        return zf.Barrier(p, gamma, scale=scale), natural, lambda parts, X, w: barrier(parts, X, p, gamma, natural, w)
    if choice.endswith("distance"):
        return zf.BoundaryDistance(scale=scale), natural, lambda parts, X, w: distance(parts, X, natural, w)
    if choice.endswith("section"):
        return zf.SectionDistance("x", scale=scale), natural, lambda parts, X, w: section(parts, X, natural, w)
    name, h, slope = [
        ("x", lambda x: x, np.ones_like),
        ("x^2", np.square, lambda x: 2 * x),
        ("log(1+x)", np.log1p, lambda x: 1 / (1 + x)),
    ][int(rng.integers(3))]
    return zf.CoordinateWeight(name, scale=scale), natural, lambda parts, X, w: coordinate(h, slope, X, natural, w)


def draw_model(rng, problem):
    """(estimator maker, J, Hessians, base gradient, held, units of the natural parameters)."""
    X, c, d = problem.X, problem.units, problem.X.shape[1]
    kinds = [part.kind for part in problem.parts]
    orthant = len(kinds) == 1 and isinstance(problem.domain, zf.Orthant)
    if kinds == ["simplex"]:
        return _dirichlet(problem)
    options = ["gaussian", "gaussian", "diagonal", "masked", "known"]
    if orthant:
        options += ["gamma", "exponential", "lognormal", "power"]
    if "simplex" in kinds:
        return _independent_family(problem)
    choice = str(rng.choice(options))
    if choice == "gamma":
        return _separable(problem, zf.Gamma, [(1 / X, -1 / X**2, np.ones(d)), (-np.ones_like(X), 0 * X, 1 / c)], -1 / X)
    if choice == "exponential":
        return _separable(problem, zf.Exponential, [(-np.ones_like(X), 0 * X, 1 / c)], 0 * X)
    a, b = {"lognormal": (0.0, 0.0), "power": tuple(map(float, rng.choice([[0.5, 0.5], [0.5, 0.0], [1.5, 1.0]])))}.get(
        choice, (1.0, 1.0)
    )
    mask = np.ones((d, d), bool)
    if choice == "diagonal":
        mask = np.eye(d, dtype=bool)
    if choice == "masked":
        mask = np.triu(rng.random((d, d)) < 0.5, 1)
        mask = mask | mask.T | np.eye(d, dtype=bool)
    return _pairwise(rng, problem, a, b, mask, choice)


def _pairwise(rng, problem, a, b, mask, choice):
    X, c, d = problem.X, problem.units, problem.X.shape[1]
    rows, cols = np.nonzero(np.triu(mask))
    m = len(rows)
    u = X**a if a else np.log(X)
    v = X ** (a - 1.0)
    bend = (a - 1.0) * X ** (a - 2.0)
    n = len(X)
    J, H = np.zeros((n, m + d, d)), np.zeros((n, m + d, d, d))
    for k, (i, j) in enumerate(zip(rows, cols, strict=True)):
        if i == j:
            J[:, k, i] = -u[:, i] * v[:, i]
            H[:, k, i, i] = -((a if a else 1.0) * v[:, i] ** 2 + u[:, i] * bend[:, i])
            continue
        J[:, k, i], J[:, k, j] = -u[:, j] * v[:, i], -u[:, i] * v[:, j]
        H[:, k, i, i], H[:, k, j, j] = -u[:, j] * bend[:, i], -u[:, i] * bend[:, j]
        H[:, k, i, j] = H[:, k, j, i] = -(a if a else 1.0) * v[:, i] * v[:, j]
    index = np.arange(d)
    J[:, m + index, index] = X ** (b - 1.0)
    H[:, m + index, index, index] = (b - 1.0) * X ** (b - 2.0)
    base = -1 / X if choice == "lognormal" else np.zeros_like(X)
    # θ' = θ / units, in which K_jk u_j u_k and η x^b do not change; logarithms shift instead, which moves η by K log c.
    k_units = c[rows] ** -a * c[cols] ** -a
    shift = None
    if a == 0.0:
        shift = np.eye(m + d)
        logs = np.log(c)
        for k, (i, j) in enumerate(zip(rows, cols, strict=True)):
            shift[m + i, k] += logs[j]
            if i != j:
                shift[m + j, k] += logs[i]
    theta_units = np.r_[k_units, c**-b]
    held, options = {}, {}
    if choice == "known":
        value = float(rng.uniform(0.5, 2.0))
        held = {0: value}
        precision = np.full((d, d), np.nan)
        precision[0, 0] = value * theta_units[0]
        options["precision"] = precision
    if choice == "diagonal":
        options["structure"] = "diagonal"
    if choice == "masked":
        options["mask"] = mask
    if choice == "lognormal":
        return lambda g: zf.LogNormal(g), J, H, base, held, theta_units, shift
    if choice == "power":
        return lambda g: zf.PowerInteraction(a, b, g), J, H, base, held, theta_units, shift
    return lambda g: zf.TruncatedGaussian(problem.domain, g, **options), J, H, base, held, theta_units, shift


def _separable(problem, estimator, kinds, base):
    d = problem.X.shape[1]
    n, index = len(problem.X), np.arange(d)
    J, H = np.zeros((n, len(kinds) * d, d)), np.zeros((n, len(kinds) * d, d, d))
    for k, (first, second, _) in enumerate(kinds):
        J[:, k * d + index, index] = first
        H[:, k * d + index, index, index] = second
    return estimator, J, H, base, {}, np.concatenate([units for *_, units in kinds]), None


def _dirichlet(problem):
    X = problem.X
    return _separable(problem, zf.Dirichlet, [(1 / X, -1 / X**2, np.ones(X.shape[1]))], -1 / X)


def _independent_family(problem):
    """A user's own family with one statistic per column, −x²/2 on free columns: works on products with simplices."""
    X, c, d = problem.X, problem.units, problem.X.shape[1]

    def statistic(Y):
        return -0.5 * (Y / c) ** 2

    def jacobian(Y):
        return -(Y / c**2)[:, :, None] * np.eye(d)

    def hessian(Y):
        out = np.zeros((len(Y), d, d, d))
        out[:, np.arange(d), np.arange(d), np.arange(d)] = -1.0 / c**2
        return out

    J, H = -X[:, :, None] * np.eye(d), np.zeros((len(X), d, d, d))
    H[:, np.arange(d), np.arange(d), np.arange(d)] = -1.0

    def make(g):
        return zf.ExponentialFamily(statistic, jacobian=jacobian, hessian=hessian, domain=problem.domain, generator=g)

    return make, J, H, np.zeros_like(X), {}, np.ones(d), None


def one(seed):
    """(kind of set, kind of generator, kind of model, verdict, difference)."""
    rng = np.random.default_rng([seed, 17])
    kinds = [str(rng.choice(KINDS))] if rng.random() < 0.8 else [str(k) for k in rng.choice(KINDS, 2)]
    if set(kinds) == {"Shells", "Simplex"}:
        kinds = ["Shells"]  # no weight of the reference serves both
    problem = draw_problem(rng, kinds)
    positive = problem.X.min() > 0 and "Simplex" not in kinds
    make, J, H, base, held, theta_units, shift = draw_model(rng, problem)
    generator, natural, reference = draw_generator(rng, problem, positive)
    automatic = natural and rng.random() < 0.2 and "shells" not in {p.kind for p in problem.parts}
    weight = rng.exponential(size=len(problem.X)) if rng.random() < 0.3 else None
    # Pairwise models are fitted about their centre, where a ridge means another one.
    apart = isinstance(make("auto"), zf.Gamma | zf.Exponential | zf.Dirichlet | zf.ExponentialFamily)
    ridge = float(rng.uniform(0.01, 0.3)) if apart and not automatic and rng.random() < 0.3 else 0.0
    estimator = make("auto" if automatic else generator).set_params(check=False, ridge=ridge)
    labels = (
        kinds[0] if len(kinds) == 1 else "product",
        f"{type(generator).__name__}, {'natural' if natural else 'raw'}",
        type(estimator).__name__,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ZfreeWarning)
        try:
            est = estimator.fit(problem.X * problem.units, sample_weight=None if weight is None else 1e9 * weight)
        except ZfreeError as error:
            return (*labels, f"refused: {type(error).__name__}", 0.0)
    for category, word in ((IllConditionedWarning, "warned: ill-conditioned"), (UnitsWarning, "warned: units")):
        if any(issubclass(w.category, category) for w in caught):
            return (*labels, word, 0.0)
    if automatic and isinstance(est.generator_, zf.SteinBarrier) and isinstance(est, zf.TruncatedGaussian):
        model = est.result_.model
        labels = (labels[0], "auto: SteinBarrier", labels[2])
        pairs = (model.rows, model.cols)
        theta, covariance, condition = stein_fit(problem.parts, problem.X, J, H, base, held, pairs, weight)
        return (*labels, *_compared(est.result_, theta, covariance, condition, theta_units))
    if automatic:
        chosen = est.generator_
        if isinstance(chosen, zf.Barrier):
            p, gamma = chosen.power, chosen.det_power
            D, divergence = barrier(problem.parts, problem.X, p, gamma, True, weight)
        elif isinstance(chosen, zf.Identity):
            mean = np.average(problem.X, axis=0, weights=weight)
            variances = np.average((problem.X - mean) ** 2, axis=0, weights=weight)
            D = np.broadcast_to(np.diag(variances), (len(problem.X), *[problem.X.shape[1]] * 2))
            divergence = np.zeros_like(problem.X)
        else:
            return (*labels, "not compared", 0.0)
        labels = (labels[0], f"auto: {type(chosen).__name__}", labels[2])
    else:
        D, divergence = _reference_weight(problem, reference, natural, weight)
    theta, covariance, condition = solve(J, H, base, D, divergence, held, weight, ridge)
    if shift is not None:
        theta, covariance = shift @ theta, shift @ covariance @ shift.T
    return (*labels, *_compared(est.result_, theta, covariance, condition, theta_units))


def _compared(found, theta, covariance, condition, theta_units):
    """(verdict, difference) of a result and what the reference says in balanced units."""
    theta, se = theta * theta_units, np.sqrt(np.maximum(np.diagonal(covariance), 0.0)) * theta_units
    size = np.abs(theta) + se
    gap = max(float(np.max(np.abs(found.theta - theta) / size)), float(np.max(np.abs(_sandwich(found) - se) / size)))
    allowed = TOLERANCE * max(1.0, 1e-7 * condition)
    return "agrees" if gap <= allowed else "DIFFERS", gap / allowed


def _sandwich(result):
    return getattr(result, "sandwich_standard_errors", result.standard_errors)


def _reference_weight(problem, reference, natural, weight):
    """D and ∇·D in balanced units. A raw weight is that of the scaled set and rows, mapped back: D = C⁻¹ D' C⁻¹."""
    if natural:
        return reference(problem.parts, problem.X, weight)
    c, parts, start = problem.units, [], 0
    domain_parts = problem.domain.factors if isinstance(problem.domain, zf.Product) else (problem.domain,)
    for part, domain in zip(problem.parts, domain_parts, strict=True):
        cut = c[start : start + part.d]
        start += part.d
        if part.kind == "facets":
            A, b = domain.inequalities
            parts.append(Part("facets", part.d, A, b))
        elif part.kind == "simplex":
            parts.append(part)
        else:
            parts.append(Part(part.kind, part.d, center=part.center * cut, radii=part.radii * cut[0]))
    D, divergence = reference(parts, problem.X * c, weight)
    return D / np.multiply.outer(c, c), divergence / c


def main(argv) -> int:
    count = int(argv[0]) if argv else PROBLEMS
    started, table, worst, bad = time.process_time(), Counter(), (0.0, None), []
    for seed in range(count):
        *labels, verdict, gap = one(seed)
        table[labels[0], verdict] += 1
        table[labels[2], verdict] += 1
        table[labels[1], verdict] += 1
        if verdict in ("agrees", "DIFFERS") and gap > worst[0]:
            worst = gap, (seed, *labels)
        if verdict == "DIFFERS":
            bad.append((seed, *labels, f"{gap:.2g}"))
    verdicts = sorted({verdict for _, verdict in table})
    names = sorted({name for name, _ in table})
    rows = [[name, *(str(table[name, v]) for v in verdicts)] for name in names]
    print_table(f"{count} problems, {time.process_time() - started:.0f} s of processor time", ["", *verdicts], rows)
    print(
        f"\nworst: {worst[0]:.2g} of what is allowed ({TOLERANCE:g}, more where Γ is ill-conditioned), problem {worst[1]}"
    )
    for row in bad[:20]:
        print("DIFFERS", *row)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
