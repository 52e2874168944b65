"""Implicit variational autoencoders whose entropy gradient comes from score matching (appendix, last section)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from zfree.arrays import Array, Seed
from zfree.conversion import random_generator
from zfree.errors import MissingDependencyError, SpecificationError
from zfree.generators import Generator, Identity, named
from zfree.neural.devices import as_device, evaluating
from zfree.neural.latent_likelihood import NegativeLogLikelihood, annealed_nll, importance_nll
from zfree.neural.pairs import Networks, Pair, PairNetwork, decoder_network
from zfree.neural.pixels import PixelModel, as_pixel_model, as_pixels
from zfree.neural.progress import iteration_bar, save_losses
from zfree.neural.score_check import ScoreCheck
from zfree.neural.turns import seeded
from zfree.neural.vae_training import AutoencoderTrainer
from zfree.neural.weight_tensors import as_array
from zfree.samplers.draws import check_number

CHUNK = 500
"""Images that go through the networks together, outside of training."""
PRIOR_STARTS = 3
"""Draws of the prior from which posterior modes are looked for, besides one of the encoder."""


class ImplicitVAE(BaseEstimator):
    r"""A variational autoencoder with an implicit encoder z = h(x, ε), trained as in Song et al. (2019) with Hutchinson GSM.

    The encoder has no density, so the gradient of its entropy is taken from a score network s(x, z) ≈ ∇_z log q(z | x), trained on the encoder's own
    draws. Every iteration updates the score network once and then the autoencoder once, on
    :math:`-\log p(x \mid z) + \tfrac12\|z\|^2 + \mathrm{stop}(s(x, z))\cdot z` with fresh noise.

    Parameters
    ----------
    encoder : Pair, optional
        (x, noise) to z, such as a :class:`PairNetwork` or a :class:`ConvolutionalPair`. Two hidden layers of 256 with tanh by
        default; so are the others.
    decoder : torch.nn.Module, optional
        z to rows of what `pixels` takes: logits for Bernoulli pixels, means in [−1, 1] for Gaussian ones.
    score_network : Pair, optional
        (x, z) to s.
    generator : Generator or str, optional
        D of the score matching, diagonal: ``Identity()`` (sliced score matching with variance reduction) by default;
        ``CoordinateWeight("sigmoid")``, ``CoordinateWeight("exp(-|x|)")``, ``CoordinateWeight("exp(-x^2)")`` are the paper's others.
    pixels : {"bernoulli", "gaussian"} or PixelModel
        p(x | z): pixels that are black or white with the probability of their intensity, drawn anew in every batch; or intensities
        in [−1, 1], with noise within a byte, that are Gaussian around the decoder's output.
    latent : int
        Columns of z and of the noise, for the default networks.
    iterations : int
        In all; a checkpoint of a shorter training is continued, one of a longer is refused.
    batch_size : int
    learning_rate : float
        Of both RMSprop optimisers.
    checkpoint : path, optional
        Written every `checkpoint_every` iterations; if it exists, training goes on from there, to the same bits.
    checkpoint_every : int
    log : path, optional
        A CSV file with the losses, renewed with every checkpoint.
    plot : path, optional
        A picture of the losses (``.png``), renewed with every checkpoint (needs matplotlib).
    monitor : callable, optional
        Asked every `monitor_every` iterations for numbers by name about the estimator as it is then, such as
        ``lambda est: {"validation": est.nll(X_validation).mean}``. They join the history, the log and the checkpoint.
        Also asked at the end. An estimator whose monitor is a lambda cannot be pickled; a function of a module can.
    monitor_every : int
    device : str
        Of torch: ``"cpu"``, ``"cuda"``, …
    verbose : bool
        Show a progress bar (needs rich).
    random_state : int

    Attributes
    ----------
    encoder_, decoder_, score_network_ : torch.nn.Module
    history_ : list of dict
        Means over the iterations since the last entry.
    seconds_ : float
        Processor time of the updates, over all sessions of a training that was interrupted.
    """

    def __init__(
        self,
        encoder: Pair | None = None,
        decoder: nn.Module | None = None,
        score_network: Pair | None = None,
        generator: Generator | str | None = None,
        *,
        pixels: PixelModel | str = "bernoulli",
        latent: int = 8,
        iterations: int = 100_000,
        batch_size: int = 128,
        learning_rate: float = 1e-3,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 1000,
        log: str | Path | None = None,
        plot: str | Path | None = None,
        monitor: Callable[[ImplicitVAE], dict[str, float]] | None = None,
        monitor_every: int = 10_000,
        device: str = "cpu",
        verbose: bool = False,
        random_state: int = 0,
    ) -> None:
        self.encoder = encoder
        self.decoder = decoder
        self.score_network = score_network
        self.generator = generator
        self.pixels = pixels
        self.latent = latent
        self.iterations = iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.log = log
        self.plot = plot
        self.monitor = monitor
        self.monitor_every = monitor_every
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on images (N, pixels), as intensities in [0, 1] or as bytes; bytes may be a memory map."""
        pixels = as_pixels(X)
        self.n_features_in_ = pixels.shape[1]
        self._check(len(pixels))
        for name in ("history_", "seconds_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        trainer = AutoencoderTrainer(
            self._networks(),
            self._generator(),
            pixels,
            self.batch_size,
            self.learning_rate,
            self.random_state,
            as_pixel_model(self.pixels),
            self.device,
        )
        path = None if self.checkpoint is None else Path(self.checkpoint)
        self.encoder_, self.decoder_, self.score_network_ = trainer.networks  # for the monitor to ask
        monitor = None if self.monitor is None else partial(self.monitor, self)
        with iteration_bar(self.verbose, self.iterations) as show:

            def report(history: list[dict[str, float]]) -> None:
                self.history_, self.seconds_ = history, trainer.seconds
                save_losses(history, self.log, self.plot)
                show(history)

            trainer.run(self.iterations, path, self.checkpoint_every, report, monitor, self.monitor_every)
        if not hasattr(self, "history_"):  # a checkpoint of the whole training: nothing was left to do
            self.history_, self.seconds_ = trainer.history, trainer.seconds
            save_losses(trainer.history, self.log, self.plot)
        return self

    def _check(self, n_rows: int) -> None:
        """Refuse settings that would fail, or mean nothing, after the first iterations."""
        whole = {name: getattr(self, name) for name in ("iterations", "checkpoint_every", "monitor_every")}
        for name, value in whole.items():
            if value < 1:
                raise SpecificationError(f"{name} must be at least 1, got {value!r}.")
        if not self.learning_rate > 0 or not 1 <= self.batch_size <= n_rows:
            raise SpecificationError(
                f"learning_rate must be positive, and batch_size between 1 and the {n_rows} rows; got {self.learning_rate!r} "
                f"and {self.batch_size!r}."
            )
        for name in ("checkpoint", "log", "plot"):
            path = getattr(self, name)
            if path is not None and not Path(path).absolute().parent.is_dir():
                raise SpecificationError(f"{name}={str(path)!r} is in a folder that does not exist. Make it first.")
        if self.plot is not None and Path(self.plot).suffix != ".png":
            raise SpecificationError(f"plot must be a .png file, got {str(self.plot)!r}.")
        if self.plot is not None and find_spec("matplotlib") is None:
            raise MissingDependencyError("plot= needs matplotlib: run `pip install zfree[plot]`.")
        as_device(self.device)

    def _networks(self) -> Networks:
        pixels, latent = self.n_features_in_, self.latent
        with seeded(self.random_state):
            encoder = PairNetwork(pixels, latent, latent) if self.encoder is None else copy.deepcopy(self.encoder)
            decoder = decoder_network(latent, pixels) if self.decoder is None else copy.deepcopy(self.decoder)
            score = (
                PairNetwork(pixels, latent, latent) if self.score_network is None else copy.deepcopy(self.score_network)
            )
        return Networks(encoder, decoder, score)

    def _generator(self) -> Generator:
        if self.generator is None:
            return Identity()
        generator = named(self.generator) if isinstance(self.generator, str) else self.generator
        if not isinstance(generator, Generator):
            raise SpecificationError(f"generator must be a generator such as zf.Identity(), got {self.generator!r}.")
        return generator

    def encode(self, X: Any, random_state: Seed = None) -> Array:
        """One draw of z for every row."""
        return np.concatenate([as_array(z) for _, z in self._encode(X, random_state)])

    def _encode(self, X: Any, random_state: Seed) -> Iterator[tuple[Tensor, Tensor]]:
        """What the networks see of the rows and a draw of z for them, some at a time."""
        check_is_fitted(self, "encoder_")
        pixels, rng = as_pixels(X, self.n_features_in_), np.random.default_rng(random_state)
        for start in range(0, len(pixels), CHUNK):
            x, noise = self._draw(pixels[start : start + CHUNK], rng)
            with evaluating(self.encoder_), torch.no_grad():
                z = self.encoder_(x, self._noise(len(x), noise))
            yield x, z

    def _draw(self, X: Any, random_state: Seed) -> tuple[Tensor, torch.Generator]:
        seed = int(np.random.default_rng(random_state).integers(2**31))
        noise = torch.Generator(device=self.device).manual_seed(seed)
        stored = torch.as_tensor(as_pixels(X, self.n_features_in_)).to(self.device)
        return as_pixel_model(self.pixels).draw(stored, noise), noise

    def _noise(self, n: int, noise: torch.Generator) -> Tensor:
        return torch.randn(n, self.encoder_.n_second, generator=noise, device=self.device)

    def score_check(self, X: Any, *, random_state: Seed = 0) -> ScoreCheck:
        """One draw of the encoder for every image, and what the score network says there.

        Parameters
        ----------
        X : array_like
            Images, thousands rather than hundreds.
        random_state : int, Generator or None
        """
        check_is_fitted(self, "score_network_")
        with evaluating(self.score_network_), torch.no_grad():
            found = [(as_array(z), as_array(self.score_network_(x, z))) for x, z in self._encode(X, random_state)]
        return ScoreCheck(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def reconstruct(self, X: Any, random_state: Seed = None) -> Array:
        """Mean intensities of the pixels, in [0, 1], after encoding and decoding each row."""
        return np.concatenate([self._decode(z) for _, z in self._encode(X, random_state)])

    def _decode(self, z: Tensor) -> Array:
        model = as_pixel_model(self.pixels)
        with evaluating(self.decoder_), torch.no_grad():
            return np.concatenate([as_array(model.intensity(self.decoder_(points))) for points in z.split(CHUNK)])

    def nll(
        self, X: Any, *, method: str = "importance", samples: int = 500, random_state: Seed = 0, **options: Any
    ) -> NegativeLogLikelihood:
        """−log p(x) of images, drawn once by the model of the pixels.

        Parameters
        ----------
        X : array_like
        method : {"importance", "annealed"}
            Importance sampling around the posterior modes of each image, fast; or annealed importance sampling from the prior, slow and independent
            of the encoder.
        samples : int
            Draws per image of importance sampling.
        random_state : int, Generator or None
        **options
            Of :func:`zfree.neural.latent_likelihood.annealed_nll`: ``chains``, ``temperatures``, ``leapfrogs``.
        """
        check_is_fitted(self, "decoder_")
        if method not in ("importance", "annealed"):
            raise SpecificationError(f'method must be "importance" or "annealed", got {method!r}.')
        x, noise = self._draw(X, random_state)
        model = as_pixel_model(self.pixels)
        with evaluating(self.encoder_, self.decoder_):
            if method == "annealed":
                return annealed_nll(self.decoder_, x, self._latent(), pixels=model, noise=noise, **options)
            # One mode is where the encoder points; others are looked for from the prior.
            prior = torch.randn(PRIOR_STARTS, len(x), self._latent(), generator=noise, device=self.device)
            starts = torch.cat([self._start(x, self._noise(len(x), noise))[None], prior])
            return importance_nll(self.decoder_, x, starts, pixels=model, samples=samples, noise=noise, **options)

    def _start(self, x: Tensor, noise: Tensor) -> Tensor:
        with torch.no_grad():
            pieces = zip(x.split(CHUNK), noise.split(CHUNK), strict=True)
            return torch.cat([self.encoder_(*piece) for piece in pieces])

    def sample(self, n: int, random_state: Seed = None) -> Array:
        """Mean intensities of the pixels, in [0, 1], for `n` draws of z from its prior, a standard Gaussian."""
        check_is_fitted(self, "decoder_")
        rng, n = random_generator(random_state), check_number(n, self.n_features_in_)
        z = torch.as_tensor(rng.standard_normal((n, self._latent()))).float()
        return self._decode(z.to(self.device))

    def _latent(self) -> int:
        return self.score_network_.n_second
