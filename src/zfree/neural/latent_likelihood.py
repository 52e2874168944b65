r"""The likelihood of a decoder, :math:`\log p(x) = \log\int p(x\mid z)N(z; 0, I)dz`, by importance sampling and by annealing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from zfree.arrays import Array
from zfree.autodiff import torch_func
from zfree.neural.pixels import PIXEL_MODELS, PixelModel

DEGREES = 8.0
"""Of freedom of the Student proposal: tails heavier than those of any posterior under a Gaussian prior."""
NEWTON_STEPS = 30
CLOSE = 1e-4
"""Squared length of a last step towards a mode, in standard deviations."""
JACOBIAN = 5_000_000
"""Derivatives of pixels by latents that are in memory together, at most."""
BERNOULLI = PIXEL_MODELS["bernoulli"]


@dataclass(frozen=True, eq=False)
class NegativeLogLikelihood:
    """−log p(x) of every image in nats, and how it was estimated.

    Attributes
    ----------
    values : ndarray of shape (N,)
    method : str
    effective_size : ndarray of shape (N,)
        Of the weights of each image.
    """

    values: Array
    method: str
    effective_size: Array

    @property
    def mean(self) -> float:
        """Over the images."""
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean over images like these."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self.values)))

    def __str__(self) -> str:
        return (
            f"NLL {self.mean:.2f} ± {self.standard_error:.2f} nats ({self.method}; {len(self.values)} images, median effective size "
            f"{np.median(self.effective_size):.0f})"
        )


def importance_nll(
    decoder: nn.Module,
    x: Tensor,
    starts: Tensor,
    *,
    pixels: PixelModel = BERNOULLI,
    samples: int = 500,
    noise: torch.Generator,
) -> NegativeLogLikelihood:
    """Importance sampling around the posterior modes of every image.

    A posterior often has several. Draws around one of them alone would leave out the mass of the others, unseen, so the proposal is a
    mixture over the modes found from all starts.

    Parameters
    ----------
    decoder : torch.nn.Module
        z to what `pixels` takes, such as logits.
    x : Tensor of shape (N, pixels)
        Images as `pixels` draws them, such as binary.
    starts : Tensor of shape (k, N, d)
        Where to look for modes from, such as a draw of the encoder and some of the prior.
    pixels : PixelModel
    samples : int
        Draws from the proposal, Student distributions at the modes with the curvature there, weighted by the mass that a Gaussian
        there would have.
    noise : torch.Generator
    """
    values, sizes = [], []
    at_once = max(1, min(100, JACOBIAN // (x.shape[1] * starts.shape[2])))
    for rows in torch.arange(len(x)).split(at_once):
        joint = _Joint(decoder, x[rows], pixels)
        modes = [_mode(joint, z) for z in starts[:, rows]]
        log_weight = _log_weights(joint, modes, samples, noise)
        values.append(-(torch.logsumexp(log_weight, dim=0) - np.log(samples)))
        sizes.append(_effective(log_weight))
    return NegativeLogLikelihood(
        torch.cat(values).cpu().numpy().astype(np.float64),
        f"importance sampling around modes from {len(starts)} starts, {samples} draws",
        torch.cat(sizes).cpu().numpy().astype(np.float64),
    )


def annealed_nll(
    decoder: nn.Module,
    x: Tensor,
    latent: int,
    *,
    pixels: PixelModel = BERNOULLI,
    chains: int = 16,
    temperatures: int = 1000,
    leapfrogs: int = 10,
    noise: torch.Generator,
) -> NegativeLogLikelihood:
    """Annealed importance sampling from the prior (Neal 2001; Wu et al. 2017): HMC along sigmoid-spaced temperatures."""
    n = len(x)
    ladder = torch.sigmoid(torch.linspace(-4.0, 4.0, temperatures + 1))
    ladder = (ladder - ladder[0]) / (ladder[-1] - ladder[0])
    joint = _Joint(decoder, x.repeat(chains, 1), pixels)
    z = torch.randn(chains * n, latent, generator=noise, device=x.device)
    log_weight = torch.zeros(chains * n, device=x.device)
    step = torch.full((chains * n,), 0.1, device=x.device)
    fit = joint.log_pixels(z)
    for before, after in zip(ladder[:-1].tolist(), ladder[1:].tolist(), strict=True):
        log_weight += (after - before) * fit
        z, fit, accepted = _hamilton(joint, z, after, step, leapfrogs, noise)
        # An acceptance of 0.65 on average, for every chain by itself.
        step = torch.clamp(step * torch.where(accepted, 1.02, 0.96), 1e-4, 1.0)
    log_weight = log_weight.reshape(chains, n)
    return NegativeLogLikelihood(
        -(torch.logsumexp(log_weight, dim=0) - np.log(chains)).cpu().numpy().astype(np.float64),
        f"annealed importance sampling, {chains} chains of {temperatures} temperatures",
        _effective(log_weight).cpu().numpy().astype(np.float64),
    )


class _Joint(NamedTuple):
    """log p(x, z) of given images, up to the constant of the prior."""

    decoder: nn.Module
    x: Tensor
    pixels: PixelModel

    def rows(self, index: Tensor) -> _Joint:
        """Of some of the images."""
        return self._replace(x=self.x[index])

    def log_pixels(self, z: Tensor) -> Tensor:
        """log p(x | z)."""
        with torch.no_grad():
            return -self.pixels.misfit(self.decoder(z), self.x)

    def __call__(self, z: Tensor) -> Tensor:
        return self.log_pixels(z) - 0.5 * (z**2).sum(dim=1)

    def expand(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Gradient in z and the Gauss–Newton matrix Jᵀ diag(w) J + I, which is positive definite."""

        def output(point: Tensor) -> tuple[Tensor, Tensor]:
            out = self.decoder(point[None])[0]
            return out, out

        with torch_func(), torch.no_grad():
            J, out = torch.func.vmap(torch.func.jacfwd(output, has_aux=True))(z)
        slope, w = self.pixels.expansion(out, self.x)
        identity = torch.eye(z.shape[1], device=z.device)
        return torch.einsum("npk,np->nk", J, slope) - z, torch.einsum("npk,np,npl->nkl", J, w, J) + identity


