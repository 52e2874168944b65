"""Implicit autoencoders on the small digits that come with scikit-learn: training, resuming, likelihoods."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

import zfree as zf
from zfree.errors import DataError, SpecificationError
from zfree.neural import ImplicitVAE, PairNetwork
from zfree.neural.latent_likelihood import annealed_nll, importance_nll
from zfree.neural.pairs import Networks
from zfree.neural.pixels import BernoulliPixels, as_pixels
from zfree.neural.vae_training import AutoencoderTrainer

DIGITS = load_digits().data / 16.0


def small(**options):
    """Networks that train in a second."""
    torch.manual_seed(0)
    pair = PairNetwork(64, 2, 2, hidden=(32, 32))
    decoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 64))
    return ImplicitVAE(pair, decoder, PairNetwork(64, 2, 2, hidden=(32, 32)), checkpoint_every=50, **options)


@pytest.fixture(scope="module")
def fitted():
    return ImplicitVAE(latent=4, iterations=600, checkpoint_every=100).fit(DIGITS)


def test_training_lowers_the_misfit_and_the_likelihood_beats_independent_pixels(fitted):
    history = fitted.history_
    assert [h["iteration"] for h in history] == list(range(100, 601, 100))
    assert history[-1]["misfit"] < 0.9 * history[0]["misfit"]
    found = fitted.nll(DIGITS[:100], random_state=0)
    share = DIGITS.mean(axis=0).clip(1e-3, 1 - 1e-3)
    x = BernoulliPixels().draw(torch.as_tensor(as_pixels(DIGITS[:100])), torch.Generator().manual_seed(1)).numpy()
    independent = -(x * np.log(share) + (1 - x) * np.log(1 - share)).sum(axis=1).mean()
    assert found.mean < independent - 3
    assert found.standard_error < 1
    assert np.median(found.effective_size) > 50
    assert "importance" in str(found)


def test_the_two_likelihoods_agree(fitted):
    fast = fitted.nll(DIGITS[:24], random_state=3)
    slow = fitted.nll(DIGITS[:24], method="annealed", chains=8, temperatures=100, leapfrogs=5, random_state=3)
    assert "annealed" in slow.method
    assert slow.mean == pytest.approx(fast.mean, abs=0.3)


def quadrature_nll(decoder, x):
    """−log ∫ p(x | z) N(z; 0, 1) dz on a fine grid of the line."""
    z = torch.linspace(-8, 8, 4001)[:, None]
    with torch.no_grad():
        logits = decoder(z)
    log_pixels = -nn.functional.binary_cross_entropy_with_logits(
        logits[:, None, :].expand(-1, len(x), -1), x[None].expand(len(z), -1, -1), reduction="none"
    ).sum(dim=2)
    log_prior = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    return -(torch.logsumexp(log_pixels + log_prior, dim=0) + np.log(16 / 4000)).numpy()


def test_likelihoods_against_quadrature():
    torch.manual_seed(1)
    decoder = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 12))
    for layer in (decoder[0], decoder[2]):
        nn.init.normal_(layer.weight, std=0.8)
    x = (torch.rand(10, 12, generator=torch.Generator().manual_seed(0)) < 0.5).float()
    exact = quadrature_nll(decoder, x)
    starts = torch.randn(6, 10, 1, generator=torch.Generator().manual_seed(2))
    fast = importance_nll(decoder, x, starts, samples=4000, noise=torch.Generator().manual_seed(3))
    assert np.allclose(fast.values, exact, atol=0.1)
    assert abs(fast.mean - exact.mean()) < 0.03
    slow = annealed_nll(decoder, x, 1, chains=64, temperatures=200, noise=torch.Generator().manual_seed(4))
    assert abs(slow.mean - exact.mean()) < 0.05


def test_the_history_is_a_mean_over_the_iterations_since_the_last_entry(tmp_path):
    path = tmp_path / "vae.pt"
    small(iterations=75, checkpoint=path).fit(DIGITS)  # ends between two entries
    resumed = small(iterations=100, checkpoint=path).fit(DIGITS)
    whole = small(iterations=100).fit(DIGITS)
    assert [h["iteration"] for h in resumed.history_] == [50, 75, 100]
    joined = (resumed.history_[1]["misfit"] + resumed.history_[2]["misfit"]) / 2
    assert joined == pytest.approx(whole.history_[1]["misfit"], rel=1e-6)


def test_interrupted_training_resumes_to_the_same_bits(tmp_path):
    whole = small(iterations=200).fit(DIGITS)
    path = tmp_path / "vae.pt"
    small(iterations=100, checkpoint=path).fit(DIGITS)
    torch.manual_seed(77)
    resumed = small(iterations=200, checkpoint=path, log=tmp_path / "log.csv").fit(DIGITS)
    for name in ("encoder_", "decoder_", "score_network_"):
        for a, b in zip(getattr(whole, name).parameters(), getattr(resumed, name).parameters(), strict=True):
            assert torch.equal(a, b)
    assert whole.history_ == resumed.history_
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 5
    with pytest.raises(SpecificationError, match="another training"):
        small(iterations=300, checkpoint=path, generator=zf.CoordinateWeight("sigmoid")).fit(DIGITS)


@pytest.mark.parametrize("weight", ["sigmoid", "exp(-|x|)", "exp(-x^2)"])
def test_other_diagonal_weights_train_too(weight):
    est = small(iterations=60, generator=zf.CoordinateWeight(weight)).fit(DIGITS)
    assert np.isfinite([h["score_loss"] for h in est.history_]).all()


def test_the_score_network_learns_the_score_of_the_encoder():
    """An encoder z = ε gives a standard Gaussian whatever x: s(x, z) → −z."""
    torch.manual_seed(0)
    networks = Networks(PairNetwork(3, 2, 2), nn.Linear(2, 3), PairNetwork(3, 2, 2, hidden=(32, 32)))
    trainer = AutoencoderTrainer(networks, zf.Identity(), np.full((256, 3), 0.5, dtype=np.float32), 128, 1e-3, 0)
    optimiser = torch.optim.Adam(networks.score.parameters(), 5e-3)
    for _ in range(250):
        x, z = torch.rand(256, 3), torch.randn(256, 2)
        loss = trainer._score_loss(x, z)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    x, z = torch.rand(200, 3), torch.randn(200, 2)
    with torch.no_grad():
        assert float((networks.score(x, z) + z).square().mean()) < 0.1


def test_splitting_the_first_layer_changes_nothing():
    network = PairNetwork(5, 3, 2).double()
    x, z = torch.randn(7, 5).double(), torch.randn(7, 3).double()
    joined = torch.cat([network.first.weight, network.second.weight], dim=1)
    plain = network.rest(torch.cat([x, z], dim=1) @ joined.T + network.first.bias)
    assert torch.allclose(network(x, z), plain)
    assert torch.equal(network(x, z), network.join(network.image(x), z))


def test_draws_and_reconstructions(fitted):
    draws = fitted.sample(7, random_state=0)
    assert draws.shape == (7, 64)
    assert np.all((draws > 0) & (draws < 1))
    assert np.array_equal(draws, fitted.sample(7, random_state=0))
    again = fitted.reconstruct(DIGITS[:50], random_state=0)
    assert np.mean((again - DIGITS[:50]) ** 2) < np.mean((DIGITS.mean(axis=0) - DIGITS[:50]) ** 2)
    assert fitted.encode(DIGITS[:5], random_state=0).shape == (5, 4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (DIGITS * 16, "between 0 and 1"),
        (np.array([["a", "b"]]), "numbers"),
        (np.full((3, 2), np.nan), "row 0"),
        (np.zeros(5), "rows of pixels"),
    ],
)
def test_images_that_make_no_sense(data, message):
    with pytest.raises(DataError, match=message):
        small(iterations=2).fit(data)


def test_other_refusals(fitted):
    with pytest.raises(DataError, match="63 pixels"):
        fitted.nll(DIGITS[:, :63])
    with pytest.raises(SpecificationError, match="importance"):
        fitted.nll(DIGITS[:2], method="exact")
    with pytest.raises(SpecificationError, match="batch_size"):
        small(iterations=2, batch_size=5000).fit(DIGITS)
    with pytest.raises(SpecificationError, match="generator must be"):
        small(iterations=2, generator=3).fit(DIGITS)
    bytes_ = (255 * DIGITS[:200]).astype(np.uint8).reshape(200, 8, 8)
    assert small(iterations=2).fit(bytes_).n_features_in_ == 64


def test_the_score_check_is_one_for_the_true_score():
    class Encoder(PairNetwork):
        def join(self, image, z):
            return 2.0 + 0.5 * z  # q(z | x) = N(2, 0.25)

    class Score(PairNetwork):
        def join(self, image, z):
            return -(z - 2.0) / 0.25

    est = ImplicitVAE(Encoder(64, 2, 2, hidden=(4,)), None, Score(64, 2, 2, hidden=(4,)), latent=2, iterations=1)
    check = est.fit(DIGITS).score_check(np.repeat(DIGITS, 20, axis=0))
    assert check.z.mean() == pytest.approx(2.0, abs=0.02)
    assert check.identity == pytest.approx([1.0, 1.0], abs=0.06)
    assert check.s == pytest.approx(-4 * (check.z - 2), abs=1e-5)


def test_a_monitor_is_asked_and_its_answers_survive_a_stop(tmp_path):
    def watch(est):
        return {"mean": float(est.sample(5, random_state=0).mean())}

    whole = small(iterations=100, monitor=watch, monitor_every=20, log=tmp_path / "log.csv").fit(DIGITS)
    assert [h["iteration"] for h in whole.history_ if "mean" in h] == [20, 40, 60, 80, 100]
    assert [h["iteration"] for h in whole.history_] == [20, 40, 50, 60, 80, 100]
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0].endswith(",mean")
    assert lines[3].endswith(",")  # iteration 50: a checkpoint, not asked
    options = {"monitor": watch, "monitor_every": 20, "checkpoint": tmp_path / "state.pt"}
    small(iterations=60, **options).fit(DIGITS)
    assert small(iterations=100, **options).fit(DIGITS).history_ == whole.history_


def test_a_progress_bar(capsys):
    small(iterations=50, verbose=True).fit(DIGITS)
    assert "iteration" in capsys.readouterr().out


def test_a_floor_keeps_the_weight_and_its_slope():
    X = np.linspace(-40, 40, 7)[:, None]
    plain, floored = (
        zf.CoordinateWeight("exp(-x^2)", floor=f).evaluate(zf.RealSpace(1), X).field.diagonal() for f in (0.0, 0.25)
    )
    assert (plain > 0).all()  # tiny, not zero
    assert floored == pytest.approx(plain + 0.25)
    assert repr(zf.CoordinateWeight("exp(-x^2)", floor=0.25)) == "CoordinateWeight(0.25 + exp(-x^2))"
    with pytest.raises(SpecificationError, match="floor"):
        zf.CoordinateWeight("x", floor=-1.0)
