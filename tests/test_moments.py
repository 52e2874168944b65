"""Sums over rows: chunks, merging, scales, memory."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import posed
from zfree.data import chunks
from zfree.models import PairwiseModel
from zfree.moments import Moments

COLUMNS = ("a", "b", "c")


def _moments(X, generator=None):
    return posed(PairwiseModel(COLUMNS), generator or zf.Barrier(1.0), zf.Orthant(3), X).moments()


def test_two_halves_make_the_whole():
    X = np.random.default_rng(0).exponential(size=(1001, 3))
    raw = zf.Barrier(scale="raw")
    whole, parts = _moments(X, raw), _moments(X[:300], raw) + _moments(X[300:], raw)
    assert parts.n == whole.n == 1001
    scale = np.exp(parts.log_scale - whole.log_scale)
    ours, theirs = scale * parts.gamma_sum.dense(), whole.gamma_sum.dense()
    assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(theirs).max())
    assert np.allclose(scale * parts.g_sum, whole.g_sum, rtol=1e-12, atol=1e-12 * np.abs(whole.g_sum).max())


def test_merging_very_different_scales_neither_overflows_nor_forgets():
    X = np.random.default_rng(0).exponential(size=(50, 3))
    tiny = _moments(X * 1e-120, zf.Barrier(0.0, 2.0))
    plain = _moments(X, zf.Barrier(0.0, 2.0))
    merged = tiny + plain
    assert np.isfinite(merged.gamma_sum.dense()).all()
    assert np.allclose(merged.gamma_sum.dense(), plain.gamma_sum.dense())
    assert merged.n == 100
    empty = Moments.zero(9)
    assert (empty + plain) is plain
    assert (plain + empty) is plain


def test_chunks_give_the_same_fit_as_one_piece(monkeypatch):
    X = np.abs(np.random.default_rng(1).standard_normal((1000, 3)))
    whole = zf.TruncatedGaussian().fit(X, sample_weight=np.linspace(1, 2, 1000)).result_
    monkeypatch.setattr(chunks, "CHUNK_DOUBLES", 1)
    assert len(list(chunks.row_chunks(1000, 10))) == 16
    chunked = zf.TruncatedGaussian().fit(X, sample_weight=np.linspace(1, 2, 1000)).result_
    assert np.allclose(chunked.theta, whole.theta, rtol=1e-10)
    assert np.allclose(chunked.covariance, whole.covariance, rtol=1e-9)
    assert chunked.score(X) == pytest.approx(whole.score(X), rel=1e-12)


def test_multiplying_the_generator_by_a_constant_changes_nothing():
    X = np.random.default_rng(2).exponential(size=(200, 2))
    one = zf.Custom(lambda X: X**2, divergence=lambda X: 2 * X, vanishing_at_boundary=True)
    many = zf.Custom(lambda X: 1e9 * X**2, divergence=lambda X: 2e9 * X, vanishing_at_boundary=True)
    a, b = (zf.TruncatedGaussian(generator=g).fit(X).result_ for g in (one, many))
    assert np.allclose(a.theta, b.theta, rtol=1e-10)
    assert np.allclose(a.covariance, b.covariance, rtol=1e-9)
