"""What a generator remembers of itself is no part of it: not of equality, of its text, or of what is stored."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import zfree as zf
from zfree.potentials import SlackPotential

DOMAIN = zf.Orthant(2)
X = np.random.default_rng(0).exponential(size=(50, 2))
GENERATORS = {
    "power": zf.Barrier(1.2, 0.3),
    "power as a potential": zf.Barrier(det_power=0.3, potential=zf.Power(1.2)),
    "coordinates": zf.CoordinateWeight("x", cap=2.0, scale="natural"),
    "sections": zf.SectionDistance("x", cap=2.0, scale="natural"),
    "distance": zf.BoundaryDistance(cap=2.0, scale="natural"),
}


def _value(generator):
    value = generator.evaluate(DOMAIN, X)
    return value.log_weight, value.field.dense(), value.divergence


@pytest.mark.parametrize("name", GENERATORS)
def test_a_used_generator_is_what_it_was(name):
    units = zf.Units.of(DOMAIN, X)
    fresh = GENERATORS[name].in_units(units)
    text, number, stored = repr(fresh), hash(fresh), pickle.dumps(replace(fresh))
    values, answers = _value(fresh), (fresh.tempered, fresh.decay(DOMAIN), fresh.vanishing(DOMAIN))
    for other in (pickle.loads(stored), pickle.loads(pickle.dumps(fresh)), copy.deepcopy(fresh), replace(fresh)):
        assert other == fresh
        assert (repr(other), hash(other)) == (text, number) == (repr(fresh), hash(fresh))
        assert (other.tempered, other.decay(DOMAIN), other.vanishing(DOMAIN)) == answers
        for mine, theirs in zip(_value(other), values, strict=True):
            assert np.array_equal(mine, theirs)
    assert len(pickle.dumps(fresh)) == len(stored)


@pytest.mark.parametrize("name", GENERATORS)
def test_other_units_change_the_units_alone(name):
    natural, units = GENERATORS[name], zf.Units.of(DOMAIN, X)
    measuring = natural.in_units(units)
    assert measuring == replace(natural, scale=units) != natural
    assert measuring.in_units(zf.Units.of(DOMAIN, 2.0 * X)) is measuring
    for mine, theirs in zip(_value(measuring), _value(replace(natural, scale=units)), strict=True):
        assert np.array_equal(mine, theirs)


def test_another_power_is_another_potential():
    first = zf.Barrier(1.0, 0.0, scale="raw")
    _value(first)
    second = replace(first, power=0.0)
    assert np.allclose(_value(second)[1], _value(zf.Barrier(0.0, 0.0, scale="raw"))[1])
    assert not np.allclose(_value(second)[1], _value(first)[1])


@pytest.mark.parametrize("rows", [1, 7, 8, 43])
@pytest.mark.parametrize("p", [-0.5, 0.0, 1.0, 4 / 3, 1.8])
def test_a_power_in_units_is_the_power_of_the_ratio(p, rows):
    rng = np.random.default_rng(1)
    s, unit = rng.uniform(0.1, 3.0, (rows, 3)), np.array([1e-3, 1.0, 1e4])
    for slacks, by in ((s, unit), (np.asfortranarray(s), unit), (s[:, 0], unit[:1]), (s[:, 1:], unit[1:])):
        found, known = zf.Power(p).terms_in(slacks, by), SlackPotential.terms_in(zf.Power(p), slacks, by)
        assert np.allclose(found.inverse, known.inverse, rtol=1e-13)
        assert np.allclose(found.ratio, known.ratio, rtol=1e-13)
        assert np.allclose(found.log_curvature(), known.log_curvature(), rtol=1e-13, atol=1e-13)
