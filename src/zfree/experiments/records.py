"""The file of finished trials: which of its lines can be used, and what becomes of the others.

A line is used if it is one JSON object without repeated names, names a trial of the plan, and holds what such a trial finds: every name, a
finite number where a number belongs. Others are kept in a file of their own, and their trials are run again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zfree.errors import DataError
from zfree.files import write_whole

Key = tuple[int, ...]
"""Which trial: a few whole numbers, such as (sample size, repetition). They seed it."""
Record = dict[str, Any]
"""What a trial found, ready for JSON."""
Pattern = Any
"""What a record looks like: a dictionary or list of patterns, :class:`Each`, :class:`OneOf`, or a question that is answered with yes or no."""


@dataclass(frozen=True)
class Each:
    """A list of any length, but not an empty one, with one pattern for all."""

    pattern: Pattern


@dataclass(frozen=True)
class OneOf:
    """What looks like one of several patterns."""

    patterns: tuple[Pattern, ...]


def number(value: Any) -> bool:
    """A finite number."""
    if type(value) is int:
        return abs(value) < 2**63
    return type(value) is float and math.isfinite(value)


def number_or_none(value: Any) -> bool:
    """A finite number, or nothing where there is no estimate."""
    return value is None or number(value)


def text(value: Any) -> bool:
    """Text."""
    return isinstance(value, str)


def anything(value: Any) -> bool:
    """Whatever JSON can hold."""
    return True


def errors_of(contenders: Iterable[str], blocks: Iterable[str]) -> dict[str, Pattern]:
    """Squared errors by contender and block, nothing where a fit failed."""
    return {name: dict.fromkeys(blocks, number_or_none) for name in contenders}


def fits(value: Any, pattern: Pattern) -> bool:
    """Whether a value looks like the pattern."""
    if isinstance(pattern, dict):
        return (
            isinstance(value, dict) and set(value) == set(pattern) and all(fits(value[k], pattern[k]) for k in pattern)
        )
    if isinstance(pattern, list):
        same = isinstance(value, list) and len(value) == len(pattern)
        return same and all(map(fits, value, pattern))
    if isinstance(pattern, Each):
        return isinstance(value, list) and len(value) > 0 and all(fits(v, pattern.pattern) for v in value)
    if isinstance(pattern, OneOf):
        return any(fits(value, each) for each in pattern.patterns)
    return bool(pattern(value))


def to_line(key: Key, record: Record) -> str:
    """A trial as a line of the file."""
    try:
        return json.dumps({"trial": key, **record}, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise DataError(
            f"trial {list(key)} found a number that is not finite: the settings are out of range. Choose others."
        ) from error


def read_trials(path: Path, plan: Iterable[Key], pattern: Pattern) -> tuple[dict[Key, Record], dict[int, bytes]]:
    """Finished trials, and lines by number that cannot be used.

    Blank lines, and a last one without an end (cut off while it was written), are no damage. Of a trial that stands there twice, differently,
    neither is believed.
    """
    wanted, conflicting = set(plan), set()
    found: dict[Key, Record] = {}
    damaged: dict[int, bytes] = {}
    where: dict[Key, list[tuple[int, bytes]]] = {}
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for k, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        key, record = _parse(line)
        if key is None or key not in wanted or not fits(record, pattern):
            damaged[k] = line
            continue
        where.setdefault(key, []).append((k, line))
        if found.setdefault(key, record) != record:
            conflicting.add(key)
    for key in conflicting:
        damaged.update(where[key])
        del found[key]
    return found, dict(sorted(damaged.items()))


def set_aside(path: Path, damaged: dict[int, bytes], found: dict[Key, Record]) -> None:
    """Move damaged lines to the end of the file `path`.damaged; keep the others, as they would be written."""
    if damaged:
        aside = damaged_file(path)
        before = aside.read_bytes() if aside.exists() else b""
        write_whole(aside, before + b"".join(line + b"\n" for line in damaged.values()))
    write_whole(path, "".join(to_line(key, record) for key, record in found.items()).encode())


def damaged_file(path: Path) -> Path:
    """Where the damaged lines of `path` are kept."""
    return path.with_name(f"{path.stem}.damaged{path.suffix}")


def _parse(line: bytes) -> tuple[Key | None, Record]:
    try:
        record = json.loads(line.decode(), object_pairs_hook=_named_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None, {}
    key = record.pop("trial", None) if isinstance(record, dict) else None
    if not isinstance(key, list) or any(type(k) is not int for k in key):
        return None, {}
    return tuple(key), record


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return dict(pairs)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")
