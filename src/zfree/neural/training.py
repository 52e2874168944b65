"""Minibatch training with a held-out score, checkpoints and exact resume."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zfree.errors import DataError, SpecificationError
from zfree.neural.checkpoints import check_place, identity, load_checkpoint, restoring, save_checkpoint
from zfree.neural.losses import Batch, Loss
from zfree.neural.plain_data import (
    entry,
    losses,
    number,
    numpy_numbers,
    optimiser_state,
    random_numbers,
    tensor,
    tensors,
    whole,
)
from zfree.neural.turns import torch_threads

OPTIMISERS: dict[str, Any] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "rmsprop": torch.optim.RMSprop,
    "sgd": torch.optim.SGD,
}
VALIDATION_SEED = 2**31 - 1
"""The held-out score sees the same probes and neighbours after every epoch."""

EpochListener = Callable[["State"], None]


@dataclass
class State:
    """Where the training is: everything that a checkpoint holds besides the networks' and generators' own states."""

    epoch: int = 0
    lowest_epoch: int = 0
    """When the held-out score was lowest: patience counts from there."""
    lowest_score: float = float("inf")
    best_epoch: int = 0
    """Whose parameters are kept; see ``Trainer._no_worse``."""
    best_score: float = float("inf")
    best_rows: Tensor | None = None
    """Scoring rule of every held-out row with the best parameters."""
    best_parameters: dict[str, Tensor] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """How to train."""

    optimiser: str = "adam"
    learning_rate: float = 1e-3
    batch_size: int = 256
    epochs: int = 200
    patience: int | None = None

    def check(self) -> None:
        """Refuse what makes no sense."""
        if self.optimiser not in OPTIMISERS:
            raise SpecificationError(f"no optimiser is called {self.optimiser!r}; there are {', '.join(OPTIMISERS)}.")
        if not self.learning_rate > 0 or self.batch_size < 1 or self.epochs < 1:
            raise SpecificationError("learning_rate must be positive, batch_size and epochs at least 1.")


class Trainer:
    """A network, a loss and rows to train and to validate on."""

    def __init__(
        self, network: nn.Module, loss: Loss, energy: bool, train: Batch, held_out: Batch, plan: Plan, seed: int
    ) -> None:
        plan.check()
        self.network, self.loss, self.energy, self.plan = network, loss, energy, plan
        self.train_rows, self.held_out = train, held_out
        self.order = torch.Generator().manual_seed(seed)
        self.optimiser = OPTIMISERS[plan.optimiser](network.parameters(), lr=plan.learning_rate)
        self.state = State()

    def run(self, checkpoint: Path | None = None, report: EpochListener = lambda state: None) -> State:
        """Train from where the checkpoint is, or from the start, to the last epoch or until nothing improves."""
        if checkpoint is not None:
            check_place(checkpoint)
            if checkpoint.exists():
                self._restore(checkpoint)
        with torch_threads(sum(p.numel() for p in self.network.parameters())):
            while self.state.epoch < self.plan.epochs and not self._stuck():
                loss = self._epoch()
                self._record(loss)
                if checkpoint is not None:
                    self._save(checkpoint)
                report(self.state)
        self.network.load_state_dict(self.state.best_parameters)
        return self.state

    def _stuck(self) -> bool:
        patience = self.plan.patience
        return patience is not None and self.state.epoch - self.state.lowest_epoch >= patience

    def _epoch(self) -> float:
        rows, plan = self.train_rows, self.plan
        self._set_rate()
        self.network.train()
        total, n = 0.0, len(rows.X)
        for index in torch.randperm(n, generator=self.order).split(plan.batch_size):
            index = index.to(rows.X.device)
            value = self.loss.of(self.network, rows.rows(index), energy=self.energy).mean()
            if not torch.isfinite(value):
                raise DataError(
                    f"the loss became {value.item()} in epoch {self.state.epoch + 1}. Lower the learning rate, or use a generator "
                    "that vanishes faster at the boundary."
                )
            self.optimiser.zero_grad()
            value.backward()
            self.optimiser.step()
            total += float(value.detach()) * len(index) / n
        return total

    def _set_rate(self) -> None:
        """Lower the learning rate to zero along a cosine."""
        share = self.state.epoch / self.plan.epochs
        for group in self.optimiser.param_groups:
            group["lr"] = float(self.plan.learning_rate * 0.5 * (1.0 + np.cos(np.pi * share)))

    def _record(self, loss: float) -> None:
        state = self.state
        state.epoch += 1
        rows = self.validate()
        score = float(rows.mean())
        state.history.append({"epoch": state.epoch, "loss": loss, "held_out": score})
        if score < state.lowest_score:
            state.lowest_score, state.lowest_epoch = score, state.epoch
        if self._no_worse(rows):
            state.best_score, state.best_epoch, state.best_rows = score, state.epoch, rows
            state.best_parameters = copy.deepcopy(self.network.state_dict())

    def _no_worse(self, rows: Tensor) -> bool:
        """Whether these parameters are at most a standard error worse than the best ones, on the same held-out rows.

        A held-out score is noisy, a few rows near the boundary decide it; the smallest of many is an accident of an early epoch.
        Parameters that are as good as chance can tell are better when they are later, with a smaller learning rate.
        """
        best = self.state.best_rows
        if best is None:
            return True
        gap = rows - best
        return bool(gap.mean() <= gap.std() / len(gap) ** 0.5)

    def validate(self, batch_size: int = 4096) -> Tensor:
        """Scoring rule of the held-out rows, always with the same random numbers."""
        noise = torch.Generator(device=self.held_out.X.device).manual_seed(VALIDATION_SEED)
        rows = replace(self.held_out, noise=noise, rng=np.random.default_rng(VALIDATION_SEED))
        self.network.eval()
        values = []
        for index in torch.arange(len(rows.X), device=rows.X.device).split(batch_size):
            values.append(self.loss.of(self.network, rows.rows(index), energy=self.energy).detach())
        return torch.cat(values).double()

    def _what(self) -> str:
        rows = self.train_rows
        settings = f"{self.plan!r} {self.loss!r} {self.energy} {rows.domain!r} {rows.generator!r}"
        return identity(settings, [self.network], rows.X)

    def _save(self, path: Path) -> None:
        rows = self.train_rows
        content = {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "order": self.order.get_state(),
            "noise": rows.noise.get_state(),
            "rng": rows.rng.bit_generator.state,
            "torch": torch.get_rng_state(),
            "state": {f.name: getattr(self.state, f.name) for f in fields(State)},
        }
        save_checkpoint(path, self._what(), content)

    def _restore(self, path: Path) -> None:
        content, rows, network = load_checkpoint(path, self._what()), self.train_rows, self.network.state_dict()
        with restoring(path):  # all of it is checked before any of it is used
            parameters = tensors(entry(content, "network"), network, "network")
            optimiser = optimiser_state(entry(content, "optimiser"), self.optimiser, "optimiser")
            order = random_numbers(entry(content, "order"), self.order, "order")
            noise = random_numbers(entry(content, "noise"), rows.noise, "noise")
            rng = numpy_numbers(entry(content, "rng"), rows.rng, "rng")
            common = random_numbers(entry(content, "torch"), torch.default_generator, "torch")
            state = self._state(entry(content, "state"), network)
        self.network.load_state_dict(parameters)
        self.optimiser.load_state_dict(optimiser)
        self.order.set_state(order)
        rows.noise.set_state(noise)
        rows.rng.bit_generator.state = rng
        torch.set_rng_state(common)
        self.state = state

    def _state(self, found: Any, network: dict[str, Any]) -> State:
        epoch = whole(entry(found, "epoch"), "epoch", self.plan.epochs)
        history = losses(entry(found, "history"), "epoch", epoch, {"loss", "held_out"})
        values = torch.zeros(len(self.held_out.X), dtype=torch.float64)
        return State(
            epoch,
            whole(entry(found, "lowest_epoch"), "lowest_epoch", epoch),
            number(entry(found, "lowest_score"), "lowest_score"),
            whole(entry(found, "best_epoch"), "best_epoch", epoch),
            number(entry(found, "best_score"), "best_score"),
            tensor(entry(found, "best_rows"), values, "best_rows").to(self.held_out.X.device),
            tensors(entry(found, "best_parameters"), network, "best_parameters"),
            history,
        )
