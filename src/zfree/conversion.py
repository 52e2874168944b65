"""From what a user passes to floating-point numbers: nothing hidden, imaginary or textual is lost on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from zfree.arrays import Array
from zfree.errors import SpecificationError, ZfreeError


def real_array(values: Any, what: str, error: type[ZfreeError] = SpecificationError) -> Array:
    """A float array, the caller's own memory where that is possible; an `error` that names `what` for anything else.

    numpy by itself reads masked entries as the values they hide, drops imaginary parts and parses text.
    """
    refuse_masked(values, what, error)
    try:
        raw = np.asarray(values)
    except (TypeError, ValueError) as cause:
        raise error(f"{what} must be numbers in a regular array, got {shown(values)}.") from cause
    if raw.dtype.kind == "O":
        if any(isinstance(cell, str | bytes | complex | np.complexfloating) for cell in raw.ravel()):
            raise error(f"{what} must be real numbers, got {shown(values)}.")
    elif raw.dtype.kind not in "biuf":
        kind = "real " if raw.dtype.kind == "c" else ""
        raise error(f"{what} must be {kind}numbers, got {shown(values)}.")
    try:
        return np.asarray(raw, dtype=np.float64)
    except OverflowError as cause:
        raise error(f"{what} holds an integer beyond the range of floating point (1.8e308).") from cause
    except (TypeError, ValueError) as cause:
        raise error(f"{what} must be numbers, got {shown(values)}.") from cause


def real_number(value: Any, what: str, error: type[ZfreeError] = SpecificationError) -> float:
    """One number that is not NaN; an `error` that names `what` for several, or for none."""
    number = real_array(value, what, error)
    if number.size != 1 or number.ndim > 1 or isinstance(value, bool):
        raise error(f"{what} must be one number, got {shown(value)}.")
    if np.isnan(number).any():
        raise error(f"{what} must be a number, got {shown(value)}.")
    return float(number.reshape(()))


def is_number(value: Any) -> TypeGuard[float]:
    """Whether this is one real number. True and False are not: as an option they are a slip."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:  # an integer of 400 digits
        return False
    return True


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether this is an integer, of Python's or numpy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole_number(value: Any, what: str, smallest: int = 1) -> int:
    """An integer of at least `smallest` that can count something."""
    if not is_whole(value) or not smallest <= value <= sys.maxsize:
        raise SpecificationError(f"{what} must be a whole number ≥ {smallest}, got {shown(value)}.")
    return int(value)


def check_flag(value: Any, what: str) -> None:
    """True or False; the text "False" is true to Python."""
    if not isinstance(value, bool | np.bool_):
        raise SpecificationError(f"{what} must be True or False, got {shown(value)}.")


def random_generator(random_state: Any) -> np.random.Generator:
    """What numpy makes of a seed."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as cause:
        raise SpecificationError(
            f"random_state must be a whole number ≥ 0, a numpy Generator or None, got {shown(random_state)}."
        ) from cause


def check_level(level: Any, what: str = "level", usual: float = 0.95) -> float:
    """The coverage of an interval, or the level of a test."""
    if not is_number(level) or not 0.0 < level < 1.0:
        raise SpecificationError(f"{what} must be a number between 0 and 1, such as {usual:g}, got {shown(level)}.")
    return float(level)


def check_callable(function: Any, what: str) -> None:
    """Something that can be called."""
    if not callable(function):
        raise SpecificationError(f"{what} must be a function, got {shown(function)}.")


def refuse_masked(values: Any, what: str, error: type[ZfreeError]) -> None:
    """A masked entry has no value: refuse it, with its place."""
    place = masked_place(values)
    if place is not None:
        where = f"[{', '.join(map(str, place))}]" if place else ""
        raise error(f"{what}{where} is masked: it has no value. Leave it out, or fill it first (numpy.ma.filled).")


def masked_place(values: Any) -> tuple[int, ...] | None:
    """Index of the first masked entry of an array, or of a list of them; None without one."""
    if np.ma.isMaskedArray(values):
        hidden = np.ma.getmaskarray(values)
        return tuple(int(i) for i in np.argwhere(hidden)[0]) if hidden.any() else None
    if isinstance(values, list | tuple):
        for k, inner in enumerate(values):
            place = None if isinstance(inner, float) else masked_place(inner)
            if place is not None:
                return (k, *place)
    return None


def values_of(function: Callable[..., Any], X: Array, what: str, shape: tuple[int, ...] | None = None) -> Array:
    """A function of the user's at `X`, as real numbers of the `shape` that is expected.

    It gets a copy: what it does to its argument is its own affair, and the data of the caller stay as they are.
    """
    try:
        out = function(X.copy())
    except ZfreeError:
        raise
    except Exception as cause:
        raise SpecificationError(
            f"{what} failed on an array of shape {X.shape} ({type(cause).__name__}: {str(cause)[:200]})."
        ) from cause
    values = real_array(out, f"what {what} returns")
    if values.ndim == 0 and shape == X.shape:
        return np.full(shape, values)  # a constant, one value for every entry
    if shape is not None and values.shape != shape:
        raise SpecificationError(
            f"{what} must return shape {shape} for an array of shape {X.shape}, it returned {values.shape}."
        )
    return values


def shown(value: Any, most: int = 80) -> str:
    """The value as code, cut short: a message is read, a dump of the data is not."""
    try:
        text = repr(value)
    except Exception:  # a repr of the user's may do anything
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
