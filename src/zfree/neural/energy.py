"""Energies and scores that are networks, fitted on a domain."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from zfree.arrays import Array, Seed
from zfree.domains import Domain, Units
from zfree.errors import DataError, SpecificationError
from zfree.estimators.validation import column_names
from zfree.generators import Generator
from zfree.neural.devices import as_device
from zfree.neural.losses import Batch, Loss, as_loss
from zfree.neural.matching import energies
from zfree.neural.networks import Perceptron
from zfree.neural.progress import progress_bar
from zfree.neural.training import Plan, Trainer
from zfree.neural.turns import seeded
from zfree.neural.unnormalised import KEPT_STARTS, UnnormalisedDensity
from zfree.neural.weight_tensors import WeightTensors, as_array, as_generator, log_unit
from zfree.samplers import Chains


class EnergyModel(UnnormalisedDensity):
    r"""A density :math:`p(x) \propto e^{-E(x)}` on a domain, with E a network, fitted by generalized score matching.

    Parameters
    ----------
    network : torch.nn.Module, optional
        Rows (N, d) to energies (N,), or to scores (N, d) with ``output="score"``. A copy of it is trained. Without one, two
        hidden layers of 64 on standardised columns.
    domain : Domain, optional
        ℝᵈ by default.
    generator : Generator or str, optional
        D. By default ``Barrier(1.2, det_power=0)``, and a distance where the domain is not convex.
    loss : Loss or str
        ``"exact"`` (two dozen columns at most), ``"hutchinson"`` (any number), ``"mpf"``, ``"logistic"`` (energies only, no derivatives), or an
        object such as ``Flow(epsilon=0.01, contrast="kl")``.
    output : {"energy", "score"}
        What the network returns.
    optimiser : {"adam", "adamw", "rmsprop", "sgd"}
    learning_rate : float
        At the start; it falls to zero along a cosine.
    batch_size, epochs : int
    patience : int, optional
        Stop when the held-out score has not improved for so many epochs. The best parameters are kept in any case.
    validation : float
        Share of the rows held out.
    dtype : {"float32", "float64"}
    device : str
    checkpoint : path, optional
        Written after every epoch. If it exists, training goes on from there to the same parameters, bit for bit, as without
        the interruption.
    verbose : bool
        Show a progress bar (needs rich).
    random_state : int

    Attributes
    ----------
    network_ : torch.nn.Module
    history_ : list of dict
        Epoch, training loss and held-out score.
    best_epoch_, best_score_
    domain_, generator_

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> from zfree.neural import EnergyModel
    >>> X = np.random.default_rng(0).beta(2.0, 1.0, size=(2000, 1))
    >>> est = EnergyModel(domain=zf.Box([0.0], [1.0]), epochs=10).fit(X)
    >>> est.log_density([[0.2], [0.8]]).shape
    (2,)
    """

    def __init__(
        self,
        network: nn.Module | None = None,
        domain: Domain | None = None,
        generator: Generator | str | None = None,
        loss: Loss | str = "exact",
        *,
        output: str = "energy",
        optimiser: str = "adam",
        learning_rate: float = 5e-3,
        batch_size: int = 256,
        epochs: int = 100,
        patience: int | None = None,
        validation: float = 0.2,
        dtype: str = "float32",
        device: str = "cpu",
        checkpoint: str | Path | None = None,
        verbose: bool = False,
        random_state: int = 0,
    ) -> None:
        self.network = network
        self.domain = domain
        self.generator = generator
        self.loss = loss
        self.output = output
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.dtype = dtype
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on the rows of `X`, all of them strictly inside the domain."""
        rows = self._rows(X, reset=True)
        self._check_rows(rows, column_names(self, rows.shape[1], self.domain_.columns))
        loss, plan = as_loss(self.loss), self._plan()
        rng = np.random.default_rng(self.random_state)
        order = rng.permutation(len(rows))
        held = round(self.validation * len(rows))
        if not 0 < held < len(rows) - 1:
            raise SpecificationError(
                f"validation = {self.validation!r} holds out {held} of {len(rows)} rows; some are needed on either side."
            )
        generator = as_generator(self.generator, self.domain_)
        measuring = generator.in_units(Units.of(self.domain_, rows))
        unit = log_unit(measuring, self.domain_, rows)
        train, held_out = (
            self._batch(rows[part], measuring, unit, seed)
            for part, seed in ((np.sort(order[held:]), 1), (np.sort(order[:held]), 2))
        )
        # A generator of our own for initial values and dropout: the caller's is left as it was.
        with seeded(self.random_state), progress_bar(self.verbose, plan.epochs) as report:
            torch.manual_seed(self.random_state)  # that of the device too
            network = self._network(rows)
            trainer = Trainer(network, loss, self.output == "energy", train, held_out, plan, self.random_state)
            state = trainer.run(None if self.checkpoint is None else Path(self.checkpoint), report)
        self.network_, self.generator_, self._measuring, self._unit = network.eval(), generator, measuring, unit
        self.history_, self.best_epoch_, self.best_score_ = state.history, state.best_epoch, state.best_score
        self._starts = rows[rng.permutation(len(rows))[:KEPT_STARTS]]
        return self

    def _plan(self) -> Plan:
        if self.output not in ("energy", "score"):
            raise SpecificationError(f'output must be "energy" or "score", got {self.output!r}.')
        if self.dtype not in ("float32", "float64"):
            raise SpecificationError(f'dtype must be "float32" or "float64", got {self.dtype!r}.')
        return Plan(self.optimiser, self.learning_rate, self.batch_size, self.epochs, self.patience)

    @staticmethod
    def _check_rows(rows: Array, names: tuple[str, ...]) -> None:
        if len(rows) < 4:
            raise DataError(
                f"n_samples={len(rows)}: at least 4 rows are needed, many more for a useful fit. Collect more rows."
            )
        flat = np.flatnonzero(rows.min(axis=0) == rows.max(axis=0))
        if flat.size:
            raise DataError(f"column {names[flat[0]]!r} is constant: a network has nothing to learn from it. Drop it.")

    def _network(self, rows: Array) -> nn.Module:
        if self.network is not None:
            return copy.deepcopy(self.network).to(self._kind())
        d = rows.shape[1]
        return Perceptron(d, 1 if self.output == "energy" else d).standardise(rows).to(self._kind())

    def _kind(self) -> Any:
        return torch.zeros((), dtype=getattr(torch, self.dtype), device=as_device(self.device))

    def _batch(self, rows: Array, generator: Generator, unit: float, stream: int) -> Batch:
        tensor = torch.as_tensor(rows).to(self._kind())
        seed = int(np.random.SeedSequence([self.random_state, stream]).generate_state(1)[0])
        weight = WeightTensors.at(generator, self.domain_, rows, log_scale=unit).to(tensor)
        noise = torch.Generator(device=tensor.device).manual_seed(seed)
        return Batch(tensor, weight, self.domain_, generator, noise, np.random.default_rng(seed), unit)

    def _evaluate(self, X: Array) -> tuple[Array, Array]:
        tensor = torch.as_tensor(X).to(self._kind()).requires_grad_(True)
        if self.output == "score":
            return np.full(len(X), np.nan), as_array(self.network_(tensor))
        value = -energies(self.network_, tensor)
        (gradient,) = torch.autograd.grad(value.sum(), tensor)
        return as_array(value), as_array(gradient)

    def log_density(self, X: Any) -> Array:
        if self.output != "energy":
            raise SpecificationError("a score network has no density; fit with output='energy'.")
        return super().log_density(X)

    def chains(self, n: int, random_state: Seed = None, **options: Any) -> Chains:
        if self.output != "energy":
            raise SpecificationError("sampling with Metropolis' rule needs an energy; fit with output='energy'.")
        return super().chains(n, random_state, **options)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean scoring rule of new rows: larger is better, comparable under one generator and loss only."""
        check_is_fitted(self, "network_")
        rows = self._batch(self._rows(X, reset=False), self._measuring, self._unit, 3)
        trainer = Trainer(self.network_, as_loss(self.loss), self.output == "energy", rows, rows, self._plan(), 0)
        return -float(trainer.validate().mean())
