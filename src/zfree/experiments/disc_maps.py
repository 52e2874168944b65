"""Moment maps on a disc (see :mod:`zfree.experiments.moment_maps`), in the coordinates y = ∇φ(x): the plane, polar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb, perm

import numpy as np
from numpy.polynomial import chebyshev

from zfree.arrays import Array
from zfree.experiments.laws import DiscLaw
from zfree.experiments.polytope_maps import MomentMap, Potential, gauss_newton
from zfree.generators import Custom
from zfree.threads import one_blas_thread

END = 28.0
"""Where the plane ends: the mass of e^{−Ψ} beyond is nothing."""


def _chebyshev(t: Array, degree: int, order: int) -> Array:
    """Derivatives of Chebyshev polynomials on (0, END), shape (N, degree + 1)."""
    rows: Array = np.eye(degree + 1)
    if order:
        rows = np.asarray(chebyshev.chebder(rows, order, scl=2.0 / END), dtype=np.float64)
    return np.asarray(chebyshev.chebvander(2.0 * t / END - 1.0, len(rows) - 1) @ rows)


@dataclass(frozen=True, eq=False)
class RadialMap(Potential):
    r"""φ at θ = 0, where the law is radial: :math:`\Psi''\,\Psi'\,p(\Psi') = t\,e^{-\Psi}` with Ψ'(0) = 0 and Ψ'(∞) = 1.

    Ψ is a Chebyshev polynomial in t = |y|. At |x| = Ψ'(t) the eigenvalues of D are Ψ''(t) along the radius and Ψ'(t)/t across it.
    """

    law: DiscLaw
    coefficients: Array = field(init=False)

    def __post_init__(self) -> None:
        with one_blas_thread():
            object.__setattr__(self, "coefficients", self._solve())

    def derivative(self, t: Array, order: int) -> Array:
        """Ψ, Ψ', … at t."""
        return np.asarray(_chebyshev(t, self.degree, order) @ self.coefficients)

    def _solve(self) -> Array:
        k, n = self.law.precision, self.degree
        t = 0.5 * END * (1.0 + np.cos(np.pi * (np.arange(n - 1) + 0.5) / (n - 1)))
        value, slope, curvature = (_chebyshev(t, n, order) for order in range(3))
        ends = _chebyshev(np.array([0.0, END]), n, 1)

        def equations(z: Array) -> tuple[Array, Callable[[], Array]]:
            one, two = slope @ z, curvature @ z
            damp, source = np.exp(-0.5 * k * one**2), t * np.exp(-value @ z)

            def jacobian() -> Array:
                inner = (one * damp)[:, None] * curvature + (two * damp * (1.0 - k * one**2))[:, None] * slope
                return np.vstack([inner + source[:, None] * value, ends])

            return np.concatenate([two * one * damp - source, ends @ z - [0.0, 1.0]]), jacobian

        start = np.concatenate([np.hypot(3.0, t), t / np.hypot(3.0, t)])
        return gauss_newton(np.linalg.lstsq(np.vstack([value, slope]), start, rcond=None)[0], equations)[0]

    def at_radius(self, r: Array) -> Array:
        """t with Ψ'(t) = r."""
        grid = np.linspace(0.0, END, 4000)
        t = np.interp(r, np.maximum.accumulate(self.derivative(grid, 1)), grid)
        for _ in range(6):
            step = (r - self.derivative(t, 1)) / self.derivative(t, 2)
            t = np.clip(t + np.clip(step, -0.1, 0.1), 1e-9, END)
        return t

    def hessian(self, X: Array) -> Array:
        r = np.linalg.norm(X, axis=1)
        normal, t = X / r[:, None], self.at_radius(r)
        along = np.einsum("ni,nj->nij", normal, normal)
        across = (t / r)[:, None, None] * (np.eye(2) - along)
        return np.asarray(across + (1.0 / self.derivative(t, 2))[:, None, None] * along)

    def third(self, X: Array) -> Array:
        r = np.linalg.norm(X, axis=1)
        normal, t = X / r[:, None], self.at_radius(r)
        two, three = self.derivative(t, 2), self.derivative(t, 3)
        mixed = 1.0 / (two * r) - t / r**2
        cube = np.einsum("ni,nj,nk->nijk", normal, normal, normal)
        once = np.einsum("ij,nk->nijk", np.eye(2), normal)
        once = once + np.einsum("nijk->nikj", once) + np.einsum("nijk->nkji", once)
        radial = -three / two**3 - 3.0 * mixed
        return np.asarray(radial[:, None, None, None] * cube + mixed[:, None, None, None] * once)


