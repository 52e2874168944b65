"""Derivatives of functions a user hands in, by torch, which is imported here only."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.errors import MissingDependencyError, SpecificationError


def _torch(purpose: str, instead: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            f"{purpose} needs automatic differentiation with torch, which is not installed. "
            f"Run `pip install zfree[neural]`, or {instead}."
        ) from error
    return torch


_turns = RLock()


@cache
def _use_once() -> None:
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*torch.jit.script", DeprecationWarning)
        torch.func.hessian(lambda x: (x**2).sum())(torch.ones(1))


@contextmanager
def torch_func() -> Iterator[None]:
    """Use torch.func, one thread at a time: its forward derivatives keep their level for the whole process.

    At its first use torch gives itself a deprecation warning, which is silenced. That is the only time that filters of
    :mod:`warnings`, which all threads share, are changed.
    """
    with _turns:
        _use_once()
        yield


def _call(what: str, instead: str, compute: Callable[[], Any]) -> Any:
    try:
        with torch_func():
            return compute()
    except Exception as error:  # the function is the user's and may do anything
        raise SpecificationError(
            f"{what} could not be differentiated automatically ({type(error).__name__}: {str(error)[:200]}). "
            f"Write it with torch operations on tensors (x.log(), torch.stack, …), or {instead}."
        ) from error


def _array(values: Any, what: str, instead: str) -> Array:
    """The numbers of a tensor; what else a function returns is refused."""
    if not hasattr(values, "detach"):
        raise SpecificationError(
            f"{what} returned a {type(values).__name__}, not a tensor. Write it with torch operations on tensors, or {instead}."
        )
    # force: a derivative that is zero everywhere, such as the third of a quadratic, has no numbers of its own in torch
    return real_array(values.numpy(force=True), f"what {what} returns")


def hessian_and_third(value: Callable[[Any], Any], X: Array) -> tuple[Array, Array]:
    """Second (N, d, d) and third (N, d, d, d) derivatives of a scalar function of one point."""
    instead = "pass hessian= and third="
    torch = _torch("a potential given as a function", instead)
    hessian = torch.func.hessian(value)
    third = torch.func.jacfwd(hessian)
    points = torch.as_tensor(np.array(X), dtype=torch.float64)
    both = _call(
        "the potential",
        instead,
        lambda: torch.func.vmap(lambda x: (hessian(x), third(x)))(points),
    )
    return _array(both[0], "the potential", instead), _array(both[1], "the potential", instead)


def jacobian_and_hessian(function: Callable[[Any], Any], X: Array, what: str) -> tuple[Array, Array]:
    """Jacobian (N, r, d) and Hessians (N, r, d, d) of a batched function (N, d) → (N, r) or (N,)."""
    instead = "pass its derivatives"
    torch = _torch(f"{what} given as a function", instead)

    def single(x: Any) -> Any:
        return torch.atleast_1d(function(x[None])[0])

    jacobian, hessian = torch.func.jacrev(single), torch.func.hessian(single)
    points = torch.as_tensor(np.array(X), dtype=torch.float64)
    both = _call(what, instead, lambda: torch.func.vmap(lambda x: (jacobian(x), hessian(x)))(points))
    return _array(both[0], what, instead), _array(both[1], what, instead)


def evaluate(function: Callable[[Any], Any], X: Array, what: str) -> Array:
    """Values of a batched function that was written for torch tensors."""
    torch = _torch(f"{what} given as a function", "pass its derivatives")
    points = torch.as_tensor(np.array(X), dtype=torch.float64)
    instead = "pass its derivatives"
    return _array(_call(what, instead, lambda: function(points)), what, instead)


def column_divergence(function: Callable[[Any], Any], X: Array) -> tuple[Array, Array]:
    """Values (N, …) of a batched matrix field and its column divergence (N, d).

    `function` maps (N, d) to (N, d, d), to (N, d) for a diagonal field, or to (N,) for a multiple of the identity.
    """
    instead = "pass divergence="
    torch = _torch("a generator given without its divergence", instead)

    def single(x: Any) -> Any:
        return function(x[None])[0]

    points = torch.as_tensor(np.array(X), dtype=torch.float64)
    values = _array(_call("the generator", instead, lambda: function(points)), "the generator", instead)
    n, d = X.shape
    if values.shape not in ((n,), (n, d), (n, d, d)):
        raise SpecificationError(
            f"D returned shape {values.shape} for {n} points in {d} dimensions; "
            f"expected {(n, d, d)}, {(n, d)} (diagonal) or {(n,)} (times the identity)."
        )
    jacobian = _call("the generator", instead, lambda: torch.func.vmap(torch.func.jacrev(single))(points))
    if values.ndim == 1:
        divergence = jacobian
    elif values.ndim == 2:
        divergence = torch.einsum("njj->nj", jacobian)
    else:
        divergence = torch.einsum("niji->nj", jacobian)
    return values, _array(divergence, "the generator", instead)
