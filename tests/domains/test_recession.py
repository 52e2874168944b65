"""The directions in which a domain is unbounded."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.sampling import interior

CONES = DOMAINS | {
    "four edges in space": zf.Polytope([[-1, 0.3, 0], [0.2, -1, 0], [-0.1, -0.1, -1], [-0.1, -0.1, 1]], [0, 1, 1, 1]),
    "an idle row": zf.Polytope([[-1.0, 0.0], [0.0, -1.0], [-1.0, -1.0]], [0.0, 0.0, 1.0]),
    "a slab": zf.Polytope([[1.0, 2.0, 0.0], [-1.0, -2.0, 0.0]], [1.0, 1.0]),
    "half-space in units": zf.HalfSpace([1e-6, 1e4], 2.0),
    "half-space times ball": zf.Product([zf.HalfSpace([1.0, -2.0], 1.0), zf.Ball(1.0, d=2)]),
}


@pytest.mark.parametrize("name", CONES)
def test_directions_of_a_domain_never_leave_it_and_span_its_recession_cone(name):
    domain, rng = CONES[name], np.random.default_rng(0)
    V = domain.recession_directions()
    assert V.shape[1] == domain.dimension
    assert (len(V) == 0) == domain.is_bounded
    X = interior(domain, 20, seed=3)
    for t in (1.0, 1e3, 1e6):
        for v in V:
            assert domain.contains(X + t * v).all()
        assert domain.contains(X + t * rng.uniform(size=(20, len(V))) @ V).all()
    if domain.is_bounded:
        return
    assert np.allclose(np.linalg.norm(V, axis=1), 1.0)
    rows = domain.recession()
    sample = rng.standard_normal((4000, domain.dimension)) * (
        1.0 / np.abs(rows).max(axis=0, initial=1e-9) if "units" in name else 1.0
    )
    inside = sample[np.all(sample @ rows.T <= 0, axis=1)][:20]
    for v in inside:  # every other direction is a sum of these
        assert nnls(V.T, v)[1] < 1e-8 * np.linalg.norm(v)


def test_directions_follow_the_units():
    domain = CONES["four edges in space"]
    units = np.array([1e-5, 1.0, 1e4])
    image = domain.affine_image(np.diag(units), np.zeros(3))
    here, there = domain.recession_directions(), image.recession_directions(units) / units
    assert len(here) == len(there) == 4
    assert all(np.abs(there - v).max(axis=1).min() < 1e-9 for v in here)
