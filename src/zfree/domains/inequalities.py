"""Linear inequalities written as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from zfree.arrays import Array
from zfree.errors import InvalidDomainError

_SEPARATOR = re.compile(r"[,;\n](?=(?:[^`]*`[^`]*`)*[^`]*$)")  # not inside backquotes

Linear = dict[str, float]
"""Coefficients by column name; the key ``""`` holds the constant."""


def parse_inequalities(
    text: str | Sequence[str], columns: Sequence[str] | None = None
) -> tuple[Array, Array, tuple[str, ...]]:
    """Turn inequalities into A, b with A x < b, and the column names in order."""
    pieces = [text] if isinstance(text, str) else list(text)
    statements = [s.strip() for piece in pieces for s in _SEPARATOR.split(piece) if s.strip()]
    if not statements:
        raise InvalidDomainError('no inequality given; write for example "x1 + 2*x2 < 1".')
    rows = [(row, statement) for statement in statements for row in _parse_statement(statement)]
    names = _column_order([name for row, _ in rows for name in row if name], columns)
    A, b = np.zeros((len(rows), len(names))), np.zeros(len(rows))
    for k, (row, statement) in enumerate(rows):
        b[k] = -row.pop("", 0.0)
        for name, coefficient in row.items():
            if name not in names:
                raise InvalidDomainError(
                    f"unknown column {name!r} in {statement!r}; the columns are {', '.join(names)}."
                )
            A[k, names.index(name)] = coefficient
        if not A[k].any():
            raise InvalidDomainError(f"{statement!r} constrains no column.")
    return A, b, tuple(names)


def _column_order(used: list[str], columns: Sequence[str] | None) -> list[str]:
    if columns is not None:
        return [str(c) for c in columns]
    numbers = []
    for name in used:
        match = re.fullmatch(r"x([1-9]\d*)", name)
        if match is None:
            raise InvalidDomainError(
                f"which column is {name!r}? Pass columns=[…] with the names of all columns in order."
            )
        numbers.append(int(match.group(1)))
    return [f"x{j}" for j in range(1, max(numbers) + 1)] if numbers else []


def _parse_statement(statement: str) -> list[Linear]:
    """Rows c with c·x + constant < 0; a chain such as 0 < x < 1 gives two."""
    quoted: list[str] = []

    def stash(match: re.Match[str]) -> str:
        quoted.append(match.group(1))
        return f"_quoted{len(quoted) - 1}_"

    source = re.sub(r"`([^`]+)`", stash, statement)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise InvalidDomainError(
            f'cannot read {statement!r}; write a linear inequality such as "x1 + 2*x2 < 1".'
        ) from error
    if not isinstance(tree, ast.Compare):
        raise InvalidDomainError(f"{statement!r} is not an inequality: it has no < or >.")
    sides = [_linear(node, statement, quoted) for node in (tree.left, *tree.comparators)]
    rows = []
    for left, op, right in zip(sides, tree.ops, sides[1:], strict=False):
        if isinstance(op, ast.Lt | ast.LtE):
            rows.append(_combine(left, right, -1.0))
        elif isinstance(op, ast.Gt | ast.GtE):
            rows.append(_combine(right, left, -1.0))
        else:
            raise InvalidDomainError(
                f"{statement!r}: only < and > describe an open domain; for parts that sum to one use Simplex."
            )
    return rows


def _combine(left: Linear, right: Linear, factor: float) -> Linear:
    return {k: left.get(k, 0.0) + factor * right.get(k, 0.0) for k in {**left, **right}}


def _linear(node: ast.expr, statement: str, quoted: list[str]) -> Linear:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return {"": float(value)}
        case ast.Name(id=name):
            match_quoted = re.fullmatch(r"_quoted(\d+)_", name)
            return {quoted[int(match_quoted.group(1))] if match_quoted else name: 1.0}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            sign = -1.0 if isinstance(op, ast.USub) else 1.0
            return {k: sign * v for k, v in _linear(operand, statement, quoted).items()}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            factor = 1.0 if isinstance(op, ast.Add) else -1.0
            return _combine(_linear(left, statement, quoted), _linear(right, statement, quoted), factor)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            a, b = _linear(left, statement, quoted), _linear(right, statement, quoted)
            if isinstance(op, ast.Mult) and set(a) == {""}:
                a, b = b, a
            if set(b) == {""} and not (isinstance(op, ast.Div) and b[""] == 0):
                factor = b[""] if isinstance(op, ast.Mult) else 1.0 / b[""]
                return {k: v * factor for k, v in a.items()}
    raise InvalidDomainError(f"{statement!r} is not linear: only sums of numbers times columns are understood.")
