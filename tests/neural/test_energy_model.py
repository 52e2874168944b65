"""Networks on domains: learning, resuming, refusing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

import zfree as zf
from zfree.errors import (
    BoundaryError,
    DataError,
    DomainError,
    InconsistentGeneratorWarning,
    SpecificationError,
)
from zfree.neighbourhoods import BregmanBall
from zfree.neural import EnergyModel, Flow, Hutchinson, Perceptron

BOX = zf.Box([0.0], [1.0])
GRID = (np.arange(400) + 0.5)[:, None] / 400
X = np.random.default_rng(0).beta(2.0, 1.0, size=(1500, 1))  # density 2x: half of its largest value at the upper end


def divergence(est):
    """Kullback–Leibler divergence from the truth."""
    log_q = est.log_density(GRID)
    log_q -= np.log(np.mean(np.exp(log_q)))
    p = 2 * GRID[:, 0]
    return float(np.mean(p * (np.log(p) - log_q)))


@pytest.mark.parametrize(
    "loss",
    [
        "exact",
        "hutchinson",
        Hutchinson(2, "gaussian"),
        Flow(epsilon=0.02),
        Flow(epsilon=0.02, contrast="logistic"),
        Flow(neighbourhood=BregmanBall(zf.Power(1.0), 0.2), contrast="kl"),
    ],
    ids=repr,
)
def test_every_loss_learns_a_density_with_mass_at_the_boundary(loss):
    est = EnergyModel(domain=BOX, generator=zf.Barrier(1.0, 0.0), loss=loss, epochs=15, learning_rate=0.01).fit(X)
    assert divergence(est) < 0.03
    assert len(est.history_) == 15


@pytest.mark.filterwarnings("ignore::zfree.errors.InconsistentGeneratorWarning")
def test_plain_score_matching_does_not():
    plain, ours = (
        EnergyModel(domain=BOX, generator=g, epochs=15, learning_rate=0.01).fit(X) for g in ("hyvarinen-2005", None)
    )
    assert divergence(plain) > 3 * divergence(ours)


def test_a_score_network():
    est = EnergyModel(domain=BOX, output="score", epochs=40, learning_rate=0.01).fit(X)
    inner = np.linspace(0.4, 0.75, 7)[:, None]
    assert np.allclose(est.density_gradient(inner), 1 / inner, rtol=0.35)
    with pytest.raises(SpecificationError, match="no density"):
        est.log_density(inner)
    with pytest.raises(SpecificationError, match="energy"):
        est.sample(10)
    with pytest.raises(SpecificationError, match="compare energies"):
        EnergyModel(domain=BOX, output="score", loss="mpf").fit(X)


def parameters(est):
    return torch.cat([p.detach().ravel() for p in est.network_.parameters()])


@pytest.mark.parametrize("loss", ["exact", "hutchinson", "mpf"])
def test_interrupted_training_resumes_to_the_same_bits(tmp_path, loss, monkeypatch):
    make = lambda **options: EnergyModel(domain=BOX, loss=loss, epochs=6, random_state=3, **options)  # noqa: E731
    whole = make().fit(X)
    from zfree.neural import training

    record = training.Trainer._record
    path = tmp_path / "training.pt"

    def stop_in_the_third_epoch(self, value):
        if self.state.epoch == 2:
            raise KeyboardInterrupt
        record(self, value)

    monkeypatch.setattr(training.Trainer, "_record", stop_in_the_third_epoch)
    with pytest.raises(KeyboardInterrupt):
        make(checkpoint=path).fit(X)
    monkeypatch.undo()
    torch.manual_seed(999)  # a new process has another state
    resumed = make(checkpoint=path).fit(X)
    assert torch.equal(parameters(whole), parameters(resumed))
    assert whole.history_ == resumed.history_
    assert [p.name for p in tmp_path.iterdir()] == ["training.pt"]
    with pytest.raises(SpecificationError, match="other settings"):
        EnergyModel(domain=BOX, loss=loss, epochs=7, random_state=3, checkpoint=path).fit(X)
    with pytest.raises(SpecificationError, match="other data"):
        make(checkpoint=path).fit(X[::-1])


def test_seeds_decide_everything():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    EnergyModel(domain=BOX, epochs=1).fit(X)
    assert torch.equal(torch.rand(3), expected)  # the caller's random numbers are left alone
    a, b, c = (EnergyModel(domain=BOX, epochs=2, random_state=seed).fit(X) for seed in (0, 0, 1))
    assert torch.equal(parameters(a), parameters(b))
    assert not torch.equal(parameters(a), parameters(c))


def test_patience_stops_and_the_best_parameters_are_kept():
    est = EnergyModel(domain=BOX, epochs=300, patience=3, learning_rate=0.05).fit(X[:200])
    assert len(est.history_) < 300
    held_out = [h["held_out"] for h in est.history_]
    assert len(held_out) - 1 - int(np.argmin(held_out)) == 3
    assert est.best_score_ == held_out[est.best_epoch_ - 1]


def test_conventions():
    network = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    before = [p.clone() for p in network.parameters()]
    est = clone(EnergyModel(network, BOX, dtype="float64", epochs=2)).fit(X)
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))  # a copy was trained
    assert next(est.network_.parameters()).dtype == torch.float64
    again = pickle.loads(pickle.dumps(est))
    assert np.array_equal(again.log_density(GRID), est.log_density(GRID))
    assert est.score(X) == pytest.approx(again.score(X))
    h = 1e-5
    numeric = (est.log_density(GRID[5:9] + h) - est.log_density(GRID[5:9] - h)) / (2 * h)
    assert np.allclose(est.density_gradient(GRID[5:9])[:, 0], numeric, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it():
    one_column = {"check_fit1d": "a sample of one variable may be passed as a vector"}
    for outcome in check_estimator(EnergyModel(epochs=1), on_fail=None, expected_failed_checks=one_column):
        good = ("xfail",) if outcome["check_name"] in one_column else ("passed", "skipped")
        assert outcome["status"] in good, (outcome["check_name"], outcome["exception"])


def test_a_vector_is_a_column():
    x = np.random.default_rng(0).normal(size=60)
    vector, table = (EnergyModel(epochs=2, random_state=0).fit(rows) for rows in (x, x[:, None]))
    assert np.array_equal(vector.log_density(x), table.log_density(x[:, None]))


def test_draws_of_a_fit_look_like_the_data():
    est = EnergyModel(domain=BOX, epochs=15, learning_rate=0.01).fit(X)
    chains = est.chains(2000, random_state=0, burn_in=150, steps=150)
    assert BOX.contains(chains.draws).all()
    assert chains.draws.mean() == pytest.approx(2 / 3, abs=0.03)
    assert chains.rhat.max() < 1.2
    assert np.array_equal(chains.draws, est.sample(2000, random_state=0, burn_in=150, steps=150))


def test_a_simplex_and_a_domain_that_is_not_convex():
    P = np.random.default_rng(1).dirichlet([3.0, 2.0, 2.0], 300)
    est = EnergyModel(domain=zf.Simplex(3), epochs=3).fit(P)
    assert np.allclose(est.chains(50, random_state=0, burn_in=50, steps=50).draws.sum(axis=1), 1.0)
    ring = zf.Shells([0.5, 1.0], d=2)
    Y = zf.samplers.sample_gaussian(ring, np.zeros(2), np.eye(2), 300, 0)
    est = EnergyModel(domain=ring, epochs=3).fit(Y)
    assert est.generator_ == zf.BoundaryDistance()
    assert ring.contains(est.chains(50, random_state=0, burn_in=50, steps=50).draws).all()


@pytest.mark.parametrize(
    ("options", "data", "error", "message"),
    [
        ({"loss": "gsm"}, X, SpecificationError, "no loss is called 'gsm'"),
        ({"loss": Flow(contrast="f")}, X, SpecificationError, "no contrast is called 'f'"),
        ({"optimiser": "lbfgs"}, X, SpecificationError, "no optimiser"),
        ({"epochs": 0}, X, SpecificationError, "at least 1"),
        ({"output": "density"}, X, SpecificationError, "output"),
        ({"dtype": "int"}, X, SpecificationError, "dtype"),
        ({"validation": 0.0}, X, SpecificationError, "validation"),
        ({"generator": 3}, X, SpecificationError, "generator must be"),
        ({"generator": "phi9"}, X, SpecificationError, "no generator is called"),
        ({}, X + 0.5, DomainError, "x1 < 1"),
        ({}, np.vstack([X, [[1.0]]]), BoundaryError, "boundary"),
        ({}, np.full((20, 1), 0.5), DataError, "constant"),
        ({}, X[:3], DataError, "at least 4"),
        ({}, np.array([[0.1], [np.nan], [0.2], [0.3]]), DataError, "missing"),
        ({"network": nn.Linear(1, 3)}, X, SpecificationError, r"maps \(N, d\) to \(N,\)"),
        ({"learning_rate": 1e30}, X, DataError, "learning rate"),
    ],
)
def test_refusals(options, data, error, message):
    with pytest.raises(error, match=message):
        EnergyModel(domain=BOX, epochs=options.pop("epochs", 2), **options).fit(data)


def test_a_generator_that_does_not_vanish_warns():
    with pytest.warns(InconsistentGeneratorWarning, match="does not vanish"):
        EnergyModel(domain=BOX, generator=zf.Identity(), epochs=1).fit(X[:50])
    assert EnergyModel(domain=BOX, generator="auto", epochs=1).fit(X[:50]).generator_ == zf.Barrier(1.2, 0.0)


def test_the_progress_bar_shows_the_loss(capsys):
    EnergyModel(domain=BOX, epochs=2, verbose=True).fit(X[:100])
    shown = capsys.readouterr().out
    assert "2/2" in shown
    assert "held out" in shown


@pytest.mark.parametrize("loss", ["exact", "mpf"])
def test_units_do_not_matter(loss):
    """Metres or millimetres: the same network up to rounding, because columns and D are brought to the scale of the data."""
    fits = [
        EnergyModel(domain=zf.Box([0.0], [c]), loss=loss, dtype="float64", epochs=3).fit(c * X) for c in (1.0, 1000.0)
    ]
    shapes = [est.log_density(c * GRID) for est, c in zip(fits, (1.0, 1000.0), strict=True)]
    assert np.allclose(shapes[0] - shapes[0][0], shapes[1] - shapes[1][0], rtol=1e-6, atol=1e-6)


def test_perceptron_standardises():
    data = np.random.default_rng(0).normal(5.0, 3.0, (100, 2))
    network = Perceptron(2).standardise(data)
    inner = (torch.as_tensor(data).float() - network.center) / network.scale
    assert torch.allclose(inner.mean(dim=0), torch.zeros(2), atol=1e-5)
    assert network(torch.zeros(4, 2)).shape == (4, 1)
    assert Perceptron(2, 2)(torch.zeros(4, 2)).shape == (4, 2)