@dataclass(frozen=True, eq=False)
class TiltedMap(MomentMap):
    r"""φ at any θ: :math:`\det\nabla^2\Psi\; e^{\theta\cdot\nabla\Psi - \frac k2|\nabla\Psi|^2} = e^{-\Psi + m\cdot y}` with |∇Ψ| = 1 far out.

    The law is symmetric about θ, so :math:`\Psi = \sum_j f_j(t)\cos j\omega` in polar coordinates around that axis, with Chebyshev polynomials
    :math:`f_j` and regular at the origin; solved in least squares at more points than there are coefficients. At x = ∇Ψ(y) there is D = ∇²Ψ(y), and
    ∇·D = ∇ log det ∇²Ψ(y).
    """

    law: DiscLaw
    waves: int = 10
    coefficients: Array = field(init=False)
    mean: float = field(init=False)
    """Of x along θ."""
    start: RadialMap = field(init=False)
    """The map at θ = 0, to begin with."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", float(np.linalg.norm(self.law.moments()[0])))
        object.__setattr__(self, "start", RadialMap(DiscLaw((0.0, 0.0), self.law.precision), self.degree))
        with one_blas_thread():
            object.__setattr__(self, "coefficients", self._solve())

    def _basis(self, t: Array, angle: Array, radial: int, turns: int) -> Array:
        """Derivatives of the basis, of order `radial` in t and `turns` in ω. Wave j starts like t², or t³ if odd; 1 and t cos ω are added."""
        parts, powers = [], (t / END)[:, None]
        polynomials = [_chebyshev(t, self.degree, order) for order in range(radial + 1)]
        radials = [
            sum(
                comb(radial, q) * perm(power, q) / END**q * powers ** (power - q) * polynomials[radial - q]
                for q in range(min(power, radial) + 1)
            )
            for power in (2, 3)
        ]
        for j in range(self.waves + 1):
            f = radials[j % 2]
            if j < 2:
                first = np.zeros_like(t) if radial > j else (t / END) ** (j - radial) / END**radial
                f = np.hstack([first[:, None], f])
            parts.append(np.real(1j**turns * float(j) ** turns * np.exp(1j * j * angle))[:, None] * f)
        return np.hstack(parts)

    def _solve(self) -> Array:
        n, k, m, tilt = self.degree, self.law.precision, self.mean, float(np.linalg.norm(self.law.theta))
        count, turns = int(1.4 * n), int(1.6 * self.waves) + 3
        radii = 0.5 * END * (1.0 + np.cos(np.pi * (np.arange(count) + 0.5) / count))
        angles = np.pi * (np.arange(turns) + 0.5) / turns
        t, angle = (a.ravel() for a in np.meshgrid(radii, angles, indexing="ij"))
        cos, sin, T = np.cos(angle), np.sin(angle), t[:, None]
        B, Bt, Bw, Btt, Btw, Bww = (
            self._basis(t, angle, *order) for order in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        )
        across, mixed = Bt / T + Bww / T**2, Btw / T - Bw / T**2
        Et, Ew = (self._basis(np.full(turns, END), angles, *order) for order in ((1, 0), (0, 1)))

        def equations(z: Array) -> tuple[Array, Callable[[], Array]]:
            pt, pw, ptt, a, b = Bt @ z, Bw @ z / t, Btt @ z, across @ z, mixed @ z
            et, ew = Et @ z, Ew @ z / END
            det = ptt * a - b * b
            density = t * np.exp(tilt * (pt * cos - pw * sin) - 0.5 * k * (pt**2 + pw**2))
            source = t * np.exp(-B @ z + m * t * cos)

            def jacobian() -> Array:
                bend = a[:, None] * Btt + ptt[:, None] * across - 2.0 * b[:, None] * mixed
                slope = (tilt * cos - k * pt)[:, None] * Bt - ((tilt * sin + k * pw) / t)[:, None] * Bw
                inner = density[:, None] * (bend + det[:, None] * slope) + source[:, None] * B
                return np.vstack([inner, 2.0 * (et[:, None] * Et + (ew / END)[:, None] * Ew)])

            return np.concatenate([density * det - source, et**2 + ew**2 - 1.0]), jacobian

        start = np.concatenate([self.start.derivative(t, order) for order in (0, 1)])
        return gauss_newton(np.linalg.lstsq(np.vstack([B, Bt]), start, rcond=1e-13)[0], equations, 1e-11)[0]

    def _polar(self, t: Array, angle: Array, *orders: tuple[int, int]) -> list[Array]:
        return [self._basis(t, angle, *order) @ self.coefficients for order in orders]

    def _frame(self) -> Array:
        """Rotation whose first row is the direction of θ."""
        theta = np.array(self.law.theta)
        size = np.linalg.norm(theta)
        c, s = theta / size if size > 0 else (1.0, 0.0)
        return np.array([[c, s], [-s, c]])

    def _hessian(self, y: Array) -> tuple[Array, Array, Array, Array, Array]:
        """At points y: t, ω, the axes along and across the radius, ∇Ψ and ∇²Ψ."""
        t, angle = np.hypot(*y.T), np.arctan2(y[:, 1], y[:, 0])
        axes = np.stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)], axis=1).reshape(-1, 2, 2)
        pt, pw, ptt, ptw, pww = self._polar(t, angle, (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
        mixed = ptw / t - pw / t**2
        H = np.stack([ptt, mixed, mixed, pt / t + pww / t**2], axis=1).reshape(-1, 2, 2)
        slope = np.einsum("nk,nki->ni", np.stack([pt, pw / t], axis=1), axes)
        return t, angle, axes, slope, np.swapaxes(axes, 1, 2) @ H @ axes

    def _dual(self, X: Array) -> Array:
        """y with ∇Ψ(y) = x, by Newton's method; x in the frame of θ."""
        r = np.linalg.norm(X, axis=1)
        y: Array = X / r[:, None] * self.start.at_radius(r)[:, None]
        for _ in range(60):
            _, _, _, slope, H = self._hessian(y)
            step = np.linalg.solve(H, (X - slope)[..., None])[..., 0]
            size = np.linalg.norm(step, axis=1)
            y = y + step * np.minimum(1.0, 0.5 / np.maximum(size, 1e-300))[:, None]
            if size.max() < 1e-11:
                break
        return y

    def _field(self, X: Array) -> tuple[Array, Array]:
        """D and ∇·D."""
        R = self._frame()
        t, angle, axes, _, H = self._hessian(self._dual(X @ R.T))
        pt, pw, ptt, ptw, pww, pttt, pttw, ptww, pwww = self._polar(
            t, angle, (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)
        )
        a, b = pt / t + pww / t**2, ptw / t - pw / t**2
        a_t = ptt / t - pt / t**2 + ptww / t**2 - 2.0 * pww / t**3
        b_t = pttw / t - 2.0 * ptw / t**2 + 2.0 * pw / t**3
        a_w, b_w = ptw / t + pwww / t**2, ptww / t - pww / t**2
        det = ptt * a - b * b
        along = (pttt * a + ptt * a_t - 2.0 * b * b_t) / det
        across = (pttw * a + ptt * a_w - 2.0 * b * b_w) / (det * t)
        divergence = np.einsum("nk,nki->ni", np.stack([along, across], axis=1), axes)
        D = R.T @ H @ R
        return 0.5 * (D + np.swapaxes(D, 1, 2)), divergence @ R

    def barrier(self) -> Custom:
        return Custom(lambda X: self._field(X)[0], lambda X: self._field(X)[1], vanishing_at_boundary=True)
