"""Does the generator vanish fast enough? The exponents against measurement, and what a user is told."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import CONVEX, DOMAINS
from tests.sampling import near_boundary
from zfree.errors import InconsistentGeneratorWarning, InfiniteVarianceWarning
from zfree.generators import Decay
from zfree.inference import judge, required_decay
from zfree.models import BoundaryOrder

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

FACETS = [n for n in CONVEX if DOMAINS[n].has_boundary and DOMAINS[n].chart is None and not n.startswith("Product")]


@pytest.mark.parametrize(
    "generator", [zf.Barrier(p, g, scale="raw") for p in (-0.3, 0.5, 1.4) for g in (-0.2, 0.0, 0.5)]
)
@pytest.mark.parametrize("name", FACETS)
def test_exponents_of_a_barrier_are_the_measured_ones(name, generator):
    """log-slopes of n·D n and of the trace along the facet, on the way to the middle of a facet."""
    domain = DOMAINS[name]
    X = near_boundary(domain, 40, 0.5, seed=1)
    _, gradient = domain.boundary_distance(X)
    slopes = []
    for x, g in zip(X, gradient, strict=True):
        n = g / np.linalg.norm(g)
        room = float(domain.boundary_distance(x[None])[0][0])
        across, along = [], []
        for s in (1e-4, 1e-5):
            y = x - n * (room - s)
            if not domain.contains(y[None])[0] or abs(domain.boundary_distance(y[None])[0][0] - s) > 1e-3 * s:
                break
            value = generator.evaluate(domain, y[None])
            D = value.field.dense()[0]
            if -1e-15 * np.abs(D).max() < n @ D @ n <= 0:  # lost in the rounding of what D is along the facet
                break
            across.append(value.log_weight[0] + np.log(n @ D @ n))
            rest = np.trace(D) - n @ D @ n
            along.append(value.log_weight[0] + np.log(max(rest, 1e-300)))
        if len(across) == 2:
            slopes.append([(across[0] - across[1]) / np.log(10), (along[0] - along[1]) / np.log(10)])
    assert len(slopes) >= 10
    measured = np.median(slopes, axis=0)
    decay = generator.decay(domain)
    assert measured[0] == pytest.approx(decay.across, abs=0.06)
    if domain.dimension > 1:
        assert measured[1] == pytest.approx(decay.along, abs=0.06)


@pytest.mark.parametrize(
    ("generator", "across"),
    [
        (zf.CoordinateWeight("x"), 1.0),
        (zf.CoordinateWeight("x^2"), 2.0),
        (zf.CoordinateWeight("log(1+x)"), 1.0),
        (zf.CoordinateWeight(lambda x: x**1.5, derivative=lambda x: 1.5 * x**0.5), 1.5),
        (zf.CoordinateWeight("sigmoid"), 0.0),
        (zf.SectionDistance("x^2"), 2.0),
        (zf.BoundaryDistance(), 1.0),
        (zf.Identity(), 0.0),
    ],
)
def test_exponents_of_the_baselines(generator, across):
    assert generator.decay(zf.Orthant(2)).across == pytest.approx(across, abs=1e-3)


def test_conditions():
    """Gaussian: q > ½. Dirichlet: consistent for q > 2 − α, finite variance for q > 2 − α/2."""
    gaussian = BoundaryOrder("the boundary", 0.0, 0.0)
    assert required_decay(gaussian) == 0.5
    for alpha in (0.3, 1.0, 2.5):
        order = BoundaryOrder("x1 = 0", alpha - 1, 1.0)
        edge, lost = 2 - alpha / 2, 2 - alpha
        assert judge(Decay(edge + 0.01, 0.0), [order]) == (True, True, "")
        assert judge(Decay(edge - 0.01, 0.0), [order])[:2] == (True, False)
        assert judge(Decay(lost - 0.01, 0.0), [order])[:2] == (False, False)
    assert not judge(Decay(1.0, -0.6), [gaussian]).finite_variance
    assert judge(None, [gaussian]).finite_variance
    assert judge(Decay(0.0, 0.0), []).finite_variance


def test_the_variance_really_is_infinite_where_it_is_said_to_be():
    """The fourth-moment ratio of the influences explodes on one side of the condition and not on the other."""
    from zfree.data import Block
    from zfree.models import ExponentialModel
    from zfree.moments import Rows

    x = np.random.default_rng(0).exponential(size=(400_000, 1))

    def largest_share(power):
        rows = Rows(ExponentialModel(("x",)), zf.Barrier(power, 0.0, scale="raw"), zf.Orthant(1), Block(x))
        psi = rows.influence(np.array([1.0]), 0.0)[0] ** 2
        return psi.max() / psi.sum()

    assert largest_share(1.3) < 0.01 < 0.1 < largest_share(1.8)


def test_users_are_told_and_rankings_are_not_misled():
    spiky = np.random.default_rng(0).dirichlet([0.5, 0.5, 0.5], 5000)
    with pytest.warns(InfiniteVarianceWarning, match=r"may be inconsistent.*x[123] = 0.*Barrier.log\(det_power=0\)"):
        zf.Dirichlet(generator=zf.Barrier(4 / 3, 0.0, scale="raw")).fit(spiky)
    with pytest.warns(InconsistentGeneratorWarning, match="is inconsistent"):
        zf.Dirichlet(generator=zf.Barrier(1.9, 0.0, scale="raw"), fixed={"alpha[x1]": 0.5}).fit(spiky)
    est = zf.Dirichlet().fit(spiky)  # the default is valid for every α
    assert np.all(np.abs(est.alpha_ - 0.5) < 4 * est.alpha_se_)
    table = zf.rank(zf.Dirichlet(), spiky, [zf.Barrier(4 / 3, 0.0, scale="raw"), zf.Barrier.log(0.0, scale="raw")])
    assert table.best.generator == zf.Barrier.log(0.0, scale="raw")
    X = np.abs(np.random.default_rng(1).standard_normal((500, 2)))
    with pytest.warns(InfiniteVarianceWarning, match="standard errors are not valid"):
        est = zf.TruncatedGaussian(generator=zf.Barrier(1.8, 0.5, scale="raw")).fit(X)
    assert "not valid" in str(est.result_.summary())


@pytest.mark.filterwarnings("ignore::zfree.errors.NotPositiveDefiniteWarning")
def test_every_default_is_valid_for_its_model():
    rng = np.random.default_rng(2)
    X = rng.gamma(0.4, 1.0, size=(3000, 2)) + 1e-12
    for est in (
        zf.Gamma(),
        zf.Exponential(),
        zf.LogNormal(),
        zf.PowerInteraction(0.5, 0.0),
        zf.PowerInteraction(0.5, 0.5),
    ):
        est.set_params(**({"structure": "diagonal"} if "structure" in est.get_params() else {})).fit(X)
    assert zf.Gamma().fit(X).shape_ == pytest.approx([0.4, 0.4], abs=0.1)
