"""One score update, then one autoencoder update; again and again, and the same after an interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from zfree.domains import RealSpace
from zfree.errors import DataError, SpecificationError
from zfree.generators import Generator
from zfree.neural.checkpoints import check_place, identity, load_checkpoint, restoring, save_checkpoint
from zfree.neural.matching import hutchinson_rule
from zfree.neural.pairs import Networks
from zfree.neural.pixels import PIXEL_MODELS, PixelModel
from zfree.neural.plain_data import (
    UnfitError,
    entry,
    losses,
    number,
    optimiser_state,
    random_numbers,
    tensor,
    tensors,
    whole,
)
from zfree.neural.sparse_rows import SparseRows
from zfree.neural.turns import torch_threads
from zfree.neural.weight_tensors import WeightTensors


class AutoencoderTrainer:
    """The state of a training and the step that advances it."""

    def __init__(
        self,
        networks: Networks,
        generator: Generator,
        pixels: NDArray[Any],
        batch_size: int,
        learning_rate: float,
        seed: int,
        model: PixelModel = PIXEL_MODELS["bernoulli"],
        device: str = "cpu",
    ) -> None:
        self.networks, self.generator, self.batch_size = networks, generator, batch_size
        self.pixels, self.model, self.device = torch.as_tensor(pixels), model, device
        for network in networks:
            network.to(device)
        self._seed, self.noise = seed, torch.Generator(device=device).manual_seed(seed)
        self._domain = RealSpace(networks.score.n_second)
        # RMSprop with ε outside the root, as published.
        autoencoder = [*networks.encoder.parameters(), *networks.decoder.parameters()]
        self._score_optimiser, self._optimiser = (
            torch.optim.RMSprop(parameters, lr=learning_rate, alpha=0.99, eps=1e-8, foreach=True)
            for parameters in (list(networks.score.parameters()), autoencoder)
        )
        self._order, self._position = torch.empty(0, dtype=torch.int64), 0
        self._sums = torch.zeros(3, dtype=torch.float64, device=self.device)
        self.iteration, self.seconds = 0, 0.0
        self.history: list[dict[str, float]] = []

    def run(
        self,
        iterations: int,
        checkpoint: Path | None,
        every: int,
        report: Callable[[list[dict[str, float]]], None] = lambda history: None,
        monitor: Callable[[], dict[str, float]] | None = None,
        monitor_every: int = 10_000,
    ) -> None:
        """Advance to `iterations`, from a checkpoint if there is one; what `monitor` finds joins the history."""
        if checkpoint is not None:
            check_place(checkpoint)
            if checkpoint.exists():
                self._restore(checkpoint)
        if self.iteration > iterations:
            raise SpecificationError(
                f"the checkpoint {checkpoint} has gone {self.iteration} iterations already, more than the {iterations} asked for. "
                "Ask for more, or use another file."
            )
        size = sum(p.numel() for network in self.networks for p in network.parameters())
        with torch_threads(size // 10):  # products of 128 rows: one thread up to two million parameters
            while self.iteration < iterations:
                start = time.process_time()
                self.step()
                self.seconds += time.process_time() - start
                last = self.iteration == iterations
                watch = monitor is not None and (last or self.iteration % monitor_every == 0)
                if watch or last or self.iteration % every == 0:
                    self._record(monitor if watch else None)
                    if checkpoint is not None:
                        self._save(checkpoint)
                    report(self.history)

    def step(self) -> None:
        """Update the score network once, then the encoder and the decoder once."""
        encoder, decoder, score = self.networks
        x = self.model.draw(self.pixels[self._batch()].to(self.device), self.noise)
        seen = self._seen(x)
        image = encoder.image(seen)  # used by both updates
        with torch.no_grad():
            z = encoder.join(image, self._draw(len(x)))
        matching = self._score_loss(seen, z)
        _descend(matching, self._score_optimiser)

        z = encoder.join(image, self._draw(len(x)))
        with torch.no_grad():
            s = score(seen, z)
        misfit = self.model.misfit(decoder(z), x)
        prior = 0.5 * (z**2).sum(dim=1)
        loss = (misfit + prior + (s * z).sum(dim=1)).mean()
        _descend(loss, self._optimiser)
        with torch.no_grad():  # on the device: a number fetched in every iteration would hold up the next
            self._sums += torch.stack([misfit.mean(), prior.mean(), matching])
        self.iteration += 1

    def _seen(self, x: Tensor) -> Tensor | SparseRows:
        """The images as the encoder and the score network take them fastest."""
        encoder, _, score = self.networks
        sparse = SparseRows.of(x) if encoder.takes_sparse and score.takes_sparse else None
        return x if sparse is None else sparse

    def _score_loss(self, x: Tensor | SparseRows, z: Tensor) -> Tensor:
        score = self.networks.score
        image = score.image(x)
        weight = WeightTensors.at(self.generator, self._domain, z)
        return hutchinson_rule(lambda points: score.join(image, points), z, weight, generator=self.noise).mean()

    def _draw(self, n: int) -> Tensor:
        return torch.randn(n, self.networks.encoder.n_second, generator=self.noise, device=self.device)

    def _batch(self) -> Tensor:
        if self._position + self.batch_size > len(self._order):
            shuffled = torch.randperm(len(self.pixels), generator=self.noise, device=self.device)
            self._order, self._position = shuffled.cpu(), 0
        start = self._position
        self._position += self.batch_size
        return self._order[start : self._position]

    def _record(self, monitor: Callable[[], dict[str, float]] | None) -> None:
        if not torch.isfinite(self._sums).all():
            raise DataError(f"the loss is no longer finite at iteration {self.iteration}. Lower the learning rate.")
        since = self.iteration - (self.history[-1]["iteration"] if self.history else 0)
        misfit, prior, matching = (self._sums / since).tolist()
        row = {"iteration": self.iteration, "misfit": misfit, "prior": prior, "score_loss": matching}
        found = monitor() if monitor is not None else {}
        plain = {name: _plain(value) for name, value in found.items()} if isinstance(found, dict) else None
        if plain is None or set(plain) & set(row) or any(value is None for value in plain.values()):
            raise SpecificationError(
                f"monitor must return numbers by names other than {', '.join(row)}, in a dictionary; got {found!r}."
            )
        self.history.append({**row, **{name: value for name, value in plain.items() if value is not None}})
        self._sums = torch.zeros(3, dtype=torch.float64, device=self.device)

    @cached_property
    def _what(self) -> str:
        # Random numbers differ between kinds of devices.
        kind = torch.device(self.device).type
        rate = self._optimiser.param_groups[0]["lr"]
        settings = f"{self.generator!r} {self.model!r} {self.batch_size} {rate} {self._seed} {kind}"
        return identity(settings, list(self.networks), self.pixels)

    def _save(self, path: Path) -> None:
        content = {
            "networks": [network.state_dict() for network in self.networks],
            "optimisers": [self._score_optimiser.state_dict(), self._optimiser.state_dict()],
            "noise": self.noise.get_state(),
            "order": (self._order, self._position),
            "iteration": self.iteration,
            "seconds": self.seconds,
            "history": self.history,
        }
        save_checkpoint(path, self._what, content)

    def _restore(self, path: Path) -> None:
        content, optimisers = load_checkpoint(path, self._what), (self._score_optimiser, self._optimiser)
        with restoring(path):  # all of it is checked before any of it is used
            parameters = [
                tensors(found, network.state_dict(), f"networks[{k}]")
                for k, (found, network) in enumerate(_pairs(entry(content, "networks"), self.networks))
            ]
            states = [
                optimiser_state(found, optimiser, f"optimisers[{k}]")
                for k, (found, optimiser) in enumerate(_pairs(entry(content, "optimisers"), optimisers))
            ]
            noise = random_numbers(entry(content, "noise"), self.noise, "noise")
            order, position = self._shuffled(entry(content, "order"))
            iteration, seconds = (
                whole(entry(content, "iteration"), "iteration"),
                number(entry(content, "seconds"), "seconds"),
            )
            history = losses(entry(content, "history"), "iteration", iteration, {"misfit", "prior", "score_loss"})
        for network, state in zip(self.networks, parameters, strict=True):
            network.load_state_dict(state)
        for optimiser, state in zip(optimisers, states, strict=True):
            optimiser.load_state_dict(state)
        self.noise.set_state(noise)
        self._order, self._position = order, position
        self.iteration, self.seconds, self.history = iteration, seconds, history

    def _shuffled(self, found: Any) -> tuple[Tensor, int]:
        """Which rows come next: every row once, and how many of them have been."""
        if not isinstance(found, tuple) or len(found) != 2:
            raise UnfitError("order is no order of rows")
        n = len(self.pixels)
        order = tensor(found[0], torch.empty(n, dtype=torch.int64), "order")
        if not torch.equal(order.sort().values, torch.arange(n)):
            raise UnfitError("order is no order of rows")
        return order, whole(found[1], "order", n)


def _plain(value: Any) -> float | None:
    """A number of Python's own, from one of numpy or torch too; a checkpoint holds nothing else."""
    if hasattr(value, "item"):
        try:
            value = value.item()
        except (ValueError, RuntimeError):  # more than one number
            return None
    return value if type(value) in (int, float) else None


def _pairs(found: Any, own: Sequence[Any]) -> list[tuple[Any, Any]]:
    if not isinstance(found, list) or len(found) != len(own):
        raise UnfitError("it has other networks")
    return list(zip(found, own, strict=True))


def _descend(loss: Tensor, optimiser: torch.optim.Optimizer) -> None:
    """One update. Gradients are taken of the optimiser's parameters alone (not of z), and need no zeroing."""
    parameters = optimiser.param_groups[0]["params"]
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
        parameter.grad = gradient
    optimiser.step()
