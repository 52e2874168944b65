"""Linear inequalities written as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import shown
from zfree.domains.linear_expressions import Linear, LinearExpressions
from zfree.errors import InvalidDomainError

_SEPARATOR = re.compile(r"[,;\n](?=(?:[^`]*`[^`]*`)*[^`]*$)")  # not inside backquotes

MOST_COLUMNS = 10_000
"""Columns that x1, x2, … may count without columns=: one more digit is a slip of the keyboard, not a data set."""


def parse_inequalities(
    text: str | Sequence[str], columns: Sequence[str] | None = None
) -> tuple[Array, Array, tuple[str, ...]]:
    """Turn inequalities into A, b with A x < b, and the column names in order."""
    pieces: list[Any] = list(text) if isinstance(text, list | tuple) else [text]
    for piece in pieces:
        if not isinstance(piece, str):
            raise InvalidDomainError(f'inequalities are text such as "x1 + 2*x2 < 1", got {shown(piece)}.')
    statements = [s.strip() for piece in pieces for s in _SEPARATOR.split(piece) if s.strip()]
    if not statements:
        raise InvalidDomainError('no inequality given; write for example "x1 + 2*x2 < 1".')
    given = None if columns is None else check_columns(columns)
    rows = [(row, statement) for statement in statements for row in _parse_statement(statement)]
    names = _column_order(rows) if given is None else given
    place = {name: j for j, name in enumerate(names)}
    A, b = np.zeros((len(rows), len(names))), np.zeros(len(rows))
    for k, (row, statement) in enumerate(rows):
        for name, coefficient in row.items():
            if not np.isfinite(coefficient):
                raise InvalidDomainError(f"a number in {shown(statement)} is beyond the range of floating point.")
            if not name:
                b[k] = -coefficient
            elif name in place:
                A[k, place[name]] = coefficient
            else:
                raise InvalidDomainError(
                    f"unknown column {name!r} in {shown(statement)}; the columns are {', '.join(names[:20])}."
                )
        if not A[k].any():
            raise InvalidDomainError(f"{shown(statement)} constrains no column.")
    return A, b, names


def check_columns(columns: Any) -> tuple[str, ...]:
    """Names of columns: a sequence, no name twice."""
    try:
        given = () if isinstance(columns, str | bytes | dict | set) else tuple(columns)
        frozenset(given)  # a list, for example, is no name
    except TypeError:
        given = ()
    if not given:
        raise InvalidDomainError(f"columns must be a list of names, got {shown(columns)}.")
    names = tuple(str(c) for c in given)
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InvalidDomainError(f"the column name {twice!r} is given twice: rename one of the columns.")
    return names


def _column_order(rows: list[tuple[Linear, str]]) -> tuple[str, ...]:
    largest, statement = 0, ""
    for row, written in rows:
        for name in filter(None, row):
            match = re.fullmatch(r"x([1-9]\d*)", name)
            if match is None:
                raise InvalidDomainError(
                    f"which column is {name!r}? Pass columns=[…] with the names of all columns in order."
                )
            number = int(match.group(1)) if len(match.group(1)) < 10 else MOST_COLUMNS + 1
            if number > largest:
                largest, statement = number, written
    if largest > MOST_COLUMNS:
        raise InvalidDomainError(
            f"{shown(statement)} asks for more than {MOST_COLUMNS} columns: x1, x2, … are the columns of the data in order. "
            "Pass columns=[…] if a column has such a name."
        )
    return tuple(f"x{j}" for j in range(1, largest + 1))


def _parse_statement(statement: str) -> list[Linear]:
    """Rows c with c·x + constant < 0; a chain such as 0 < x < 1 gives two."""
    sides, signs = LinearExpressions(statement).read()
    if not signs:
        raise InvalidDomainError(f"{shown(statement)} is not an inequality: it has no < or >.")
    rows = []
    for left, sign, right in zip(sides, signs, sides[1:], strict=False):
        if sign not in ("<", "<=", ">", ">="):
            raise InvalidDomainError(
                f"{shown(statement)}: only < and > describe an open domain; for parts that sum to one use Simplex."
            )
        small, large = (left, right) if sign[0] == "<" else (right, left)
        rows.append({k: small.get(k, 0.0) - large.get(k, 0.0) for k in {**small, **large}})
    return rows
