"""The edges of a cone {v : A v ≤ 0}: the directions in which an unbounded set never ends."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.domains.linear_programs import RANK_TOLERANCE, vertex

PROGRAMMES = 12
"""Linear programmes with random objectives, per dimension, that look for the edges of a cone with more facets than dimensions."""


def cone_edges(A: Array) -> Array:
    """Vectors of length one (m, d) that span the cone {v : A v ≤ 0}: its edges, and both senses of every line in it.

    All edges where rows of A are independent, or each bears on one coordinate. Otherwise those that random linear programmes find;
    each of them is an edge, but in many dimensions not every edge is found.
    """
    d = A.shape[1]
    if np.all(np.count_nonzero(A, axis=1) == 1):  # every coordinate is free, has a sign, or is zero
        up, down = ~(A > 0).any(axis=0), ~(A < 0).any(axis=0)
        return np.concatenate([np.eye(d)[up], -np.eye(d)[down]])
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    singular, turned = np.linalg.svd(A)[1:]
    rank = int(np.sum(singular > RANK_TOLERANCE * singular[0]))
    lines, across = turned[rank:], turned[:rank]
    edges = _pointed(A @ across.T) @ across
    return np.concatenate([_within(A, edges), lines, -lines])


def _pointed(A: Array) -> Array:
    """The edges of a cone {v : A v ≤ 0} that contains no line: those along which all but one of independent rows are tight."""
    rank = A.shape[1]
    if len(A) == rank:
        edges = -np.linalg.inv(A).T
        unit: Array = edges / np.linalg.norm(edges, axis=1, keepdims=True)
        return unit
    # The section {v : A v ≤ 0, −Σ_k a_k·v = 1} is bounded, and its corners are on the edges.
    height = -A.sum(axis=0)
    objectives = np.random.default_rng(0).standard_normal((PROGRAMMES * rank, rank))
    corners = [corner for c in objectives if (corner := vertex(c, A, height)) is not None]
    if not corners:
        return np.zeros((0, rank))  # nothing but the origin
    edges = np.array(corners) / np.linalg.norm(corners, axis=1, keepdims=True)
    distinct: Array = edges[np.unique(edges.round(9), axis=0, return_index=True)[1]]
    return distinct


def _within(A: Array, edges: Array) -> Array:
    """The same edges, none outside by rounding: along one, a slack that should stay must not run out far away."""
    excess = np.maximum(edges @ A.T, 0.0).max(axis=1, initial=0.0)
    kept: Array = edges[excess < 1e-12]
    return kept
