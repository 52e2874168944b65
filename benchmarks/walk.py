"""How far a fit walks through the package: `make walk`.

A room is the first part of a path below ``zfree``: a package, or a module at the top. A **crossing** is a call that leaves a room: a Python
function of one room starts (or a generator of it goes on), and the nearest function of the package above it on the stack is of another room. Frames that are not the
package's (numpy, functools, what dataclasses write) are looked through, so that ``reduce`` or a generated ``__init__`` hides nothing. Properties,
cached properties when they are computed, lambdas and comprehensions are calls like all others; the user's own call is none.
By this count version 0.1.0 crossed 71 times with a given generator.

Γ counts as formed when a model is asked for its products over rows (``gram``, ``cross_gram``, or ``moments`` of equations). The D that is asked
with leads back to the generator that it came from; generators that are equal are one candidate.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from types import FrameType

import numpy as np
from tests.sampling import truncated_gaussian

import zfree as zf
from benchmarks.table import print_table
from zfree.errors import ZfreeWarning
from zfree.generators import Generator

ROOT = os.path.dirname(zf.__file__) + os.sep
EVALUATIONS = ("evaluate", "on_domain")
PRODUCTS = ("gram", "cross_gram")
BARS = {"given": 60, "auto": 300, "search": None}
"""Crossings allowed."""


def room_of(frame: FrameType) -> str | None:
    """The room that a frame is in; None outside the package."""
    path = frame.f_code.co_filename
    return path[len(ROOT) :].split(os.sep)[0].removesuffix(".py") if path.startswith(ROOT) else None


class Walk:
    """What is seen while a function runs."""

    def __init__(self) -> None:
        self.crossings: Counter[tuple[str, str]] = Counter()
        self.order: list[str] = []
        self.files: dict[str, set[str]] = {}
        self.calls: Counter[str] = Counter()
        self.formed: Counter[str] = Counter()
        self.evaluated: Counter[str] = Counter()
        self._candidates: list[tuple[Generator, str]] = []
        self._fields: list[tuple[object, str]] = []

    def follow(self, function) -> Walk:
        """Run it, and watch."""
        before = sys.getprofile()
        sys.setprofile(self._see)
        try:
            function()
        finally:
            sys.setprofile(before)
        return self

    @property
    def total(self) -> int:
        """All crossings."""
        return sum(self.crossings.values())

    def _see(self, frame: FrameType, event: str, value: object) -> None:
        if event not in ("call", "return"):
            return
        room = room_of(frame)
        if room is None:
            return
        if event == "call":
            self._enter(frame, room)
        elif room == "generators" and frame.f_code.co_name in EVALUATIONS and hasattr(value, "field"):
            own = frame.f_locals.get("self")
            if isinstance(own, Generator):
                self._evaluated(own, value.field, inner=_inside(frame, EVALUATIONS, room))

    def _enter(self, frame: FrameType, room: str) -> None:
        if room not in self.files:
            self.order.append(room)
        self.files.setdefault(room, set()).add(frame.f_code.co_filename)
        self.calls[room] += 1
        above = frame.f_back
        while above is not None and room_of(above) is None:
            above = above.f_back
        origin = None if above is None else room_of(above)
        if origin is not None and origin != room:
            self.crossings[origin, room] += 1
        if room == "models":
            self._products(frame)

    def _evaluated(self, generator: Generator, field: object, *, inner: bool) -> None:
        """The D of a generator; what is evaluated inside of another evaluation is a part of it."""
        if inner:
            return
        label = self._label(generator)
        self._fields.append((field, label))  # kept alive, so that no other field gets its identity
        self.evaluated[label] += 1

    def _products(self, frame: FrameType) -> None:
        name, own = frame.f_code.co_name, frame.f_locals
        if name in PRODUCTS and not _inside(frame, PRODUCTS, "models"):
            self.formed[self._origin(own.get("field"))] += 1
        elif name == "moments" and hasattr(own.get("self"), "constants"):  # equations with a shorter way
            self.formed[self._origin(None)] += 1

    def _origin(self, field: object) -> str:
        """The candidate whose D this is; the last one that was evaluated, where D comes in pieces."""
        latest = self._fields[-1][1] if self._fields else "an unknown D"
        return next((label for known, label in self._fields if known is field), latest)

    def _label(self, generator: Generator) -> str:
        """Its repr; a number tells apart candidates that are written alike, such as a weight before and after its pilot."""
        for known, label in self._candidates:
            if known == generator:
                return label
        written = repr(generator)
        alike = sum(repr(known) == written for known, _ in self._candidates)
        label = written if not alike else f"{written}, no. {alike + 1}"
        self._candidates.append((generator, label))
        return label


def _inside(frame: FrameType, names: tuple[str, ...], room: str) -> bool:
    """Whether a function with one of these names is under way in the room already."""
    above = frame.f_back
    while above is not None:
        if above.f_code.co_name in names and room_of(above) == room:
            return True
        above = above.f_back
    return False


def print_rooms(name: str, walk: Walk) -> None:
    """The rooms in the order in which they are first entered, and from where."""
    rows = []
    for room in walk.order:
        doors = {origin: count for (origin, entered), count in walk.crossings.items() if entered == room}
        shown = ", ".join(f"{origin} {count}" for origin, count in sorted(doors.items(), key=lambda door: -door[1]))
        entered = sum(doors.values())
        rows.append([room, f"{entered}", f"{walk.calls[room]}", f"{len(walk.files[room])}", shown or "the user"])
    print_table(
        f"The walk of a fit, generator {name}: {walk.total} crossings",
        ["room", "entered", "calls", "files", "from"],
        rows,
    )


def print_candidates(name: str, walk: Walk) -> None:
    """How often Γ was formed, and D evaluated, for every candidate."""
    rows = [[label, f"{walk.formed[label]}", f"{walk.evaluated[label]}"] for _, label in walk._candidates]
    rows += [[label, f"{count}", "–"] for label, count in walk.formed.items() if label not in walk.evaluated]
    print_table(f"Candidates, generator {name}", ["candidate", "Γ formed", "D evaluated"], rows)


def main(words: list[str]) -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    domain = zf.SolidSimplex(3)
    X = truncated_gaussian(domain, np.full(3, 0.25), 20.0 * np.eye(3), 800)
    rows, good = [], True
    for name, generator in (("given", zf.Barrier(4 / 3)), ("auto", "auto"), ("search", "search")):
        if words and name not in words:
            continue
        estimator = zf.TruncatedGaussian(domain, generator=generator, check=False)
        estimator.fit(X)  # whatever is imported or kept at the first fit is there at the second
        walk = Walk().follow(lambda est=estimator: est.fit(X))
        print_rooms(name, walk)
        print_candidates(name, walk)
        bar, most = BARS[name], max(walk.formed.values(), default=0)
        short, once = bar is None or walk.total <= bar, most == 1
        good &= short and once
        files = sum(map(len, walk.files.values()))
        rows.append(
            [name, f"{walk.total}", "–" if bar is None else f"≤ {bar}", "" if bar is None else _met(short), f"{files}"]
            + [f"{len(walk.formed)}", f"{sum(walk.formed.values())}", f"{most}", "1", _met(once)]
        )
    print_table(
        "TruncatedGaussian(SolidSimplex(3)).fit(X), N = 800",
        ["generator", "crossings", "bar", "met", "files"] + ["candidates", "Γ formed", "most for one", "bar", "met"],
        rows,
    )
    return 0 if good else 1


def _met(good: bool) -> str:
    return "yes" if good else "NO"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
