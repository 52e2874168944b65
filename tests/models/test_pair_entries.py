"""Entries of K in any order and number, copies of models, and the two triangles of a sum of squares."""

from __future__ import annotations

import pickle
from copy import copy

import numpy as np
import pytest

from zfree.fields import Dense, Diagonal, DiagonalPlusRankOne
from zfree.models import GammaModel, LogNormalModel, PairwiseModel, folding
from zfree.models.cache_blocks import mirrored
from zfree.models.pair_entries import Pairs

D, N = 4, 300
RNG = np.random.default_rng(0)
COLUMNS = [f"x{j}" for j in range(D)]
X, V, WEIGHT = RNG.uniform(0.5, 2.0, (N, D)), RNG.standard_normal((N, D)), RNG.uniform(0.5, 2.0, N)
ROOT = RNG.standard_normal((N, D, D))
FIELDS = {
    "diagonal": Diagonal(X),
    "rank one": DiagonalPlusRankOne(X**2, -0.1 * WEIGHT, X),
    "dense": Dense(ROOT @ ROOT.transpose(0, 2, 1)),
}
EVERY = np.stack(np.triu_indices(D))
CHOSEN = {
    "shuffled": RNG.permutation(EVERY.shape[1]),
    "without a diagonal entry": np.delete(np.arange(EVERY.shape[1]), 4),
    "two rows": np.arange(7),
    "diagonal, shuffled": np.array([9, 0, 7, 4]),
    "one in each row of K, off the diagonal": np.array([1, 8]),
}


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("exponents", [(1.0, 1.0), (0.5, 0.0)], ids=str)
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("few", [0, folding.FEW])
def test_a_model_of_some_entries_is_a_part_of_the_whole(few, chosen, exponents, field, linear, monkeypatch):
    """Whatever their order, whether they can be taken as slices, and whether rows of K are multiplied one by one or together."""
    monkeypatch.setattr(folding, "FEW", few)
    index, (a, b), F = CHOSEN[chosen], exponents, FIELDS[field]
    whole = PairwiseModel(COLUMNS, a, b, linear=linear)
    part = PairwiseModel(COLUMNS, a, b, tuple(EVERY[:, index]), linear)
    own = np.r_[index, np.arange(EVERY.shape[1], whole.n_parameters)]
    square = np.ix_(own, own)
    assert part.is_separable == (chosen == "diagonal, shuffled")
    assert np.allclose(part.stein(X, V, F), whole.stein(X, V, F)[own])
    assert np.allclose(part.stein_total(X, V, F, WEIGHT), whole.stein_total(X, V, F, WEIGHT)[own])
    assert np.allclose(part.stein_gram(X, V, F, WEIGHT), whole.stein_gram(X, V, F, WEIGHT)[square])
    assert np.allclose(part.gram(X, F, WEIGHT).dense(), whole.gram(X, F, WEIGHT).dense()[square])
    thetas = RNG.standard_normal((part.n_parameters, N))
    every = np.zeros((whole.n_parameters, N))
    every[own] = thetas
    assert np.allclose(part.statistic_gradients(X, thetas), whole.statistic_gradients(X, every))


def test_entries_that_follow_each_other_are_slices():
    assert [(s.row, s.columns.start, s.columns.stop) for s in Pairs(3, *np.triu_indices(3)).stretches] == [
        (0, 0, 3),
        (1, 1, 3),
        (2, 2, 3),
    ]
    assert Pairs(3, np.arange(3), np.arange(3)).stretches is None


@pytest.mark.parametrize(
    "model", [PairwiseModel(COLUMNS), LogNormalModel(COLUMNS), GammaModel(COLUMNS)], ids=lambda model: model.title
)
def test_copies_know_their_size(model):
    for twin in (copy(model), pickle.loads(pickle.dumps(model)), model.at(X)):
        for name in ("dimension", "n_parameters", "doubles_per_row", "is_separable", "names"):
            assert getattr(twin, name) == getattr(model, name), name
        assert np.array_equal(
            twin.stein_total(X, V, FIELDS["rank one"], WEIGHT), model.stein_total(X, V, FIELDS["rank one"], WEIGHT)
        )
    assert model.n_parameters == len(model.names) > model.dimension == D


@pytest.mark.parametrize("size", [1, 255, 256, 257, 600])
def test_both_triangles_of_a_sum_of_squares(size):
    A = np.random.default_rng(1).standard_normal((size, size))
    A += A.T
    assert np.array_equal(mirrored(np.triu(A)), A)
    assert np.array_equal(mirrored(np.asfortranarray(np.triu(A))), A)
