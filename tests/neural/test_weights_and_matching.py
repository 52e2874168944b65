"""The scoring rule in torch against the closed-form engine, finite differences and the exact trace."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.posed import posed
from tests.sampling import interior
from zfree.data import Block
from zfree.errors import SpecificationError
from zfree.models import PairwiseModel
from zfree.moments import Rows
from zfree.neural import Perceptron, WeightTensors, gsm_rule, hutchinson_rule, score_of
from zfree.neural.matching import probe

GENERATORS = [zf.Barrier(4 / 3, scale="raw"), zf.Barrier(1.0, 0.0, scale="raw"), zf.Identity(), zf.BoundaryDistance()]


def usable(domain, generator):
    if isinstance(generator, zf.Barrier):
        return domain.is_convex
    return domain.has_boundary or isinstance(generator, zf.Identity)


CASES = [(name, g) for name, domain in DOMAINS.items() for g in GENERATORS if usable(domain, g)]


@pytest.mark.parametrize(("name", "generator"), CASES, ids=lambda v: v if isinstance(v, str) else repr(v))
def test_the_weight_is_the_generator(name, generator):
    domain = DOMAINS[name]
    X = interior(domain, 6)
    value = generator.evaluate(domain, X)
    scale = np.exp(value.log_weight)
    v = np.random.default_rng(0).standard_normal(X.shape)
    for dtype, tolerance in ((torch.float64, 1e-13), (torch.float32, 1e-5)):
        weight = WeightTensors.at(generator, domain, torch.as_tensor(X).to(dtype))
        assert weight.divergence.dtype == dtype
        expected = scale[:, None] * value.field.apply(v)
        found = weight.apply(torch.as_tensor(v).to(dtype)).double().numpy()
        assert np.allclose(found, expected, rtol=20 * tolerance, atol=20 * tolerance * np.abs(expected).max())
    part = WeightTensors.at(generator, domain, X, log_scale=1.0).rows(torch.tensor([4, 1]))
    assert np.allclose(part.divergence.numpy(), (scale[:, None] * value.divergence)[[4, 1]] / np.e)


def test_a_potential_of_ones_own_reaches_torch():
    """−Σ log x, differentiated automatically, is the log barrier of the orthant."""
    X = interior(zf.Orthant(3), 6)
    own = zf.Barrier(potential=zf.ConvexFunction(lambda x: -x.log().sum(), vanishing=True), det_power=0.5, scale="raw")
    found, expected = (
        WeightTensors.at(generator, zf.Orthant(3), X) for generator in (own, zf.Barrier.log(scale="raw"))
    )
    v = torch.ones(6, 3, dtype=torch.float64)
    assert torch.allclose(found.apply(v), expected.apply(v))
    assert torch.allclose(found.divergence, expected.divergence)


def quadratic(K, eta):
    """The energy of a Gaussian."""
    K, eta = torch.as_tensor(K), torch.as_tensor(eta)
    return lambda X: 0.5 * torch.einsum("nj,jk,nk->n", X, K, X) - X @ eta


@pytest.mark.parametrize(("name", "generator"), CASES, ids=lambda v: v if isinstance(v, str) else repr(v))
def test_the_rule_of_a_gaussian_is_that_of_the_engine(name, generator):
    domain = DOMAINS[name]
    X = interior(domain, 20)
    d = X.shape[1]
    rng = np.random.default_rng(1)
    K = np.eye(d) + 0.3 * (A := rng.standard_normal((d, d))) @ A.T
    eta = rng.standard_normal(d)
    model = PairwiseModel([f"x{j}" for j in range(d)])
    theta = np.concatenate([K[model.rows, model.cols], eta])
    expected = Rows(model, generator, domain, Block(X)).scores(theta, 0.0)
    found = (
        gsm_rule(score_of(quadratic(K, eta)), torch.as_tensor(X), WeightTensors.at(generator, domain, X))
        .detach()
        .numpy()
    )
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("domain", [zf.Orthant(3), zf.SolidSimplex(3), zf.Ball(1.0, d=3)], ids=repr)
def test_the_closed_form_is_the_stationary_point_of_the_torch_loss(domain):
    """‖∇L(θ̂)‖ ≤ 1e-8 of the size of its two terms, which cancel there."""
    generator = zf.Barrier(4 / 3, scale="raw")
    X = zf.samplers.sample_gaussian(domain, np.full(3, 0.2), 60 * np.eye(3), 400, 0)
    est = zf.TruncatedGaussian(domain, generator).fit(X)
    K = torch.tensor(est.precision_, requires_grad=True)
    eta = torch.tensor(est.precision_ @ est.mean_, requires_grad=True)
    weight = WeightTensors.at(generator, domain, X)
    energy = lambda x: 0.5 * torch.einsum("nj,jk,nk->n", x, K, x) - x @ eta  # noqa: E731
    gsm_rule(score_of(energy), torch.as_tensor(X), weight).mean().backward()
    gradient = np.concatenate([(K.grad + K.grad.T).numpy().ravel(), eta.grad.numpy()])
    moments = posed(est.result_.model, generator, domain, X).moments()
    size = np.exp(moments.log_scale) * np.linalg.norm(moments.g)
    assert np.linalg.norm(gradient) <= 1e-8 * size


def test_gradients_with_respect_to_the_network_are_right():
    """Against central differences, in double precision, for the exact and the probed rule with the same probes."""
    torch.manual_seed(0)
    domain, generator = zf.SolidSimplex(2), zf.Barrier(1.0, scale="raw")
    X = torch.as_tensor(interior(domain, 7))
    weight = WeightTensors.at(generator, domain, X)
    network = Perceptron(2, hidden=(5,)).double()

    def exact():
        return gsm_rule(score_of(network), X, weight).mean()

    def probed():
        return hutchinson_rule(score_of(network), X, weight, generator=torch.Generator().manual_seed(3)).mean()

    for loss in (exact, probed):
        network.zero_grad()
        loss().backward()
        for parameter in network.parameters():
            if parameter.grad is None:  # the last bias: an energy is known up to a constant
                continue
            flat = parameter.data.view(-1)
            for k in range(0, flat.numel(), 3):
                h, kept = 1e-6, float(flat[k])
                flat[k] = kept + h
                ahead = loss().item()
                flat[k] = kept - h
                behind = loss().item()
                flat[k] = kept
                assert float(parameter.grad.view(-1)[k]) == pytest.approx(
                    (ahead - behind) / (2 * h), rel=1e-5, abs=1e-8
                )


@pytest.mark.parametrize("kind", ["rademacher", "gaussian"])
def test_probes_are_unbiased(kind):
    torch.manual_seed(1)
    domain = zf.SolidSimplex(3)
    X = torch.as_tensor(interior(domain, 1)).expand(40_000, -1)
    weight = WeightTensors.at(zf.Barrier(1.0, 0.0, scale="raw"), domain, X)
    score = score_of(Perceptron(3, hidden=(8,)).double())
    exact = gsm_rule(score, X[:1], weight.rows(torch.tensor([0]))).item()
    draws = hutchinson_rule(score, X, weight, kind=kind, generator=torch.Generator().manual_seed(0)).detach()
    assert float(draws.std()) > 0
    assert abs(float(draws.mean()) - exact) < 4 * float(draws.std()) / 200
    two = hutchinson_rule(score, X, weight, probes=4, kind=kind, generator=torch.Generator().manual_seed(0)).detach()
    assert float(two.var()) == pytest.approx(float(draws.var()) / 4, rel=0.1)


def test_with_the_identity_probes_give_sliced_score_matching_with_variance_reduction():
    """½‖s‖² + vᵀ∇(vᵀs), on the same probes (Song et al. 2019)."""
    torch.manual_seed(2)
    network = Perceptron(4, 4, hidden=(16,)).double()
    X = torch.randn(50, 4, dtype=torch.float64)
    weight = WeightTensors.at(zf.Identity(), zf.RealSpace(4), X)
    ours = hutchinson_rule(network, X, weight, generator=torch.Generator().manual_seed(5)).detach()
    v = probe(X, "rademacher", torch.Generator().manual_seed(5))
    Y = X.clone().requires_grad_(True)
    s = network(Y)
    (slope,) = torch.autograd.grad((s * v).sum(), Y)
    reference = 0.5 * (s**2).sum(dim=1) + (slope * v).sum(dim=1)
    assert torch.allclose(ours, reference.detach(), rtol=0, atol=1e-12)


def test_a_score_network_and_its_energy_agree():
    K = np.array([[2.0, 0.5], [0.5, 1.0]])
    X = torch.as_tensor(interior(zf.Orthant(2), 9))
    weight = WeightTensors.at(zf.Barrier(1.0, scale="raw"), zf.Orthant(2), X)
    by_energy = gsm_rule(score_of(quadratic(K, np.zeros(2))), X, weight)
    by_score = gsm_rule(lambda x: -x @ torch.as_tensor(K), X, weight)
    assert torch.allclose(by_energy, by_score)
    constant = gsm_rule(lambda x: torch.ones_like(x), X, weight)  # no derivative at all
    assert torch.allclose(constant, (0.5 * weight.apply(torch.ones_like(X)) + weight.divergence).sum(dim=1))


def test_refusals():
    X = torch.ones(3, 2)
    weight = WeightTensors.at(zf.Identity(), zf.RealSpace(2), X)
    with pytest.raises(SpecificationError, match="at least 1"):
        hutchinson_rule(lambda x: x, X, weight, probes=0)
    with pytest.raises(SpecificationError, match="rademacher"):
        hutchinson_rule(lambda x: x, X, weight, kind="uniform")
    with pytest.raises(SpecificationError, match=r"maps \(N, d\) to \(N,\)"):
        score_of(lambda x: x)(X)
    with pytest.raises(SpecificationError, match="activation"):
        Perceptron(2, activation="relu")
