"""Domains that say as little as possible: what follows is right, and what does not is refused with what is missing."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.sampling import interior, near_boundary
from zfree.domains import Domain, Sections
from zfree.errors import SpecificationError


class Disc(Domain):
    """A ball that says where it is, and no more."""

    def __init__(self, radius, center):
        self._ball = zf.Ball(radius, center)

    dimension = property(lambda self: self._ball.dimension)
    is_bounded = True

    def margins(self, X):
        return self._ball.margins(X)

    def interior_point(self):
        return self._ball.interior_point()


class Barred(Disc):
    """A ball that knows its barrier too."""

    def slacks(self, X):
        return self._ball.slacks(X)

    def barrier(self, potential, X, units=None):
        return self._ball.barrier(potential, X, units)


BALL, DISC, BARRED = (kind(1.5, [0.3, -0.2]) for kind in (zf.Ball, Disc, Barred))
X = np.vstack([interior(BALL, 30), near_boundary(BALL, 10, 1e-6)])


def test_four_answers_are_what_it_takes():
    assert Domain.__abstractmethods__ == {"dimension", "is_bounded", "margins", "interior_point"}


def test_chords_sections_and_facets_follow_from_the_margins():
    v = np.array([0.6, -1.1])
    for found, known in ((DISC.chord(X, v), BALL.chord(X, v)), (DISC.sections(X), BALL.sections(X))):
        assert isinstance(found, Sections)
        assert np.allclose(found.below, known.below, rtol=1e-9, atol=1e-12)
        assert np.allclose(found.above, known.above, rtol=1e-9, atol=1e-12)
    assert DISC.coordinate_facets() is None
    (ends,) = Disc(2.0, [0.5]).coordinate_facets().values()
    assert np.allclose(ends, [-1.5, 2.5], atol=1e-12)
    assert DISC.recession() is None
    assert DISC.has_boundary
    assert DISC.n_slacks == 1


def test_rows_are_moved_inwards_no_further_than_needed():
    edge = near_boundary(BALL, 20, 0.0)
    moved = DISC.clip(np.vstack([X[:30], edge]), 1e-3)
    assert np.array_equal(moved[:30], X[:30])
    assert np.allclose(DISC.margins(moved[30:]), 1e-3, rtol=1e-6)


def test_rounding_is_told_from_a_violation_far_from_the_origin():
    """At 10⁸ a margin of 10⁻⁸ is rounding, whatever the margins of the other rows."""
    far = Disc(1.0, [1e8, 0.0])
    edge = far.interior_point() + np.array([[1.0, 0.0], [1.0 + 2e-8, 0.0], [1.1, 0.0]])
    found = far.explain(edge)
    assert found.on_boundary.tolist() == [True, True, False]
    assert found.constraints[0].startswith("constraint 0 of ")


@pytest.mark.parametrize("p", [0.0, 1.0, 4 / 3])
def test_curvatures_along_a_line_follow_from_the_barrier(p):
    V = np.random.default_rng(0).standard_normal(X.shape)
    found, known = BARRED.curvature_along(zf.Power(p), X, V), BALL.curvature_along(zf.Power(p), X, V)
    assert np.allclose(found[0], known[0], rtol=1e-6)
    assert np.allclose(found[1], known[1], rtol=1e-5, atol=1e-6 * np.abs(known[1][:30]).max())


def test_a_fit_needs_no_more_than_its_generator_does():
    rows = interior(BALL, 300)
    for domain, generator in (
        (DISC, zf.SectionDistance("x", scale="natural")),
        (BARRED, zf.Barrier(1.0, 0.0)),
        (BARRED, "phi1"),
    ):
        found, known = (zf.TruncatedGaussian(d, generator, check=False).fit(rows).result_ for d in (domain, BALL))
        assert np.allclose(found.theta, known.theta, rtol=1e-7)
        assert np.allclose(found.standard_errors, known.standard_errors, rtol=1e-7)


def test_images_follow_too():
    B, c = np.array([[2.0, 0.5], [0.0, 1.0]]), np.array([1.0, -1.0])
    image, known = BARRED.affine_image(B, c), BALL.affine_image(B, c)
    Y = X @ B.T + c
    assert image.contains(Y).all()
    found, expected = (d.barrier(zf.Power(1.0), Y) for d in (image, known))
    # The slack of the ball is 1.5² times that of the ellipsoid, and with p = 1 so is H.
    assert np.allclose(1.5**2 * found.inverse.dense(), expected.inverse.dense(), rtol=1e-9)
    assert np.allclose(found.grad_logdet, expected.grad_logdet)
    assert image.affine_image(np.linalg.inv(B), -np.linalg.solve(B, c)).contains(X).all()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: DISC.barrier(zf.Power(1.0), X), ["no barrier is known", "BoundaryDistance", "write Disc.barrier"]),
        (lambda: DISC.boundary_distance(X), ["no distance to the boundary", "Barrier", "write Disc.boundary_distance"]),
        (lambda: BARRED.boundary_parts(), ["boundary is made of", "search", "write Barred.boundary_parts"]),
        (
            lambda: zf.TruncatedGaussian(DISC, "truncated-sm").fit(X),
            ["no distance to the boundary", "write Disc.boundary_distance"],
        ),
        (lambda: zf.TruncatedGaussian(BARRED).fit(X), ["boundary is made of", 'generator="search"']),
        (lambda: zf.Simplex(3).affine_image(np.eye(3), np.zeros(3)), ["chart"]),
    ],
)
def test_what_does_not_follow_is_refused_with_what_is_missing(ask, words):
    with pytest.raises(SpecificationError) as error:
        ask()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_an_unbounded_domain_has_to_say_where_it_is_unbounded():
    class Half(Disc):
        is_bounded = False

    with pytest.raises(SpecificationError, match="directions in which it is unbounded"):
        Half(1.0, [0.0]).recession()


def test_chains_need_no_distance_to_the_boundary():
    """So far out that rejection finds nothing: the draws are at the edge, and along it as those of the ball."""
    draws, known = (
        zf.samplers.sample_gaussian(domain, np.array([40.0, 0.0]), np.eye(2), 2000, random_state=0)
        for domain in (BARRED, BALL)
    )
    assert BARRED.contains(draws).all()
    assert np.allclose(draws.mean(axis=0), known.mean(axis=0), atol=0.05)
    assert np.allclose(draws.std(axis=0), known.std(axis=0), rtol=0.15)