def _mode(joint: _Joint, z: Tensor) -> _Mode:
    """A posterior mode of every image, by Gauss–Newton steps with damping (Levenberg and Marquardt)."""
    z, value = z.clone(), joint(z)
    identity = torch.eye(z.shape[1], device=z.device)
    damping = torch.ones(len(z), device=z.device)
    moving = torch.arange(len(z), device=z.device)
    for _ in range(NEWTON_STEPS):
        part, here = joint.rows(moving), z[moving]
        slope, curvature = part.expand(here)
        step = torch.linalg.solve(curvature + damping[moving, None, None] * identity, slope)
        found = part(here + step)
        better = found > value[moving]
        z[moving] = torch.where(better[:, None], here + step, here)
        value[moving] = torch.where(better, found, value[moving])
        damping[moving] = torch.where(better, damping[moving] / 5, damping[moving] * 5).clamp(1e-6, 1e6)
        # A proposal needs a mode to a small part of its width, no better: the step in units of the curvature.
        length = torch.einsum("nk,nkl,nl->n", step, curvature, step)
        moving = moving[length > CLOSE]
        if not len(moving):
            break
    factor = torch.linalg.cholesky(joint.expand(z)[1])
    return _Mode(z, factor, value - torch.log(torch.diagonal(factor, dim1=1, dim2=2)).sum(dim=1))


class _Mode(NamedTuple):
    """A mode of every image: the place (N, d), the Cholesky factor of the precision, and the log-mass of a Gaussian there."""

    place: Tensor
    factor: Tensor
    log_mass: Tensor

    def log_student(self, z: Tensor) -> Tensor:
        """The Student density at z (N,), up to a constant that all modes share."""
        d = z.shape[1]
        u = torch.einsum("nkl,nk->nl", self.factor, z - self.place)
        spread = torch.log(torch.diagonal(self.factor, dim1=1, dim2=2)).sum(dim=1)
        return spread - 0.5 * (DEGREES + d) * torch.log1p((u**2).sum(dim=1) / DEGREES)


def _log_weights(joint: _Joint, modes: list[_Mode], samples: int, noise: torch.Generator) -> Tensor:
    """log p(x, z)/q(z) for z from a mixture of Student distributions at the modes (samples, N)."""
    n, d = modes[0].place.shape
    device = modes[0].place.device
    place, factor = (torch.stack([mode[k] for mode in modes]) for k in (0, 1))
    log_share = torch.log_softmax(torch.stack([mode.log_mass for mode in modes]), dim=0)
    half = torch.special.gammaln(torch.tensor((DEGREES + d) / 2)) - torch.special.gammaln(torch.tensor(DEGREES / 2))
    constant = float(half - 0.5 * d * np.log(DEGREES * np.pi))
    rows = torch.arange(n, device=device)
    out = []
    for _ in range(samples):
        which = torch.multinomial(log_share.T.exp(), 1, generator=noise)[:, 0]
        u = torch.randn(n, d, generator=noise, device=device)
        chi = torch.randn(n, int(DEGREES), generator=noise, device=device).square().sum(dim=1)
        u = u * torch.sqrt(DEGREES / chi)[:, None]
        back = torch.linalg.solve_triangular(factor[which, rows].mT, u[:, :, None], upper=True)[:, :, 0]
        z = place[which, rows] + back
        parts = torch.stack([mode.log_student(z) for mode in modes])
        log_q = constant + torch.logsumexp(log_share + parts, dim=0)
        out.append(joint(z) - 0.5 * d * np.log(2 * np.pi) - log_q)
    return torch.stack(out)


def _hamilton(
    joint: _Joint, z: Tensor, heat: float, step: Tensor, leapfrogs: int, noise: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """One Hamiltonian move for p(x | z)^heat N(z; 0, I); the new log p(x | z) and which chains moved."""

    def slope(point: Tensor) -> tuple[Tensor, Tensor]:
        point = point.detach().requires_grad_(True)
        fit = -joint.pixels.misfit(joint.decoder(point), joint.x)
        (gradient,) = torch.autograd.grad(fit.sum(), point)
        return fit.detach(), heat * gradient - point.detach()

    h = step[:, None]
    momentum = torch.randn(z.shape, generator=noise, device=z.device)
    fit, gradient = slope(z)
    energy = -heat * fit + 0.5 * (z**2).sum(dim=1) + 0.5 * (momentum**2).sum(dim=1)
    y, p, new_fit = z, momentum + 0.5 * h * gradient, fit
    for k in range(leapfrogs):
        y = y + h * p
        new_fit, gradient = slope(y)
        p = p + (0.5 if k == leapfrogs - 1 else 1.0) * h * gradient
    new_energy = -heat * new_fit + 0.5 * (y**2).sum(dim=1) + 0.5 * (p**2).sum(dim=1)
    accepted = torch.rand(len(z), generator=noise, device=z.device).log() < energy - new_energy
    return torch.where(accepted[:, None], y, z), torch.where(accepted, new_fit, fit), accepted


def _effective(log_weight: Tensor) -> Tensor:
    share = torch.softmax(log_weight, dim=0)
    return 1.0 / (share**2).sum(dim=0)
