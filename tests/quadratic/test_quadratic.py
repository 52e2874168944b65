"""Γ as an object: every kind against its own matrix, and sums of kinds."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import posed
from zfree.models import PairwiseModel
from zfree.quadratic import ColumnBlocks, DenseQuadratic, Groups, LowRank, Products, Quadratic, Sum

R = 6
RNG = np.random.default_rng(0)


def _symmetric(shape):
    A = RNG.standard_normal(shape)
    return A + np.swapaxes(A, -1, -2)


def _blocks():
    index = np.array([[0, 1, 4], [1, 2, 5], [3, R, R]])  # a parameter of two components, and a component with one
    blocks = _symmetric((3, 3, 3))
    blocks[2, 1:] = blocks[2, :, 1:] = 0.0
    return ColumnBlocks(Groups(index, R), blocks)


def _products():
    A = _symmetric((R, R))
    return Products(lambda theta: A @ theta, A.diagonal())


KINDS = {
    "dense": DenseQuadratic(_symmetric((R, R))),
    "blocks": _blocks(),
    "low rank": LowRank(RNG.standard_normal((R, 4)), RNG.standard_normal(4)),
    "products": _products(),
}
KINDS["sum"] = KINDS["dense"] + KINDS["blocks"] + KINDS["low rank"]


def _by_hand(quadratic: Quadratic) -> np.ndarray:
    """The matrix from its definition, entry by entry."""
    if isinstance(quadratic, Sum):
        return sum(_by_hand(part) for part in quadratic.parts())
    if isinstance(quadratic, DenseQuadratic):
        return quadratic.matrix
    if isinstance(quadratic, LowRank):
        return sum(w * np.outer(u, u) for u, w in zip(quadratic.columns.T, quadratic.weight, strict=True))
    if isinstance(quadratic, ColumnBlocks):
        out = np.zeros((R + 1, R + 1))
        for index, block in zip(quadratic.groups.index, quadratic.blocks, strict=True):
            for a, i in enumerate(index):
                for b, j in enumerate(index):
                    out[i, j] += block[a, b]
        return out[:R, :R]
    return np.stack([quadratic.matvec(unit) for unit in np.eye(R)], axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_its_matrix(kind):
    quadratic, matrix = KINDS[kind], _by_hand(KINDS[kind])
    theta, several = RNG.standard_normal(R), RNG.standard_normal((R, 3))
    assert quadratic.size == R
    assert np.allclose(quadratic.dense(), matrix, atol=1e-13)
    assert np.allclose(quadratic.matvec(theta), matrix @ theta, atol=1e-13)
    assert np.allclose(quadratic.matvec(several), matrix @ several, atol=1e-13)
    assert np.allclose(quadratic.diagonal(), matrix.diagonal(), atol=1e-13)
    assert np.allclose(quadratic.scaled(-2.5).dense(), -2.5 * matrix, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_is_rows_and_columns(kind):
    free = np.array([True, False, True, True, False, True])
    part, matrix = KINDS[kind].block(free), _by_hand(KINDS[kind])[np.ix_(free, free)]
    theta = RNG.standard_normal(4)
    assert part.size == 4
    assert np.allclose(part.dense(), matrix, atol=1e-13)
    assert np.allclose(part.matvec(theta), matrix @ theta, atol=1e-13)
    assert np.allclose(part.diagonal(), matrix.diagonal(), atol=1e-13)
    assert np.allclose(part.scaled(3.0).dense(), 3.0 * matrix, atol=1e-13)
    assert KINDS[kind].block(np.ones(R, dtype=bool)) is KINDS[kind]


@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_sums_of_all_kinds(one, other):
    total = KINDS[one] + KINDS[other]
    assert np.allclose(total.dense(), _by_hand(KINDS[one]) + _by_hand(KINDS[other]), atol=1e-13)


def test_kinds_are_kept_as_long_as_they_are_smaller():
    low = KINDS["low rank"]
    assert isinstance(_blocks() + _blocks(), ColumnBlocks)
    assert isinstance(low + low, DenseQuadratic)  # eight terms for six parameters
    assert len((low + low + KINDS["dense"] + low).parts()) == 2
    assert isinstance(
        LowRank.of(low.columns[:, :2], low.weight[:2]) + LowRank.of(low.columns[:, :3], low.weight[:3]), LowRank
    )


def test_a_sum_with_an_asymmetric_part_is_asymmetric():
    equations = DenseQuadratic(RNG.standard_normal((R, R)), symmetric=False)
    assert not (KINDS["blocks"] + equations).symmetric
    assert not (KINDS["dense"] + equations).symmetric
    assert not (KINDS["blocks"] + equations).block(np.arange(R) > 1).symmetric


def test_a_diagonal_field_keeps_blocks_and_never_forms_the_matrix(monkeypatch):
    d = 12
    X = RNG.exponential(size=(5000, d))
    columns = [f"x{k}" for k in range(d)]

    def refuse(self):
        raise AssertionError("a matrix was formed")

    monkeypatch.setattr(Quadratic, "dense", refuse)
    monkeypatch.setattr(DenseQuadratic, "dense", refuse)
    moments = posed(PairwiseModel(columns), zf.CoordinateWeight("x"), zf.Orthant(d), X).moments()
    assert isinstance(moments.gamma_sum, ColumnBlocks)
    assert moments.gamma_sum.blocks.size == d * (d + 1) ** 2
