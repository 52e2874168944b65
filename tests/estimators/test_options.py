"""Options that all estimators share are declared once; what scikit-learn, an editor and a reader see of them is whole."""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import fields

import numpy as np
import pytest

import zfree as zf
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.options import Options

SHARED = [field.name for field in fields(Options)]
POSITIONAL = {
    zf.Dirichlet: ["generator"],
    zf.Exponential: ["generator"],
    zf.ExponentialFamily: ["statistic", "base"],
    zf.Gamma: ["generator"],
    zf.Gaussian: ["generator"],
    zf.GeneralizedGamma: ["exponent", "generator"],
    zf.LogNormal: ["generator"],
    zf.PowerInteraction: ["a", "b", "generator"],
    zf.TruncatedGaussian: ["domain", "generator"],
}
every_class = pytest.mark.parametrize("cls", POSITIONAL, ids=lambda cls: cls.__name__)


def _parameters(cls):
    return inspect.signature(cls).parameters


def test_every_estimator_is_looked_at():
    public = {getattr(zf, name) for name in zf.__all__}
    assert {c for c in public if isinstance(c, type) and issubclass(c, ScoreMatchingEstimator)} == set(POSITIONAL)


@every_class
def test_positional_parameters_keep_their_order(cls):
    own = [p.name for p in _parameters(cls).values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert own == POSITIONAL[cls]


@every_class
def test_every_estimator_takes_the_shared_options_by_keyword(cls):
    missing = {"boundary", "boundary_eps"} if cls is zf.Gaussian else set()
    for name in set(SHARED) - missing:
        parameter = _parameters(cls)[name]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default == {f.name: f.default for f in fields(Options)}[name]
    assert not missing & set(_parameters(cls))


@every_class
def test_no_estimator_writes_its_signature_by_hand(cls):
    assert "__init__" in vars(cls)  # generated, with the parameters of the class itself
    assert "def __init__" not in inspect.getsource(cls)


@every_class
def test_parameters_are_those_that_scikit_learn_sees(cls):
    assert set(cls().get_params()) == set(_parameters(cls))
    typing.get_type_hints(cls)


@every_class
def test_every_parameter_is_described(cls):
    doc = inspect.getdoc(zf.TruncatedGaussian if cls is zf.Gaussian else cls)
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^(\w+(?:, \w+)*)(?: :|$)", doc, flags=re.MULTILINE))))
    assert set(_parameters(cls)) <= described


def test_a_gaussian_is_a_truncated_one_without_a_domain():
    est = zf.Gaussian()
    assert isinstance(est, zf.TruncatedGaussian)
    assert not {"domain", "boundary", "boundary_eps"} & set(est.get_params())
    with pytest.raises(TypeError, match="domain"):
        zf.Gaussian(domain=zf.Orthant(1))
    assert est.fit(np.random.default_rng(0).normal(size=(50, 2))).domain_ == zf.RealSpace(2)


@every_class
def test_check_is_an_option_of_the_instance_and_a_method_of_the_class(cls):
    est = cls(check=False)
    assert vars(est)["check"] is False
    assert inspect.ismethod(est.check)
    assert inspect.isfunction(cls.check)
    assert "Do the data contradict the model?" in cls.check.__doc__
