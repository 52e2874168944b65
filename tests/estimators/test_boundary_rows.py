"""Rows exactly on the boundary: dropped or moved inside, as the user says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zfree as zf
from tests.refusals import TRIANGLE, P, X, dirichlet, gaussian, put
from zfree.errors import BoundaryError, BoundaryRowsWarning, ZfreeWarning

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

WITH_ZEROS = put(X, (4, 1, 0.0), (9, 0, 0.0))
PARTS_WITH_ZEROS = zf.Simplex.closure(put(P, (5, 0, 0.0), (6, 1, 0.0), (6, 2, 0.0)))


def test_dropped_rows_are_left_out_with_their_weights_and_noted():
    w = np.linspace(1.0, 2.0, 60)
    with pytest.warns(BoundaryRowsWarning, match="2 of 60 rows on the boundary were dropped") as caught:
        fitted = gaussian(WITH_ZEROS, sample_weight=w, boundary="drop")
    assert caught[0].filename.endswith("refusals.py")  # the line of the caller: gaussian() is defined there
    kept = np.delete(np.arange(60), [4, 9])
    reference = gaussian(X[kept], sample_weight=w[kept])
    assert np.array_equal(fitted.precision_, reference.precision_)
    assert np.array_equal(fitted.mean_se_, reference.mean_se_)
    assert "note: 2 of 60 rows on the boundary were dropped." in str(fitted.result_.summary())
    assert "rows             58" in str(fitted.result_.summary())
    assert "dropped" not in str(reference.result_.summary())


def test_clipped_rows_are_moved_inside_and_noted():
    with pytest.warns(
        BoundaryRowsWarning, match="2 of 60 rows on the boundary were moved inside with boundary_eps = 0.01"
    ):
        fitted = gaussian(WITH_ZEROS, boundary="clip", boundary_eps=0.01)
    reference = gaussian(put(X, (4, 1, 0.01), (9, 0, 0.01)))
    assert np.array_equal(fitted.precision_, reference.precision_)
    assert "note: 2 of 60 rows on the boundary were moved inside with boundary_eps = 0.01." in str(
        fitted.result_.summary()
    )
    assert "rows             60" in str(fitted.result_.summary())


def test_clipped_compositions_still_sum_to_one():
    with pytest.warns(BoundaryRowsWarning, match="2 of 60 rows"):
        fitted = dirichlet(PARTS_WITH_ZEROS, boundary="clip", boundary_eps=1e-2)
    by_hand = PARTS_WITH_ZEROS.copy()
    by_hand[5] = [0.01, *(0.99 * PARTS_WITH_ZEROS[5, 1:])]
    by_hand[6] = [0.98, 0.01, 0.01]
    assert np.allclose(by_hand.sum(axis=1), 1.0, atol=1e-12)
    assert np.allclose(fitted.alpha_, dirichlet(by_hand).alpha_, rtol=1e-10)
    with pytest.warns(BoundaryRowsWarning):
        assert np.allclose(fitted.log_density(PARTS_WITH_ZEROS), fitted.log_density(by_hand), rtol=1e-10)


def test_clipping_moves_only_the_rows_on_the_boundary():
    """A row next to the boundary is data; what happens to it must not depend on a zero in another row."""
    near = put(X, (7, 2, 1e-4))
    with pytest.warns(BoundaryRowsWarning, match="1 of 60 rows"):
        fitted = gaussian(put(near, (4, 1, 0.0)), boundary="clip", boundary_eps=0.01)
    assert np.array_equal(fitted.precision_, gaussian(put(near, (4, 1, 0.01))).precision_)


@pytest.mark.parametrize(
    ("domain", "row"),
    [
        (zf.Orthant(2), [0.0, 1.0]),
        (zf.Box([0.0, 0.0], [1.0, 1.0]), [1.0, 0.5]),
        (zf.Ball(1.0, d=2), [0.6, 0.8]),
        (zf.SolidSimplex(2), [0.25, 0.75]),
        (TRIANGLE, [0.5, 0.25]),
        (zf.Simplex(2), [1.0, 0.0]),
        (zf.Product([zf.Orthant(1), zf.Box([0.0], [1.0])]), [0.0, 1.0]),
    ],
    ids=repr,
)
def test_every_domain_can_drop_and_clip(domain, row):
    inside = domain.interior_point() + 0.05 * np.random.default_rng(1).uniform(-1.0, 1.0, size=(30, 2))
    if isinstance(domain, zf.Simplex):
        inside = zf.Simplex.closure(inside)
    table = np.vstack([inside, row])
    with pytest.raises(BoundaryError, match=r"1 of 31 rows.*row 30 \("):
        gaussian(table, domain=domain)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        dropped = gaussian(table, domain=domain, boundary="drop")
        clipped = gaussian(table, domain=domain, boundary="clip", boundary_eps=1e-3)
        assert np.array_equal(dropped.precision_, gaussian(inside, domain=domain).precision_)
    assert clipped.result_.n_observations == 31
    assert np.isfinite(clipped.precision_se_).all()
    assert not np.array_equal(clipped.precision_, dropped.precision_)
