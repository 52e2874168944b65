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
from zfree.neural.pixels import BernoulliPixels, PixelModel, as_pixels
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
    joined = torch.cat([network.first.T, network.second.weight], dim=1)
    plain = network.rest(torch.cat([x, z], dim=1) @ joined.T + network.bias)
    assert torch.allclose(network(x, z), plain)
    assert torch.equal(network(x, z), network.join(network.image(x), z))


def test_draws_and_reconstructions(fitted):
    draws = fitted.sample(7, random_state=0)
    assert draws.shape == (7, 64)
    assert np.all((draws > 0) & (draws < 1))
    assert np.array_equal(draws, fitted.sample(7, random_state=0))
    for n in (0, -1, 1.5, "a", None, True, 10**13):
        with pytest.raises(SpecificationError, match="the number of draws n"):
            fitted.sample(n)
    with pytest.raises(SpecificationError, match="random_state"):
        fitted.sample(7, random_state="a")
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
    near = np.linspace(-3, 3, 13)[:, None]
    weight, step = zf.CoordinateWeight("exp(-x^2)", floor=0.25), 1e-6
    up, down = (weight.evaluate(zf.RealSpace(1), near + h).field.diagonal() for h in (step, -step))
    slope = weight.evaluate(zf.RealSpace(1), near).divergence
    assert slope == pytest.approx((up - down) / (2 * step), abs=1e-8)
    assert repr(zf.CoordinateWeight("exp(-x^2)", floor=0.25)) == "CoordinateWeight(0.25 + exp(-x^2))"
    with pytest.raises(SpecificationError, match="floor"):
        zf.CoordinateWeight("x", floor=-1.0)


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    path = tmp_path / "state.pt"
    small(iterations=4, checkpoint=path).fit(DIGITS)
    for other in ({"random_state": 1}, {"pixels": "gaussian"}, {"batch_size": 64}):
        with pytest.raises(SpecificationError, match="another training"):
            small(iterations=6, checkpoint=path, **other).fit(DIGITS)
    relu = small(iterations=6, checkpoint=path)
    relu.decoder[1] = nn.ReLU()  # the same shapes
    with pytest.raises(SpecificationError, match="another training"):
        relu.fit(DIGITS)
    with pytest.raises(SpecificationError, match="4 iterations already, more than the 2"):
        small(iterations=2, checkpoint=path).fit(DIGITS)


class Plain(PixelModel):
    """A model of pixels written by a user: no dataclass."""

    def __init__(self, scale):
        self.scale, self.inner = scale, BernoulliPixels()

    def draw(self, pixels, noise):
        return self.inner.draw(pixels, noise)

    def misfit(self, output, x):
        return self.scale * self.inner.misfit(output, x)

    def expansion(self, output, x):
        return self.inner.expansion(output, x)

    def intensity(self, output):
        return self.inner.intensity(output)


def test_a_users_own_pixels_resume(tmp_path):
    path = tmp_path / "state.pt"
    small(iterations=4, checkpoint=path, pixels=Plain(1.0)).fit(DIGITS)
    assert small(iterations=6, checkpoint=path, pixels=Plain(1.0)).fit(DIGITS).history_[-1]["iteration"] == 6
    with pytest.raises(SpecificationError, match="another training"):
        small(iterations=8, checkpoint=path, pixels=Plain(2.0)).fit(DIGITS)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"checkpoint_every": 0}, "checkpoint_every must be"),
        ({"monitor_every": 0}, "monitor_every must be"),
        ({"log": "nowhere/log.csv"}, "folder that does not exist"),
        ({"plot": "losses.pdf"}, "must be a .png"),
        ({"device": "gpu"}, "no device 'gpu'"),
        ({"pixels": ["bernoulli"]}, "pixels must be"),
        ({"monitor": lambda est: None}, "monitor must return"),
        ({"monitor": lambda est: {"iteration": 7}}, "monitor must return"),
    ],
)
def test_settings_are_refused_in_a_sentence(options, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    est = small(iterations=2).set_params(**options)
    with pytest.raises(SpecificationError, match=text):
        est.fit(DIGITS)


def test_a_training_that_diverges_says_so_before_it_asks_the_monitor():
    def never(est):
        raise AssertionError

    est = small(iterations=3, monitor=never, monitor_every=1)
    with torch.no_grad():
        est.decoder[0].weight.fill_(float("nan"))
    with pytest.raises(DataError, match="no longer finite"):
        est.fit(DIGITS)


def test_a_monitor_does_not_change_a_training_with_normalisation():
    decoder = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Linear(32, 64))
    plain = small(iterations=20).set_params(decoder=decoder).fit(DIGITS)
    watch = {"monitor": lambda est: {"mean": est.sample(7, random_state=0).mean()}, "monitor_every": 5}
    watched = small(iterations=20, **watch).set_params(decoder=decoder).fit(DIGITS)
    for a, b in zip(plain.decoder_.state_dict().values(), watched.decoder_.state_dict().values(), strict=True):
        assert torch.equal(a, b)
    # Rows do not depend on the others in their batch.
    assert watched.sample(9, random_state=0)[:2] == pytest.approx(watched.sample(2, random_state=0), abs=1e-6)


def test_all_modes_of_a_posterior_count():
    class Even(nn.Module):
        def forward(self, z):
            return 6.0 * torch.tanh(z**2 - 1.5) * torch.linspace(-1.0, 1.0, 12)

    x = (torch.linspace(-1.0, 1.0, 12) > 0).float().expand(15, -1)
    exact = quadrature_nll(Even(), x)
    both = torch.tensor([[1.5], [-1.5]])[:, None].expand(2, 15, 1)
    noise = torch.Generator().manual_seed(0)
    found = importance_nll(Even(), x, both, samples=2000, noise=noise)
    assert found.values == pytest.approx(exact, abs=0.05)
    # From one side only half of the mass is seen: this is why starts of the prior are added.
    one = importance_nll(Even(), x, both[:1], samples=500, noise=noise)
    assert np.median(one.values - exact) == pytest.approx(np.log(2), abs=0.15)
