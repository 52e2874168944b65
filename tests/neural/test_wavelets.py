"""Wavelet features: what each layer answers to, and that their Fréchet distance tells good images from bad."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from zfree.experiments.scenes import SceneFactors, render_scenes
from zfree.neural.frechet import FEATURES, FeatureStatistics, frechet_distance
from zfree.neural.wavelets import ANGLES, BLOCKS, SCALES, _modulus, _morlets, wavelet_features

SIDE = 32


def grating(angle, j, phase=0.0, amplitude=0.3, side=48):
    line = torch.arange(side, dtype=torch.float32)
    y, x = torch.meshgrid(line, line, indexing="ij")
    along = x * math.cos(angle) + y * math.sin(angle)
    return (0.5 + amplitude * torch.cos(0.75 * math.pi / 2**j * along + phase)).expand(1, 3, side, side)


@pytest.mark.parametrize("j", range(SCALES))
def test_wavelets_have_mean_zero(j):
    assert _morlets(j).sum(dim=(1, 2, 3)).abs().max() < 1e-6
    flat = _modulus(torch.full((1, 1, 16, 16), 0.7), j)
    assert flat.abs().max() < 1e-6


@pytest.mark.parametrize("j", range(SCALES))
@pytest.mark.parametrize("k", range(ANGLES))
def test_a_grating_is_answered_by_its_own_wavelet_with_half_its_amplitude(j, k):
    wave = grating(math.pi * k / ANGLES, j)[:, :1]
    inner = [_modulus(wave, scale)[0, 0, :, 12:36, 12:36].mean(dim=(1, 2)) for scale in range(SCALES)]
    answers = torch.stack(inner)
    assert divmod(int(answers.argmax()), ANGLES) == (j, k)
    assert answers.max() == pytest.approx(0.15, rel=0.15)


def test_the_phase_does_not_matter_to_the_modulus():
    first, second = (_modulus(grating(0.0, 1, phase)[:, :1], 1)[..., 12:36, 12:36] for phase in (0.0, 1.3))
    assert torch.allclose(first[0, 0, 0], second[0, 0, 0], atol=0.02)


def test_the_first_features_are_means_of_colours_in_blocks():
    images = torch.rand(3, 3, 16, 16)
    found = wavelet_features(images)
    assert found.shape == (3, 816)
    blocks = images.reshape(3, 3, BLOCKS, 4, BLOCKS, 4).mean(dim=(3, 5))
    assert torch.allclose(found[:, :16].reshape(3, BLOCKS, BLOCKS), 100 * blocks.mean(dim=1), atol=1e-4)
    assert torch.allclose(found[:, 16:32].reshape(3, 4, 4), 50 * (blocks[:, 0] - blocks[:, 2]), atol=1e-4)


def test_the_distance_tells_good_from_bad():
    """Scenes from other seeds ≪ a little worse < much worse < noise, whatever is done to them."""
    n, rng = 200, np.random.default_rng(0)
    scenes, others = (render_scenes(SceneFactors.draw(n, seed), SIDE) for seed in (0, 1))
    images = others.reshape(n, 3, SIDE, SIDE).astype(float)

    def statistics(rows):
        rows = np.clip(np.round(rows), 0, 255).astype(np.uint8).reshape(n, -1)
        return FeatureStatistics.over(np.split(rows, 2), FEATURES["wavelets"]("cpu"), SIDE)

    reference = statistics(scenes)

    def distance(rows):
        return frechet_distance(reference, statistics(rows))

    held_out = distance(images)
    blurred = [distance(gaussian_filter(images, (0, 0, width, width))) for width in (2, 4)]
    noisy = [distance(images + level * rng.standard_normal(images.shape)) for level in (20, 60)]
    few = [distance(images[np.arange(n) % 10])]
    noise = distance(rng.uniform(0, 255, images.shape))
    alike = distance(np.broadcast_to(images.mean(axis=0), images.shape))
    for worse in (blurred, noisy, few):
        assert held_out * 1.3 < worse[0]
        assert all(a * 1.5 < b for a, b in pairwise(worse)), worse
        assert max(worse) < noise
    assert noise > 50 * held_out
    assert alike > 20 * held_out
    # Edges in wrong places, with the colours of every block as they are.
    turned = images.reshape(n, 3, 4, 8, 4, 8)[..., ::-1].reshape(images.shape)
    assert distance(turned) > 2 * held_out
