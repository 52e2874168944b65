"""Old spellings that still work for one release, and say what the new one is and when the old one goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple, ParamSpec, TypeVar

from zfree.errors import SpecificationError, ZfreeDeprecationWarning, warn

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


class Renamed(NamedTuple):
    """The new spelling of a name, and the release in which the old one goes (``"0.4"``)."""

    new: str
    gone_in: str

    def tell(self, old: str) -> None:
        warn(f"{old} is now {self.new}. The old spelling goes in zfree {self.gone_in}.", ZfreeDeprecationWarning)


declared: list[tuple[str, Renamed]] = []  # every old spelling with its end, so that a test can say which are overdue


def overdue(version: str) -> list[str]:
    """Old spellings that a release of this version, or its development, must no longer have; patches take nothing away."""
    numbers = [int(part) for part in version.split(".")[:2]]
    return [old for old, name in declared if [int(part) for part in name.gone_in.split(".")[:2]] <= numbers]


def renamed_names(module: str, names: Mapping[str, Renamed]) -> Callable[[str], Any]:
    """What a module takes as its ``__getattr__``, or asks from it last: old names, new ones in ``module`` or with dots elsewhere."""
    declared.extend((f"{module}.{old}", name) for old, name in names.items())

    def find(old: str) -> Any:
        if old not in names:
            raise AttributeError(f"module {module!r} has no attribute {old!r}")
        home, _, new = (names[old].new if "." in names[old].new else f"{module}.{names[old].new}").rpartition(".")
        value = getattr(import_module(home), new)
        names[old]._replace(new=f"{home}.{new}").tell(f"{module}.{old}")
        return value

    return find


def renamed_attributes(gone_in: str, /, **names: str) -> Callable[[C], C]:
    """Decorate a class whose attributes or methods were renamed: ``@renamed_attributes("0.4", old="new")``."""

    def decorate(cls: C) -> C:
        for old, new in names.items():
            setattr(cls, old, _OldAttribute(f"{cls.__name__}.{old}", new, Renamed(f"{cls.__name__}.{new}", gone_in)))
        return cls

    return decorate


class _OldAttribute:
    def __init__(self, old: str, attribute: str, name: Renamed) -> None:
        self.old, self.attribute, self.name = old, attribute, name
        declared.append((old, name))

    def __get__(self, instance: object, owner: type) -> Any:
        value = getattr(
            owner if instance is None else instance, self.attribute
        )  # first: hasattr before a fit stays silent
        self.name.tell(self.old)
        return value

    def __set__(self, instance: object, value: Any) -> None:
        setattr(instance, self.attribute, value)
        self.name.tell(self.old)


def renamed_arguments(gone_in: str, /, **names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose keyword arguments were renamed: ``@renamed_arguments("0.4", old="new")``."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        where = function.__qualname__
        declared.extend((f"{where}({old}=)", Renamed(f"{where}({new}=)", gone_in)) for old, new in names.items())

        @wraps(function)  # the signature, and with it scikit-learn's parameters, has the new names alone
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                new = names[old]
                if new in kwargs or new in inspect.signature(function).bind_partial(*args).arguments:
                    raise SpecificationError(f"{where} got {old}= and {new}=, which are the same; give {new}= alone.")
                kwargs[new] = kwargs.pop(old)
                Renamed(f"{where}({new}=)", gone_in).tell(f"{where}({old}=)")
            return function(*args, **kwargs)

        return call

    return decorate
