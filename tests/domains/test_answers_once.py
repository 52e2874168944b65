"""What a domain is does not change: it answers once, and what it keeps is no part of it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.sampling import interior, near_boundary
from zfree.domains import Domain

ANSWERS = ("dimension", "is_bounded", "has_boundary", "is_convex", "n_slacks", "columns", "chart", "unlimited")


@pytest.mark.parametrize("name", DOMAINS)
def test_answers_are_those_of_the_set(name):
    domain = DOMAINS[name]
    X = interior(domain, 3)
    assert domain.dimension == X.shape[1]
    assert domain.n_slacks == domain.slacks(X).shape[1]
    assert domain.has_boundary == (domain.margins(X).shape[1] > 0)
    for answer in ANSWERS[:-2]:
        assert getattr(domain, answer) is getattr(domain, answer)


@pytest.mark.parametrize("name", DOMAINS)
def test_copies_are_equal_and_answer_alike(name):
    domain = copy.deepcopy(DOMAINS[name])
    fresh, text, number = pickle.dumps(domain), repr(domain), hash(domain)
    for answer in ANSWERS:
        getattr(domain, answer)
    assert (repr(domain), hash(domain)) == (text, number)
    for other in (pickle.loads(fresh), pickle.loads(pickle.dumps(domain)), copy.copy(domain)):
        assert other == domain
        assert "chart" not in vars(other)
        assert np.array_equal(other.margins(X := interior(domain, 3)), domain.margins(X))
        assert (other.chart is None) == (domain.chart is None)


def test_another_size_is_another_answer():
    domain = zf.Simplex(3)
    assert (domain.dimension, domain.chart.domain) == (3, zf.SolidSimplex(2))
    larger = replace(domain, d=5, drop=0)
    assert (larger.dimension, larger.n_slacks, larger.chart.domain) == (5, 5, zf.SolidSimplex(4))
    assert larger.chart.kept.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("missing", ["dimension", "is_bounded", "margins", "interior_point"])
def test_a_domain_that_forgets_one_of_the_four_is_refused(missing):
    given = {
        "dimension": 1,
        "is_bounded": True,
        "margins": lambda self, X: 1.0 - np.abs(X),
        "interior_point": lambda self: np.zeros(1),
    }
    complete = type("Whole", (Domain,), given)()
    assert (complete.dimension, complete.n_slacks, complete.has_boundary) == (1, 1, True)
    del given[missing]
    with pytest.raises(TypeError, match=missing):
        type("Part", (Domain,), given)()


@pytest.mark.parametrize("name", DOMAINS)
def test_the_quick_question_agrees_with_the_margins(name):
    domain = DOMAINS[name]
    X = interior(domain, 50)
    assert domain.holds_all(X)
    assert domain.holds_all(X[:0])
    assert not len(domain.explain(X))
    if not domain.has_boundary:
        return
    for row in (near_boundary(domain, 1, 1e-6)[0], near_boundary(domain, 1, -1e-3)[0], np.full(X.shape[1], np.nan)):
        Y = X.copy()
        Y[17] = row
        assert domain.holds_all(Y) == bool((domain.margins(Y) > 0).all()) == (not len(domain.explain(Y)))
        assert domain.explain(Y).rows.tolist() == ([] if domain.holds_all(Y) else [17])
