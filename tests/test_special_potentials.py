"""What special potentials give: Hyvärinen's score matching on ℝᵈ (Corollary 3.3), and that for non-negative data (Remark 3.2)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from tests.posed import posed
from zfree.models import PairwiseModel
from zfree.neighbourhoods import BregmanBall, SoftNeighbourhood


def weight_of(generator, domain, X):
    """G and ∇·G written out."""
    value = generator.evaluate(domain, X)
    scale = np.exp(value.log_weight)
    return scale[:, None, None] * value.field.dense(), scale[:, None] * value.divergence


def hermite(d, n=12):
    """Nodes and weights for a standard normal vector."""
    t, w = np.polynomial.hermite_e.hermegauss(n)
    nodes = np.stack(np.meshgrid(*[t] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.prod(np.stack(np.meshgrid(*[w] * d, indexing="ij"), axis=-1).reshape(-1, d), axis=1)
    return nodes, weights / weights.sum()


QUADRATIC = {
    "the domain's own": zf.Barrier(scale="raw"),
    "the domain's own, any power": zf.Barrier(0.4, scale="raw"),
    "written out": zf.Barrier(potential=zf.ConvexFunction(lambda x: 0.5 * (x * x).sum()), scale="raw"),
}


class TestCorollary33:
    """φ = ½‖x‖² on ℝᵈ: H = I, so G = I and L_GSM is ½E‖s_θ − s‖²."""

    @pytest.mark.parametrize("d", [1, 3])
    @pytest.mark.parametrize("name", QUADRATIC)
    def test_the_generator_is_the_identity(self, name, d):
        X = np.random.default_rng(0).normal(size=(7, d))
        G, divergence = weight_of(QUADRATIC[name], zf.RealSpace(d), X)
        assert np.allclose(G, np.eye(d), rtol=0, atol=1e-14)
        assert np.allclose(divergence, 0.0, atol=1e-14)

    @pytest.mark.parametrize("name", QUADRATIC)
    def test_the_loss_is_hyvarinens(self, name):
        """For the rows of a sample, entry by entry: Γ = mean JJᵀ, g = mean Δt, whose minimum is the sample covariance."""
        X = np.random.default_rng(1).normal(size=(200, 2)) @ np.array([[1.0, 0.4], [0.0, 0.7]]) + 0.3
        model = PairwiseModel(["a", "b"])
        moments = posed(model, QUADRATIC[name], zf.RealSpace(2), X).moments()
        scale = np.exp(moments.log_scale)
        x, y = X.T
        o, z = np.ones(200), np.zeros(200)
        J = np.array([[-x, z], [-y, -x], [z, -y], [o, z], [z, o]])  # of −½x², −xy, −½y², x, y
        assert np.allclose(scale * moments.gamma.dense(), np.einsum("rin,sin->rs", J, J) / 200, rtol=1e-12)
        assert np.allclose(scale * moments.g, [-1.0, 0.0, -1.0, 0.0, 0.0], atol=1e-14)
        theta = -np.linalg.solve(moments.gamma.dense(), moments.g)
        K = np.array([[theta[0], theta[1]], [theta[1], theta[2]]])
        assert np.allclose(np.linalg.inv(K), np.cov(X.T, bias=True), rtol=1e-9)

    def test_the_divergence_is_fishers(self):
        """L(θ) − L(θ*) = ½E‖s_θ − s‖² for Gaussians, by quadrature and in closed form: ½ tr((K − K*)²Σ*) + ½‖Kμ − …‖²."""
        model, d = PairwiseModel(["a", "b"]), 2
        truth, other = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.5, -0.2], [-0.2, 1.3]])
        nodes, mass = hermite(d)
        X = nodes @ np.linalg.cholesky(np.linalg.inv(truth)).T
        index = np.triu_indices(2)

        def loss(K):
            theta = np.concatenate([K[index], np.zeros(2)])
            s = model.score(X, theta)
            G, divergence = weight_of(zf.Barrier(scale="raw"), zf.RealSpace(d), X)
            rule = 0.5 * np.einsum("ni,nij,nj->n", s, G, s) + np.einsum("ni,ni->n", divergence, s)
            return mass @ (rule - np.einsum("nij,ij->n", G, K))

        gap = other - truth
        assert loss(other) - loss(truth) == pytest.approx(0.5 * np.trace(gap @ np.linalg.inv(truth) @ gap), rel=1e-10)

    def test_neighbours_are_balls(self):
        """The Bregman ball of ½‖x‖² is a Euclidean one, and the soft neighbour N(x, εI)."""
        domain, X = zf.RealSpace(3), np.random.default_rng(2).normal(size=(4, 3))
        U = BregmanBall().moves((5, 4, 3), np.random.default_rng(3))
        for proper in (True, False):
            points, coefficients = BregmanBall(radius=0.3, proper=proper).place(domain, X, U)
            assert np.allclose(points, X + 0.3 * U)
            assert np.allclose(coefficients, coefficients[0, 0])
        assert np.allclose(
            SoftNeighbourhood(QUADRATIC["the domain's own"], 0.09).place(domain, X, U).points, X + 0.3 * U
        )


SEPARABLE = {
    "−Σ log x": (lambda x: -torch.log(x).sum(), [lambda x: x**-2] * 3),
    "Σ x log x": (lambda x: (x * torch.log(x)).sum(), [lambda x: 1 / x] * 3),
    "one for each": (
        lambda x: -torch.log(x[0]) + x[1] * torch.log(x[1]) - x[1] + torch.exp(x[2]) - 4 * torch.sqrt(x[2]),
        [lambda x: x**-2, lambda x: 1 / x, lambda x: np.exp(x) + x**-1.5],
    ),
}


class TestRemark32:
    """Separable φ on the orthant: G = Π φ_i''^(−½) diag(1/φ_i''); for −Σ log x that is Π x_i diag(x_i²)."""

    X = np.random.default_rng(4).gamma(2.0, 0.6, size=(9, 3))
    domain = zf.Orthant(3)

    def test_the_log_barrier(self):
        """Hyvärinen's weight for non-negative data, times the product of the columns."""
        G, divergence = weight_of(zf.Barrier.log(scale="raw"), self.domain, self.X)
        volume = self.X.prod(axis=1)
        expected = volume[:, None, None] * (self.X**2)[:, :, None] * np.eye(3)
        assert np.allclose(G, expected, rtol=1e-12)
        assert np.allclose(divergence, 3 * volume[:, None] * self.X, rtol=1e-12)  # ∂_i (x_i³ Π_j≠i x_j)

    @pytest.mark.parametrize("name", SEPARABLE)
    def test_a_function_of_each_column(self, name):
        phi, curvatures = SEPARABLE[name]
        own = zf.Barrier(potential=zf.ConvexFunction(phi, vanishing=True), scale="raw")
        G, divergence = weight_of(own, self.domain, self.X)
        second = np.column_stack([f(x) for f, x in zip(curvatures, self.X.T, strict=True)])
        h, factor = 1 / second, 1 / np.sqrt(second.prod(axis=1))
        assert np.allclose(G, factor[:, None, None] * h[:, :, None] * np.eye(3), rtol=1e-9, atol=1e-14)
        # ∇·G: the derivative of h_i times that of its own root of the factor.
        step = 1e-6 * self.X
        up, down = (
            np.column_stack([f(x) ** -1.5 for f, x in zip(curvatures, points.T, strict=True)])
            for points in (self.X + step, self.X - step)
        )
        assert np.allclose(divergence, (up - down) / (2 * step) * factor[:, None] * np.sqrt(second), rtol=1e-5)

    def test_without_the_determinant_it_is_hyvarinens(self):
        """γ = 0 drops the factor, and what is left is diag(x²): non-negative score matching."""
        for generator in (zf.Barrier.log(det_power=0.0, scale="raw"), zf.CoordinateWeight("x^2")):
            G, divergence = weight_of(generator, self.domain, self.X)
            assert np.allclose(G, (self.X**2)[:, :, None] * np.eye(3))
            assert np.allclose(divergence, 2 * self.X)

    def test_the_loss_has_the_factor(self):
        """½E[Π x_i ‖(s_θ − s)∘x‖²] for gamma columns, by quadrature, against the library's own expected loss."""
        t, w = np.polynomial.legendre.leggauss(80)
        x, w = 70 * (0.5 * (t + 1)) ** 3, 105 * w * (0.5 * (t + 1)) ** 2
        grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
        mass = np.outer(w * x**1.5 * np.exp(-x), w * x**0.5 * np.exp(-2 * x)).ravel()
        mass /= mass.sum()
        G, divergence = weight_of(zf.Barrier.log(scale="raw"), zf.Orthant(2), grid)

        def score(a, b):
            """Of x^a e^(−bx) in each column, and its derivative."""
            return a / grid - b, -a / grid**2

        def expected(a, b):
            s, slope = score(a, b)
            rule = 0.5 * np.einsum("ni,nij,nj->n", s, G, s) + np.einsum("ni,ni->n", divergence, s)
            return mass @ (rule + np.einsum("nii,ni->n", G, slope))

        truth, other = (np.array([1.5, 0.5]), np.array([1.0, 2.0])), (np.array([1.0, 0.9]), np.array([1.2, 1.7]))
        gap = score(*other)[0] - score(*truth)[0]
        loss = 0.5 * mass @ (grid.prod(axis=1) * np.sum((gap * grid) ** 2, axis=1))
        assert loss > 0.1
        assert expected(*other) - expected(*truth) == pytest.approx(loss, rel=1e-9)
