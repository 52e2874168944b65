"""Score matching as the limit of minimum probability flow: the cube it started from, and Theorems 3.1 and 3.2, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.data import Table
from zfree.domains import Domain, Orthant, RealSpace, SolidSimplex
from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment
from zfree.experiments.records import Key, Pattern, Record, number
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import as_precision
from zfree.generators import Barrier
from zfree.models import PairwiseModel
from zfree.moments import Problem
from zfree.neighbourhoods import BregmanBall, Cube, Neighbourhood, SoftNeighbourhood, mixing_constant, radial_moment
from zfree.potentials import Power
from zfree.samplers import sample_gaussian

DIMENSION = 3
SOFT, THEOREM, PROPER, CUBE = "soft", "hard, λ = C₆/C₃", "hard, λ = 1", "cube"
KINDS = (SOFT, THEOREM, PROPER, CUBE)
DOMAINS: dict[str, Domain] = {
    "S³": SolidSimplex(DIMENSION),
    "R₊³": Orthant(DIMENSION),
    "R³": RealSpace(DIMENSION),
}
ON = {"S³": (SOFT, THEOREM, PROPER), "R₊³": (SOFT, THEOREM, PROPER), "R³": (CUBE,)}
"""Which neighbourhoods are tried where: the cube's limit is score matching on the whole space."""
ORDERS = {SOFT: 1, THEOREM: 2, PROPER: 2, CUBE: 2}
"""The remainder of the expansions: O(ε) in the soft case, odd moments being zero, O(r²) in the hard one, O(ε²) for the side ε of a cube."""
CONSTANTS = {THEOREM: "λ = C₆/C₃", PROPER: "λ = 1"}
"""What tells apart the hard neighbourhoods, which share a panel of the figure."""
SYMBOLS = {SOFT: "ε", THEOREM: "r", PROPER: "r", CUBE: "ε"}


@dataclass(frozen=True)
class FlowLimit(Experiment):
    """‖∇θ K − ∇θ L‖ / ‖∇θ L‖ against the size of the neighbourhood, by quadrature over the neighbours of `rows` points.

    K is minimum probability flow in the units of its limit (4/ε times the paper's), L the score matching loss that the
    theorem names, both for a truncated Gaussian at a θ that is not the truth.
    """

    rows: int = 100
    power: float = 4 / 3
    soft: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01, 0.003)
    hard: tuple[float, ...] = (0.4, 0.2, 0.1, 0.05, 0.025)
    cube: tuple[float, ...] = (0.8, 0.4, 0.2, 0.1, 0.05)
    precision: float | tuple[float, ...] = 4.0

    name = "limit"
    title = "Score matching as a limit of minimum probability flow"
    place = "Main Results: the cube; Theorems 3.1 and 3.2, and the remark after the proof of the latter"
    small: ClassVar[dict[str, Any]] = {"rows": 20}

    def check(self) -> None:
        if abs(self.power) > 10:
            raise SpecificationError(f"power must be between -10 and 10, got {self.power!r}.")
        for name, steps in (("soft", self.soft), ("hard", self.hard), ("cube", self.cube)):
            if len(set(steps)) < max(2, len(steps)):
                raise SpecificationError(f"{name} must be two different sizes at least, got {list(steps)}.")
        for kind in KINDS:
            for size in self.sizes(kind):
                self._neighbourhood(kind, size)
        as_precision(self.precision, DIMENSION)

    def plan(self) -> list[Key]:
        return [
            (where, KINDS.index(kind), k)
            for where, kinds in enumerate(ON.values())
            for kind in kinds
            for k in range(len(self.sizes(kind)))
        ]

    def sizes(self, kind: str) -> tuple[float, ...]:
        """ε or r."""
        return {SOFT: self.soft, CUBE: self.cube}.get(kind, self.hard)

    def trial(self, key: Key, scratch: Path) -> Record:
        domain, kind = list(DOMAINS.values())[key[0]], KINDS[key[1]]
        d = DIMENSION
        mean, K = np.full(d, 0.25), as_precision(self.precision, d) + 0.8
        X = sample_gaussian(domain, mean, K, self.rows, self.stream(key[0]))
        model = PairwiseModel([f"x{j + 1}" for j in range(d)])
        theta = 0.8 * np.concatenate([K[model.rows, model.cols], K @ mean])
        size = self.sizes(kind)[key[2]]
        neighbourhood, moves, weight = self._neighbourhood(kind, size)
        flow = flow_gradient(model, theta, domain, X, neighbourhood, moves, weight)
        constant = mixing_constant(d) if kind == THEOREM else 1.0
        generator = Barrier(self.power, scale="raw")  # the identity on R³
        limit = matching_gradient(model, theta, domain, X, generator, constant)
        return {"error": float(np.linalg.norm(flow - limit) / np.linalg.norm(limit))}

    def _neighbourhood(self, kind: str, size: float) -> tuple[Neighbourhood, Array, Array]:
        if kind == CUBE:
            return Cube(size), *cube_nodes(DIMENSION)
        if kind == SOFT:
            return SoftNeighbourhood(Barrier(self.power, scale="raw"), size), *gaussian_nodes(DIMENSION)
        return BregmanBall(Power(self.power), size, proper=kind == PROPER), *ball_nodes()

    def record(self) -> Pattern:
        return {"error": number}

    def memory(self) -> float:
        return 1e6 * self.rows  # some thousand neighbours of each, and their statistics

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        errors = {key: record["error"] for key, record in records}
        numbers, findings = [], []
        for where, (domain, kinds) in enumerate(ON.items()):
            for kind in kinds:
                sizes, symbol = self.sizes(kind), SYMBOLS[kind]
                values = [errors[where, KINDS.index(kind), k] for k in range(len(sizes))]
                for size, value in zip(sizes, values, strict=True):
                    numbers.append(
                        Number(f"Relative gap of the gradients, {kind}", f"{symbol} = {short(size)}", domain, value)
                    )
                slope = float(np.polyfit(np.log(sizes[-3:]), np.log(values[-3:]), 1)[0])
                findings.append(
                    Finding(
                        f"{domain}, {kind}: the gap closes like {symbol}{'' if ORDERS[kind] == 1 else '²'}",
                        abs(slope - ORDERS[kind]) <= 0.3,
                        f"fitted slope {slope:.2f}, gap {short(values[-1])} at {symbol} = {short(sizes[-1])}",
                    )
                )
        remark = f"λ = C₆/C₃ is {short(mixing_constant(DIMENSION))} in {DIMENSION} dimensions."
        return Report(numbers, findings, lambda: self._figure(errors), (remark,))

    def _figure(self, errors: dict[Key, float]) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        figure, axes = panels(3, width=4.4)
        shown = (
            ((CUBE,), "cube of side ε"),
            ((SOFT,), "soft neighbourhood"),
            ((THEOREM, PROPER), "Bregman ball of radius r"),
        )
        for ax, (kinds, title) in zip(axes, shown, strict=True):
            steps, order, lowest = np.array(self.sizes(kinds[0])), ORDERS[kinds[0]], np.inf
            for where, (domain, style) in enumerate(zip(DOMAINS, ("-", "--", "-"), strict=True)):
                for kind in (kind for kind in kinds if kind in ON[domain]):
                    which = KINDS.index(kind)
                    values = [errors[where, which, k] for k in range(len(steps))]
                    lowest = min(lowest, values[-1])
                    label = f"{domain}, {CONSTANTS[kind]}" if kind in CONSTANTS else domain
                    ax.loglog(steps, values, style, marker="o", color=PALETTE[which], label=label)
            ax.loglog(steps, 0.4 * lowest * (steps / steps[-1]) ** order, ":", color="0.5", label=f"slope {order}")
            ax.set(title=title, xlabel=SYMBOLS[kinds[0]])
            ax.set_xticks(steps, [short(step) for step in steps])
            ax.set_xticks([], minor=True)
            ax.legend(frameon=False, fontsize="small")
        axes[0].set_ylabel("relative gap of the gradients")
        return figure


