"""Rendered scenes: a head with a face before a landscape, drawn from a few random factors.

They stand in for photographs of faces where there are none: colour images whose pixels depend on one another through a few
correlated causes, continuous ones (pose, light, colours) and discrete ones (hair, glasses, stripes). All scenes of a batch are
painted together, layer over layer, and edges are softened over one pixel.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from zfree.arrays import Array
from zfree.errors import SpecificationError

HAIR = ("none", "short", "long", "hat")
PIXELS = 500_000
"""Of the scenes that are painted together: about 100 MB of layers."""
Colour = tuple[float, float, float]
"""Red, green and blue in [0, 1]."""
WHITE, DARK, LIPS = (0.95, 0.95, 0.95), (0.08, 0.06, 0.06), (0.70, 0.22, 0.24)


@dataclass(frozen=True, eq=False)
class SceneFactors:
    """What a scene is made of: an array (N,) for each factor, uniform on [0, 1] unless it says otherwise.

    Attributes
    ----------
    day : ndarray
        From dusk to noon: colours of the sky, height of the sun, strength of the light.
    sun : ndarray
        From the left to the right; the light on the head comes from there.
    haze, hills, slope : ndarray
        Of the landscape; the colour of the ground, how wavy and how tilted its edge is.
    across, up, size, shape : ndarray
        Of the head.
    tilt, turn : ndarray
        Of the head: to a shoulder, and to a side.
    skin, hair, cloth : ndarray
        Colours. Hair is dark where skin is, more or less; cloth goes around the circle of hues.
    style : ndarray of whole numbers
        Of the hair, by :data:`HAIR`.
    glasses, stripes : ndarray of zeros and ones
    gaze, awake, smile, speech : ndarray
        Where the eyes look, how open they and the mouth are, and its curve; smiling eyes are narrower.
    """

    day: Array
    sun: Array
    haze: Array
    hills: Array
    slope: Array
    across: Array
    up: Array
    size: Array
    shape: Array
    tilt: Array
    turn: Array
    skin: Array
    hair: Array
    cloth: Array
    style: Array
    glasses: Array
    stripes: Array
    gaze: Array
    awake: Array
    smile: Array
    speech: Array

    @classmethod
    def draw(cls, n: int, seed: int | np.random.Generator) -> Self:
        """Of `n` scenes. Those of a smaller `n` are the first of a larger one."""
        names = [field.name for field in fields(cls)]
        found = dict(zip(names, np.random.default_rng(seed).random((n, len(names))).T, strict=True))
        found["hair"] = 0.6 * found["skin"] + 0.4 * found["hair"]
        found["awake"] = np.clip(0.4 + 0.8 * found["awake"] - 0.4 * found["smile"], 0.0, 1.0)
        found["style"] = np.searchsorted([0.12, 0.50, 0.85], found["style"]).astype(float)
        found["glasses"] = (found["glasses"] < 0.25).astype(float)
        found["stripes"] = (found["stripes"] < 0.35).astype(float)
        return cls(**found)

    def __len__(self) -> int:
        return len(self.day)

    def part(self, rows: slice) -> Self:
        """Some of the scenes."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def render_scenes(factors: SceneFactors, side: int = 32) -> NDArray[np.uint8]:
    """The scenes as rows of bytes (N, 3 · side²): channels, then lines from the top, then columns."""
    if side < 8:
        raise SpecificationError(f"side must be at least 8 for a face to be seen, got {side!r}.")
    images, step = np.empty((len(factors), 3 * side**2), dtype=np.uint8), max(1, PIXELS // side**2)
    for k in range(0, len(factors), step):
        images[k : k + step] = _paint(factors.part(slice(k, k + step)), side)
    return images


def scene_digest(count: int, side: int, seed: int) -> str:
    """Names the scenes, and the renderer that paints them, by the first few."""
    first = render_scenes(SceneFactors.draw(min(count, 16), seed), side)
    return hashlib.sha256(f"{count} {side} {seed} ".encode() + first.tobytes()).hexdigest()[:16]


class _Canvas:
    """Images (N, 3, side, side) that layers are painted on; x goes to the right and y up, both from −1 to 1."""

    def __init__(self, n: int, side: int) -> None:
        centers = (2.0 * np.arange(side) + 1.0) / side - 1.0
        self.x, self.y = centers[None, None, None, :], -centers[None, None, :, None]
        self.pixel = 2.0 / side
        self.image = np.zeros((n, 3, side, side))

    def cover(self, distance: Array) -> Array:
        """Share of a pixel inside a shape, from the distance of its center to the edge (negative inside)."""
        return np.clip(0.5 - distance / self.pixel, 0.0, 1.0)

    def paint(self, colour: Array, share: Array) -> None:
        """Lay a colour over what is there."""
        self.image += share * (colour - self.image)


def _paint(factors: SceneFactors, side: int) -> NDArray[np.uint8]:
    f = type(factors)(**{field.name: getattr(factors, field.name)[:, None, None, None] for field in fields(factors)})
    canvas = _Canvas(len(factors), side)
    _landscape(canvas, f)
    _portrait(canvas, f)
    return np.round(255.0 * np.clip(canvas.image, 0.0, 1.0)).astype(np.uint8).reshape(len(factors), -1)


def _landscape(canvas: _Canvas, f: SceneFactors) -> None:
    height = (canvas.y + 1.0) / 2.0
    zenith = _mix((0.10, 0.10, 0.30), (0.15, 0.45, 0.95), f.day)
    horizon = _mix((0.95, 0.45, 0.20), (0.80, 0.90, 1.00), f.day)
    canvas.paint(_mix(horizon, zenith, height), np.ones_like(height))
    east, noon = 1.8 * f.sun - 0.9, 0.9 * f.day
    away = np.sqrt((canvas.x - east) ** 2 + (canvas.y - noon) ** 2)
    shine = _mix((1.0, 0.65, 0.35), (1.0, 1.0, 0.85), f.day)
    canvas.paint(shine, 0.6 * np.exp(-3.0 * away))
    canvas.paint(shine, canvas.cover(away - 0.16))
    edge = -0.35 + 0.3 * (f.slope - 0.5) * canvas.x + 0.18 * f.hills * np.sin(4.0 * canvas.x + 6.0 * f.slope)
    ground = _mix((0.12, 0.30, 0.14), (0.60, 0.52, 0.30), f.haze) * (0.45 + 0.55 * f.day)
    canvas.paint(ground * (0.85 + 0.3 * height), canvas.cover(canvas.y - edge))


def _portrait(canvas: _Canvas, f: SceneFactors) -> None:
    x, y = canvas.x, canvas.y
    east, north, size = 0.5 * (f.across - 0.5), 0.1 + 0.25 * (f.up - 0.5), 0.42 + 0.16 * f.size
    wide, tall = size * (0.72 + 0.2 * f.shape), size
    cosine, sine = np.cos(0.7 * (f.tilt - 0.5)), np.sin(0.7 * (f.tilt - 0.5))
    u = (cosine * (x - east) + sine * (y - north)) / wide
    v = (cosine * (y - north) - sine * (x - east)) / tall
    turn, light = 0.5 * (f.turn - 0.5), 0.62 + 0.48 * f.day

    def ellipse(u0: Array | float, v0: Array | float, a: Array | float, b: Array | float) -> Array:
        """Distance to the edge of an ellipse, whose center and half-axes are in units of the head's own."""
        r = np.sqrt(((u - u0) / a) ** 2 + ((v - v0) / b) ** 2)
        return (r - 1.0) * np.minimum(a * wide, b * tall)

    skin = _mix((0.98, 0.82, 0.70), (0.38, 0.22, 0.14), f.skin)
    hair = _mix((0.85, 0.65, 0.30), (0.10, 0.07, 0.06), f.hair) * light
    cloth = 0.5 + 0.4 * np.cos(2.0 * np.pi * (f.cloth + np.array([0.0, 1 / 3, 2 / 3])[None, :, None, None]))
    long, hat = f.style == HAIR.index("long"), f.style == HAIR.index("hat")

    canvas.paint(hair, long * canvas.cover(ellipse(0.0, -0.25, 1.30, 1.25)))
    below = np.sqrt(((x - 0.8 * east) / 0.75) ** 2 + ((y + 1.05) / 0.55) ** 2)
    folds = 1.0 - 0.45 * f.stripes * (0.5 + 0.5 * np.cos(18.0 * x))
    canvas.paint(cloth * folds * light, canvas.cover((below - 1.0) * 0.55))
    canvas.paint(0.75 * skin * light, canvas.cover(ellipse(0.0, -1.0, 0.40, 0.45)))

    depth = np.sqrt(np.clip(1.0 - u**2 - v**2, 0.0, 1.0))
    lamp = np.stack(np.broadcast_arrays(1.8 * f.sun - 0.9, 0.2 + 0.6 * f.day, np.full_like(f.day, 0.8)))
    lamp = lamp / np.linalg.norm(lamp, axis=0)
    shade = 0.35 + 0.75 * np.clip(lamp[0] * u + lamp[1] * v + lamp[2] * depth, 0.0, 1.0)
    canvas.paint(skin * shade * light, canvas.cover(ellipse(0.0, 0.0, 1.0, 1.0)))
    canvas.paint(0.7 * skin * light, 0.8 * canvas.cover(ellipse(1.3 * turn, -0.12, 0.11, 0.22)))

    for sign in (-1.0, 1.0):
        place = 0.40 * sign + turn
        lid = 0.05 + 0.11 * f.awake
        canvas.paint(np.multiply(light, _colour(WHITE)), canvas.cover(ellipse(place, 0.14, 0.23, lid)))
        canvas.paint(_colour(DARK), canvas.cover(ellipse(place + 0.16 * (f.gaze - 0.5), 0.14, 0.11, 0.9 * lid)))
        canvas.paint(0.8 * hair, canvas.cover(ellipse(place, 0.36 + 0.06 * f.awake, 0.26, 0.06)))
        rim = np.abs(ellipse(place, 0.14, 0.32, 0.26)) - 0.4 * canvas.pixel
        canvas.paint(_colour(DARK), f.glasses * canvas.cover(rim))

    middle = 0.8 * turn
    curve = v + 0.50 - (1.3 * f.smile - 0.4) * (u - middle) ** 2
    band = np.maximum((np.abs(curve) - 0.05 - 0.09 * f.speech) * tall, (np.abs(u - middle) - 0.38) * wide)
    canvas.paint(_mix(_colour(LIPS) * light, _colour(DARK), 0.6 * f.speech), canvas.cover(band))

    fringe = (0.45 + 0.15 * np.abs(u) ** 2 - v) * tall
    cap = np.maximum(ellipse(0.0, 0.05, 1.10, 1.10), fringe)
    canvas.paint(hair, ((f.style == HAIR.index("short")) | long) * canvas.cover(cap))
    brim = np.maximum((np.abs(v - 0.48) - 0.09) * tall, (np.abs(u) - 1.45) * wide)
    crown = np.maximum(cap, (0.48 - v) * tall)
    canvas.paint(0.8 * cloth * light, hat * canvas.cover(np.minimum(crown, brim)))


def _mix(first: Colour | Array, second: Colour | Array, share: Array) -> Array:
    """From one colour to another."""
    return _colour(first) + share * (_colour(second) - _colour(first))


def _colour(rgb: Colour | Array) -> Array:
    return np.asarray(rgb, dtype=np.float64).reshape(1, 3, 1, 1) if isinstance(rgb, tuple) else rgb
