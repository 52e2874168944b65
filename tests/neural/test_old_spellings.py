"""What was called otherwise in 0.1 works for one release more, and says so."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from zfree import neural
from zfree.errors import ZfreeDeprecationWarning

X = np.random.default_rng(0).uniform(size=(40, 2))


def test_the_log_density():
    est = neural.EnergyModel(domain=zf.Box([0.0, 0.0], [1.0, 1.0]), epochs=1).fit(X)
    with pytest.warns(
        ZfreeDeprecationWarning, match=r"log_prob_unnormalised is now UnnormalisedDensity\.log_density\."
    ):
        old = est.log_prob_unnormalised(X)
    assert np.array_equal(old, est.log_density(X))
    est.set_params(output="score")
    with (
        pytest.warns(ZfreeDeprecationWarning),
        pytest.raises(zf.errors.SpecificationError, match="a score network has no density"),
    ):
        est.log_prob_unnormalised(X)  # the subclass's own


def test_the_weight_as_tensors():
    with pytest.warns(ZfreeDeprecationWarning, match=r"zfree\.neural\.Weight is now zfree\.neural\.WeightTensors\."):
        assert neural.Weight is neural.WeightTensors


def test_the_center_of_a_perceptron_and_its_saved_state():
    network = neural.Perceptron(2).standardise(X)
    with pytest.warns(ZfreeDeprecationWarning, match=r"Perceptron\.centre is now Perceptron\.center\."):
        assert network.centre is network.center
    for make in (lambda net: net, torch.nn.Sequential):
        saved = {name.replace("center", "centre"): value for name, value in make(network).state_dict().items()}
        assert any("centre" in name for name in saved)
        other = make(neural.Perceptron(2))
        other.load_state_dict(saved)
        assert torch.equal(other(torch.as_tensor(X).float()), make(network)(torch.as_tensor(X).float()))
