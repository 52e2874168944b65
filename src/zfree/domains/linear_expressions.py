"""Sums of numbers times columns, read from text."""

from __future__ import annotations

import re
from typing import NamedTuple

from zfree.conversion import shown
from zfree.errors import InvalidDomainError

Linear = dict[str, float]
"""Coefficients by column name; the key ``""`` holds the constant."""

DEEPEST = 50
"""Brackets and signs inside each other."""

_TOKEN = re.compile(
    r"\s*(?:`(?P<quoted>[^`]+)`|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign><=|>=|==|!=|<|>|=)|(?P<symbol>[-+*/()]))"
)


class _Token(NamedTuple):
    kind: str
    text: str


class LinearExpressions:
    """The sides of one statement and the signs between them.

    A grammar of its own, rather than Python's: a sum may have any number of terms, a comment or a call is no inequality, and a name
    such as Solar.R gets the advice it needs.
    """

    def __init__(self, statement: str) -> None:
        self._statement = statement
        self._tokens = self._split(statement)
        self._next = 0

    def read(self) -> tuple[list[Linear], list[str]]:
        """Every side, and the sign between each two."""
        sides, signs = [self._sum(0)], []
        while self._kind() == "sign":
            signs.append(self._take().text)
            sides.append(self._sum(0))
        if self._kind():
            raise self._unreadable()
        return sides, signs

    def _split(self, statement: str) -> list[_Token]:
        tokens, end = [], 0
        while end < len(statement):
            match = _TOKEN.match(statement, end)
            if match is None:
                raise self._unreadable(statement[end:].strip())
            tokens.append(_Token(str(match.lastgroup), match.group(str(match.lastgroup))))
            end = match.end()
        return tokens

    def _kind(self) -> str:
        return self._tokens[self._next].kind if self._next < len(self._tokens) else ""

    def _is(self, symbols: str) -> bool:
        return self._kind() == "symbol" and self._tokens[self._next].text in symbols

    def _take(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

    def _sum(self, depth: int) -> Linear:
        total = self._product(depth)
        while self._is("+-"):
            factor = 1.0 if self._take().text == "+" else -1.0
            for name, value in self._product(depth).items():
                total[name] = total.get(name, 0.0) + factor * value
        return total

    def _product(self, depth: int) -> Linear:
        left = self._factor(depth)
        while self._is("*/"):
            times = self._take().text == "*"
            right = self._factor(depth)
            if times and set(left) == {""}:
                left, right = right, left
            if set(right) != {""} or (not times and right[""] == 0):
                raise self._not_linear()
            factor = right[""] if times else 1.0 / right[""]
            left = {name: value * factor for name, value in left.items()}
        return left

    def _factor(self, depth: int) -> Linear:
        if depth > DEEPEST:
            raise InvalidDomainError(
                f"{shown(self._statement)} has more than {DEEPEST} brackets or signs in each other."
            )
        if self._is("+-"):
            factor = 1.0 if self._take().text == "+" else -1.0
            return {name: factor * value for name, value in self._factor(depth + 1).items()}
        if self._is("("):
            self._take()
            inner = self._sum(depth + 1)
            if not self._is(")"):
                raise self._unreadable()
            self._take()
            return inner
        if self._kind() == "number":
            return {"": float(self._take().text)}
        if self._kind() in ("name", "quoted"):
            return {self._take().text: 1.0}
        raise self._unreadable()

    def _not_linear(self) -> InvalidDomainError:
        return InvalidDomainError(
            f"{shown(self._statement)} is not linear: only sums of numbers times columns are understood."
        )

    def _unreadable(self, rest: str | None = None) -> InvalidDomainError:
        if re.search(r"\w\s*\(|\*\*|\^", self._statement):  # a function or a power
            return self._not_linear()
        if rest is None:
            rest = " ".join(token.text for token in self._tokens[self._next :])
        at = f" at {shown(rest, 30)}" if rest else ""
        text = f'cannot read {shown(self._statement)}{at}; write a linear inequality such as "x1 + 2*x2 < 1"'
        odd = re.search(r"[^\W\d]\w*(?:[.\s#$%&@:!?]+\w+)+", self._statement)
        if "`" in self._statement:
            return InvalidDomainError(f"{text}. Backquotes come in pairs around a name.")
        if odd:
            return InvalidDomainError(f"{text}. A name that is not one word goes between backquotes: `{odd.group()}`.")
        if re.search(r"\d[^\W\d]", self._statement):
            return InvalidDomainError(f"{text}, with a * between a number and a column.")
        return InvalidDomainError(f"{text}.")
