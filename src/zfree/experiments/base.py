"""An experiment is a frozen dataclass: its fields are the configuration, its methods the trials and the report."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import Field, asdict, dataclass, fields, is_dataclass, replace
from inspect import get_annotations
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from zfree.errors import SpecificationError
from zfree.experiments.records import Key, Pattern, Record, anything
from zfree.experiments.report import Report

LARGEST = 2**62
"""Of whole numbers: what random streams and file formats take."""
EXTREME = 1e12
"""Numbers beyond it, or below its inverse, are no settings."""
RANGE = f"(0, or of size {1 / EXTREME:g} to {EXTREME:g})"
Progress = Callable[[int, int], None]
"""Called with what is done and what is to be done in all."""


@dataclass(frozen=True)
class Experiment(ABC):
    """One table or figure of the paper.

    Parameters
    ----------
    seed : int
        Every trial has its own random stream, made of this and the trial's key: results do not depend on the order or
        the process in which trials are run.
    """

    seed: int = 0

    name: ClassVar[str]
    title: ClassVar[str]
    place: ClassVar[str]
    """Where it is in the paper."""
    small: ClassVar[dict[str, Any]] = {}
    """Settings of the quick version."""
    by_itself: ClassVar[bool] = False
    """Takes hours: run when it is named, not with all the others."""
    stated: ClassVar[tuple[str, ...]] = ()
    """Settings that the paper states: with others its numbers are of another experiment, and are left out."""

    def __init_subclass__(cls, **defaults: Any) -> None:
        """Other defaults for settings of the parent, given where it is named; their kind and their place stay the parent's."""
        super().__init_subclass__()
        known = {f.name: f for parent in cls.__mro__[1:] if is_dataclass(parent) for f in fields(parent)}
        if unknown := defaults.keys() - known.keys():
            raise TypeError(f"{cls.__name__} inherits no setting {', '.join(sorted(unknown))}.")
        cls.__annotations__ = {name: known[name].type for name in defaults} | get_annotations(cls)
        for name, value in defaults.items():
            setattr(cls, name, value)

    @abstractmethod
    def plan(self) -> list[Key]:
        """Every trial, in the order of the results file."""

    @abstractmethod
    def trial(self, key: Key, scratch: Path) -> Record:
        """Run one trial. A long one may keep its own state in the folder `scratch`, to go on from after an interruption."""

    def prepare(self, scratch: Path, progress: Progress) -> None:  # noqa: B027  (most need nothing)
        """What all trials need, made once before them in the folder `scratch`; `progress` hears how far it is."""

    @abstractmethod
    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        """Tables, findings and figure of all trials."""

    @abstractmethod
    def check(self) -> None:
        """Refuse settings that make no sense, before anything is run or written."""

    def record(self) -> Pattern:
        """What a trial finds, by which damaged records are known (:mod:`zfree.experiments.records`)."""
        return anything

    def count(self) -> int:
        """How many trials there are, without listing them."""
        there = {f.name: getattr(self, f.name) for f in fields(self)}
        return math.prod([there.get("trials", 1), there.get("truths", 1), len(there.get("sizes", (1,)))])

    def memory(self) -> float:
        """Bytes that a trial needs, roughly and not too many."""
        return 0.0

    @property
    def like_the_paper(self) -> bool:
        """Whether what the paper states is as it states it."""
        defaults = {f.name: f.default for f in fields(self)}
        return all(getattr(self, name) == defaults[name] for name in self.stated)

    def stream(self, *key: int) -> np.random.Generator:
        """The random numbers that belong to `key`."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def quick(self) -> Self:
        """The same with fewer trials, for a first look."""
        return replace(self, **self.small)

    def with_settings(self, settings: dict[str, str]) -> Self:
        """The same with some fields changed, their values given as JSON."""
        known = {f.name: f for f in fields(self)}
        changed: dict[str, Any] = {}
        for field, text in settings.items():
            if field not in known:
                raise SpecificationError(f"{self.name} has no setting {field!r}; it has {', '.join(known)}.")
            if isinstance(known[field].default, str):
                changed[field] = text
                continue
            try:
                value = _frozen(json.loads(text, parse_constant=_no_constant))
            except (ValueError, RecursionError) as error:
                raise SpecificationError(
                    f"{field}={text[:100]} is not a number or a list in JSON, such as {field}={_example(known[field])}."
                ) from error
            changed[field] = like(known[field], value)
        return replace(self, **changed)

    def config(self) -> dict[str, Any]:
        """Name and fields, ready for JSON."""
        return {"experiment": self.name, **asdict(self)}

    def __str__(self) -> str:
        return " ".join([self.name, *(f"{k}={json.dumps(v)}" for k, v in asdict(self).items())])


def like(field: Field[Any], value: Any) -> Any:
    """A value of the kind of the default; refused if it is text for a number, a number for a list, no trials at all."""
    default = field.default
    if default is None and value is None:
        return None  # left open: the experiment has a value of its own
    listed = isinstance(default, tuple) or (default is None and str(field.type).startswith("tuple"))
    if isinstance(default, str):
        right, kind = isinstance(value, str), "text"
    elif isinstance(default, tuple) and isinstance(default[0], int):
        right = (
            isinstance(value, tuple)
            and len(value) > 0
            and all(_counts(v) for v in value)
            and len(set(value)) == len(value)
        )
        kind = "a list of different positive whole numbers"
    elif listed:
        right = isinstance(value, tuple) and len(value) > 0 and all(_is_number(v) for v in value)
        kind = f"a list of numbers {RANGE}"
    elif isinstance(default, int):
        right = _counts(value) or (field.name == "seed" and type(value) is int and value == 0)
        kind = "a positive whole number"
    elif "tuple" in str(field.type):
        right, kind = (
            _is_number(value) or (isinstance(value, tuple) and _all_numbers(value)),
            f"a number {RANGE}, or a list of them",
        )
    else:
        right, kind = _is_number(value), f"a number {RANGE}"
    if not right:
        raise SpecificationError(
            f"{field.name} must be {kind}, such as {_example(field)}; got {json.dumps(value, default=str)[:200]}."
        )
    if isinstance(default, float) and _is_number(value):
        return float(value)
    whole = isinstance(default, tuple) and isinstance(default[0], int)
    return tuple(map(float, value)) if listed and not whole else value


def _example(field: Field[Any]) -> str:
    if field.default is None:
        return "[0.5, 1.5]" if str(field.type).startswith("tuple") else "0.5"
    return json.dumps(field.default)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and (value == 0 or 1.0 / EXTREME <= abs(value) <= EXTREME)


def _all_numbers(value: Any) -> bool:
    """A list of numbers, or of such lists."""
    return isinstance(value, tuple) and len(value) > 0 and all(_is_number(v) or _all_numbers(v) for v in value)


def _counts(value: Any) -> bool:
    return type(value) is int and 0 < value <= LARGEST


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
