"""What a checkpoint may hold, compared with what a training expects, before any of it is used.

Nothing here is trusted: names, kinds, shapes and ranges are those of the training that goes on, and states of random numbers are tried on
a generator of their own first.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor


class UnfitError(Exception):
    """Why a part of a checkpoint cannot be used."""


def check_plain(value: Any, where: str) -> None:
    """Refuse to write what could not be read again: anything but tensors, numbers, text, and collections of them."""
    if value is None or type(value) in (Tensor, torch.nn.Parameter, bool, int, float, str, bytes):
        return
    if type(value) in (list, tuple):
        for k, part in enumerate(value):
            check_plain(part, f"{where}[{k}]")
    elif type(value) in (dict, OrderedDict):
        for key, part in value.items():
            if type(key) not in (str, int):
                raise UnfitError(f"{where} has a key of type {type(key).__name__}")
            check_plain(part, f"{where}.{key}")
    else:
        raise UnfitError(f"{where} is of type {type(value).__name__}")


def entry(found: Any, name: str) -> Any:
    """A part of a checkpoint by name."""
    if not isinstance(found, dict) or name not in found:
        raise UnfitError(f"{name!r} is missing")
    return found[name]


def tensor(found: Any, like: Tensor, what: str) -> Tensor:
    """A tensor of the same kind and shape."""
    if not isinstance(found, Tensor) or found.layout is not torch.strided or found.is_quantized:
        raise UnfitError(f"{what} is no tensor")
    if found.dtype != like.dtype or found.shape != like.shape:
        kinds = [f"{str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}" for t in (like, found)]
        raise UnfitError(f"{what} should be {kinds[0]}, and is {kinds[1]}")
    return found.detach()


def tensors(found: Any, own: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The state of a network with the names, kinds and shapes of its `own`."""
    if not isinstance(found, dict) or set(found) != set(own):
        raise UnfitError(f"{what} has other layers")
    state: OrderedDict[str, Any] = OrderedDict()
    for name, like in own.items():
        state[name] = tensor(found[name], like, f"{what}.{name}") if isinstance(like, Tensor) else found[name]
    if hasattr(own, "_metadata"):
        state._metadata = own._metadata  # type: ignore[attr-defined]  # versions of the layers: ours, not the file's
    return state


def optimiser_state(found: Any, optimiser: torch.optim.Optimizer, what: str) -> dict[str, Any]:
    """The state of an optimiser: its own settings, the learning rate and the running averages of the file."""
    own, parameters = (
        optimiser.state_dict()["param_groups"],
        [p for group in optimiser.param_groups for p in group["params"]],
    )
    groups, states = entry(found, "param_groups"), entry(found, "state")
    if not isinstance(groups, list) or len(groups) != len(own) or not isinstance(states, dict):
        raise UnfitError(f"{what} is that of other parameters")
    taken = []
    for group, ours in zip(groups, own, strict=True):
        rate = number(entry(group, "lr"), f"{what}.lr")
        if not 0.0 <= rate < math.inf or any(not _same(group[k], ours[k]) for k in ours if k in group and k != "lr"):
            raise UnfitError(f"{what} has other settings")
        taken.append({**ours, "lr": rate})
    layout = _layout(optimiser)
    checked: dict[int, dict[str, Any]] = {}
    for k, values in states.items():
        if (
            type(k) is not int
            or not 0 <= k < len(parameters)
            or not isinstance(values, dict)
            or set(values) != set(layout)
        ):
            raise UnfitError(f"{what} is that of other parameters or of another optimiser")
        checked[k] = {
            name: _average(values[name], layout[name], parameters[k], f"{what}.{k}.{name}") for name in layout
        }
    return {"state": checked, "param_groups": taken}


def _layout(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """What this optimiser keeps of a parameter: names, and what is kept of one of 2 × 3 numbers."""
    example = torch.zeros(2, 3, requires_grad=True)
    example.grad = torch.zeros(2, 3)
    settings = {k: v for k, v in optimiser.param_groups[0].items() if k != "params"}
    twin = type(optimiser)([{"params": [example], **settings}])  # type: ignore[call-arg]
    twin.step()
    kept: dict[str, Any] = twin.state_dict()["state"].get(0, {})
    return kept


def _average(found: Any, example: Any, parameter: Tensor, what: str) -> Any:
    if not isinstance(example, Tensor):
        if type(found) is not type(example):
            raise UnfitError(f"{what} is of another kind")
        return found
    return tensor(found, parameter if example.shape == (2, 3) else example, what)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and not isinstance(a, Tensor) and bool(a == b)


def random_numbers(found: Any, own: torch.Generator, what: str) -> Tensor:
    """The state of a generator of torch on the same kind of device."""
    state = tensor(found, own.get_state(), what)
    try:
        torch.Generator(device=own.device).set_state(state)
    except RuntimeError as error:
        raise UnfitError(f"{what} is no state of random numbers") from error
    return state


def numpy_numbers(found: Any, own: np.random.Generator, what: str) -> dict[str, Any]:
    """The state of a generator of numpy of the same kind."""
    try:
        trial = np.random.Generator(type(own.bit_generator)(0))
        trial.bit_generator.state = found
        state: dict[str, Any] = dict(trial.bit_generator.state)
    except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
        raise UnfitError(f"{what} is no state of random numbers") from error
    return state


def whole(found: Any, what: str, most: float = math.inf) -> int:
    """A whole number from 0 to `most`."""
    if type(found) is not int or not 0 <= found <= most:
        raise UnfitError(f"{what} is no whole number in its range")
    return found


def number(found: Any, what: str) -> float:
    """A number, not a truth value."""
    if type(found) not in (int, float):
        raise UnfitError(f"{what} is no number")
    return float(found)


def losses(found: Any, counter: str, last: int, columns: set[str]) -> list[dict[str, float]]:
    """Rows of numbers by names, with these columns at least; the counter goes up, and ends at `last`."""
    rows: list[Any] = found if isinstance(found, list) else [None]
    before = 0
    for row in rows:
        if not isinstance(row, dict) or not columns <= set(row) or any(type(name) is not str for name in row):
            raise UnfitError("history is no table of losses")
        for name, value in row.items():
            number(value, f"history.{name}")
        count = whole(entry(row, counter), f"history.{counter}", last)
        if count <= before:
            raise UnfitError(f"history.{counter} does not go up")
        before = count
    if before != last:
        raise UnfitError(f"history ends at {counter} {before}, not at {last}")
    return rows
