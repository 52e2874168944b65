"""The generators of the literature by name, wherever a generator is taken."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import SpecificationError
from zfree.generators import NAMED

X = np.random.default_rng(0).exponential(size=(300, 2))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
def test_a_name_is_its_generator(name):
    by_name = zf.TruncatedGaussian(zf.Box([0, 0], [20, 20]), name).fit(X)
    by_object = zf.TruncatedGaussian(zf.Box([0, 0], [20, 20]), zf.named(name)).fit(X)
    assert by_name.generator_ == NAMED[name]
    assert np.array_equal(by_name.result_.theta, by_object.result_.theta)


def test_what_the_names_stand_for():
    assert zf.named("phi1") == zf.Barrier(power=4 / 3, det_power=0.5, scale="raw")
    assert zf.named("phi2") == zf.Barrier(power=1.0, det_power=0.5, scale="raw")
    assert zf.named("phi3") == zf.Barrier(power=0.0, det_power=0.5, scale="raw")
    assert zf.named("hyvarinen-2005") == zf.Identity()
    assert zf.named("hyvarinen-2007") == zf.CoordinateWeight("x^2") == zf.named("h2")
    assert zf.named("h1") == zf.CoordinateWeight("x")
    assert zf.named("truncated-sm") == zf.BoundaryDistance()
    assert zf.named("gsm-cd") == zf.SectionDistance("x")


def test_lists_and_rankings_take_names():
    chosen = zf.Exponential(["phi3", zf.Barrier(1.0, 0.0)]).fit(X)
    assert chosen.generator_ == zf.Barrier(1.0, 0.0)
    table = zf.rank(zf.Exponential(), X, ["phi3", "phi2"])
    assert {c.generator for c in table} == {zf.Barrier.log(scale="raw"), zf.Barrier.entropy(scale="raw")}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SpecificationError, match=r"no generator is called 'phi4'.*phi1.*truncated-sm"):
        zf.Exponential("phi4").fit(X)
