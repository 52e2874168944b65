"""Rendered scenes: the same from the same seed, and every factor of them is seen."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from zfree.errors import SpecificationError
from zfree.experiments import scenes
from zfree.experiments.scenes import HAIR, SceneFactors, render_scenes, scene_digest

NAMES = [field.name for field in fields(SceneFactors)]


def middle(n, **changes):
    """Scenes whose factors are all in the middle, with short hair, and some changed."""
    constant = {**dict.fromkeys(NAMES, 0.5), "style": HAIR.index("short"), "glasses": 0.0, "stripes": 0.0}
    return SceneFactors(**{name: np.broadcast_to(changes.get(name, constant[name]), n).astype(float) for name in NAMES})


def test_rows_of_bytes_from_black_to_white():
    images = render_scenes(SceneFactors.draw(40, 0), 32)
    assert images.shape == (40, 3 * 32**2)
    assert images.dtype == np.uint8
    assert images.min() < 20
    assert images.max() > 235
    assert (images.std(axis=1) > 15).all()


def test_the_seed_decides_and_the_number_does_not(monkeypatch):
    first = render_scenes(SceneFactors.draw(30, 7), 16)
    assert np.array_equal(render_scenes(SceneFactors.draw(30, 7), 16), first)
    assert np.array_equal(render_scenes(SceneFactors.draw(90, 7), 16)[:30], first)
    other = render_scenes(SceneFactors.draw(30, 8), 16)
    assert (other != first).any(axis=1).all()
    monkeypatch.setattr(scenes, "PIXELS", 7 * 16**2)
    assert np.array_equal(render_scenes(SceneFactors.draw(30, 7), 16), first)


def test_no_two_scenes_are_alike():
    images = render_scenes(SceneFactors.draw(300, 0), 16)
    assert len(np.unique(images, axis=0)) == 300


@pytest.mark.parametrize("name", NAMES)
def test_every_factor_is_seen(name):
    ends = {"style": [HAIR.index("none"), HAIR.index("long")], "cloth": [0.0, 0.5]}.get(name, [0.0, 1.0])
    low, high = render_scenes(middle(2, **{name: np.array(ends)}), 32).astype(int)
    changed = np.abs(high - low).reshape(3, 32, 32).max(axis=0)
    assert (changed > 15).sum() >= 5


@pytest.mark.parametrize("name", ["across", "up", "slope", "tilt", "turn"])
def test_edges_are_soft(name):
    """A small step of a factor moves pixels by a little, and none from one colour to another."""
    steps = render_scenes(middle(2, **{name: np.array([0.5, 0.51])}), 32).astype(int)
    moved = np.abs(steps[1] - steps[0])
    assert 0 < moved.max() < 25


def test_causes_have_correlated_effects():
    factors = SceneFactors.draw(4000, 0)
    assert np.corrcoef(factors.skin, factors.hair)[0, 1] > 0.5
    assert np.corrcoef(factors.smile, factors.awake)[0, 1] < -0.3
    assert np.allclose(np.bincount(factors.style.astype(int)) / 4000, [0.12, 0.38, 0.35, 0.15], atol=0.03)
    assert factors.glasses.mean() == pytest.approx(0.25, abs=0.03)
    # The sun on the right lights the right half of the head.
    left, right = render_scenes(middle(2, sun=np.array([0.0, 1.0])), 32).reshape(2, 3, 32, 32)[:, :, 14:20].astype(int)
    assert (right[..., 19:21] > left[..., 19:21]).mean() > 0.9
    assert (right[..., 11:13] < left[..., 11:13]).mean() > 0.9


def test_the_digest_names_what_is_painted(monkeypatch):
    found = scene_digest(100, 16, 0)
    assert scene_digest(100, 16, 0) == found
    assert len({found, scene_digest(99, 16, 0), scene_digest(100, 32, 0), scene_digest(100, 16, 1)}) == 4
    monkeypatch.setattr(scenes, "LIPS", (0.2, 0.2, 0.9))
    assert scene_digest(100, 16, 0) != found


def test_some_of_the_scenes_and_none():
    factors = SceneFactors.draw(10, 0)
    assert np.array_equal(render_scenes(factors.part(slice(4, 6)), 16), render_scenes(factors, 16)[4:6])
    assert render_scenes(factors.part(slice(0, 0)), 16).shape == (0, 768)
    with pytest.raises(SpecificationError, match="at least 8"):
        render_scenes(factors, 4)