def flow_gradient(
    model: PairwiseModel,
    theta: Array,
    domain: Domain,
    X: Array,
    neighbourhood: Neighbourhood,
    moves: Array,
    weight: Array,
) -> Array:
    """∇θ of minimum probability flow, the expectation over neighbours replaced by weighted `moves` (k, d)."""
    U = np.repeat(moves[:, None, :], len(X), axis=1)
    points, coefficients = neighbourhood.place(domain, X, U)
    shape = points.shape[:2]
    change = (model.statistics(points.reshape(-1, X.shape[1])).reshape(*shape, -1)) - model.statistics(X)
    # E = −θ·t, so ∇θ 4 c exp(½(E(x) − E(y))) = 2 c (t(y) − t(x)) exp(½θ·(t(y) − t(x))).
    factor = 2.0 * coefficients * np.exp(0.5 * change @ theta) * weight[:, None]
    gradient: Array = np.einsum("kn,knr->r", factor, change) / len(X)
    return gradient


def matching_gradient(
    model: PairwiseModel, theta: Array, domain: Domain, X: Array, generator: Barrier, constant: float
) -> Array:
    """∇θ of the score matching loss with λ = `constant` in front of the divergence of D."""
    moments = Problem(model, generator, domain, Table(X)).moments()
    gradient = np.exp(moments.log_scale) * (moments.gamma.matvec(theta) + moments.g)
    value = generator.evaluate(domain, X)
    divergence = np.exp(value.log_weight)[:, None] * value.divergence
    corrected: Array = gradient - (1.0 - constant) * model.apply_jacobian(X, divergence).mean(axis=1)
    return corrected


def gaussian_nodes(d: int, n: int = 14) -> tuple[Array, Array]:
    """Points and weights that integrate polynomials exactly under N(0, I)."""
    return _product(*np.polynomial.hermite_e.hermegauss(n), d)


def cube_nodes(d: int, n: int = 8) -> tuple[Array, Array]:
    """The same under the uniform density on the cube of side 2."""
    return _product(*np.polynomial.legendre.leggauss(n), d)


def ball_nodes(n: int = 10) -> tuple[Array, Array]:
    """The same under the density ∝ exp(−½‖u‖²) on the unit ball of ℝ³."""
    z, w = np.polynomial.legendre.leggauss(n)
    r, radial = 0.5 * (z + 1), 0.5 * w
    angle = 2 * np.pi * np.arange(2 * n) / (2 * n)
    radius, height, turn = np.meshgrid(r, z, angle, indexing="ij")
    ring = np.sqrt(1 - height**2)
    points = np.stack([radius * ring * np.cos(turn), radius * ring * np.sin(turn), radius * height], axis=-1).reshape(
        -1, 3
    )
    weight = (radial * r**2 * np.exp(-0.5 * r**2))[:, None, None] * w[None, :, None] * np.full(2 * n, np.pi / n)
    return points, weight.ravel() / radial_moment(3, 0)


def _product(x: Array, w: Array, d: int) -> tuple[Array, Array]:
    """The rule of one coordinate for all d, with weights that sum to one."""
    grid = np.stack(np.meshgrid(*[x] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weight = np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij"), axis=-1).reshape(-1, d), axis=1)
    return grid, weight / weight.sum()
