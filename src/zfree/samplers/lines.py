r"""Chains that move along lines: the axes by turns with the axes of a rotated frame in natural units.

One move draws from the density restricted to the line through every chain's state in one direction v, exactly (Gaussians) or by a
slice; it leaves the density invariant whatever v is, as long as v does not depend on the state (hit-and-run, Bélisle, Romeijn and
Smith 1993; Gibbs is the special case of the axes). The frame is :math:`L Q` with :math:`L L^\top` the covariance of the states of
an earlier block and Q a fresh rotation, so that narrow sets and strong correlations look round, in any units.

Blocks are run, each twice as long as the one before and with a frame learnt from that one, until split-R̂ and the effective size of
a block are good or the moves are spent. Only the last block is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.samplers.diagnostics import effective_size, rank_normal, split_rhat

Move = Callable[[Array, Array, np.random.Generator], Array]
"""States (chains, d) and a direction (d,) to new states."""

FEWEST_CHAINS, MOST_CHAINS = 64, 1024
SETTLING = (4, 4, 8)
"""Rounds of the blocks in which the frame is first learnt."""
HURRIED = 1000
"""With fewer moves than these to spend, chains settle once only: they should start close to their law."""
FIRST = 16
"""Rounds of the first block that may be kept."""
GOOD = 1.02
"""Split-R̂ at which a block is good enough."""
KEPT_DOUBLES = 2**24
"""States kept of a block, at most (128 MB), unless more are asked for."""
JUDGED_CHAINS, JUDGED_DOUBLES = 256, 2**22
"""Chains and numbers that the diagnostics look at, at most (but 16 chains at least)."""


class Run(NamedTuple):
    """States (rounds, chains, d) of the last block, and their diagnostics (d,)."""

    states: Array
    rhat: Array
    effective_size: Array


def number_of_chains(n: int) -> int:
    return int(np.clip(-(-n // 8), FEWEST_CHAINS, MOST_CHAINS))


def run(move: Move, X: Array, root: Array, n: int, rng: np.random.Generator, most_moves: int) -> Run:
    """States from which `n` nearly independent draws can be taken, if `most_moves` moves suffice for that."""
    for rounds in SETTLING if most_moves >= HURRIED else SETTLING[:1]:
        states = block(move, X, root, rounds, 1, rng)
        X, root = states[-1], learnt_root(states[rounds // 2 :], root)
    chains, d = X.shape
    rounds, spent = max(FIRST, -(-n // chains)), 0
    while True:
        stride = max(1, rounds // max(-(-n // chains), KEPT_DOUBLES // X.size, 8))
        states = block(move, X, root, rounds, stride, rng)
        spent += 2 * d * rounds
        judged = rank_normal(states[:, : max(16, min(JUDGED_CHAINS, JUDGED_DOUBLES // (len(states) * d)))])
        rhat = np.maximum(split_rhat(judged), split_rhat(np.abs(judged)))
        size = effective_size(judged) * (chains / judged.shape[1])
        if (rhat.max() <= GOOD and size.min() >= n) or spent + 4 * d * rounds > most_moves:
            return Run(states, rhat, size)
        X, root, rounds = states[-1], learnt_root(states, root), 2 * rounds


def spread_evenly(states: Array, n: int) -> Array:
    """`n` of the states, as far apart in time as can be."""
    rounds, chains, d = states.shape
    needed = -(-n // chains)
    last = rounds - 1 - (np.arange(min(needed, rounds)) * rounds) // needed
    draws: Array = states[last].reshape(-1, d)[:n]
    return draws


def learnt_root(states: Array, root: Array) -> Array:
    """L with L Lᵀ close to the covariance of the states, found in units of the last root so that small directions keep digits.

    Correlations are shrunk towards those of the last root as far as the number of states makes them noise.
    """
    flat = states.reshape(-1, states.shape[-1])
    flat = flat[:: -(-len(flat) // 20_000)]
    white = np.linalg.solve(root, (flat - flat.mean(axis=0)).T)
    spread = np.sqrt((white**2).mean(axis=1))
    spread = np.where(spread > 0, spread, 1.0)
    white /= spread[:, None]
    d, n = white.shape
    values, vectors = np.linalg.eigh((white @ white.T + d * np.eye(d)) / (n + d))
    return np.asarray((root * spread) @ (vectors * np.sqrt(values)))


def block(move: Move, X: Array, root: Array, rounds: int, stride: int, rng: np.random.Generator) -> Array:
    """States after every `stride`-th of some rounds: along all axes, then along all directions of a frame."""
    d = X.shape[1]
    axes = np.diag(np.linalg.norm(root, axis=1))
    kept = []
    for t in range(1, rounds + 1):
        for v in axes:
            X = move(X, v, rng)
        if d > 1:
            for v in (root @ np.linalg.qr(rng.standard_normal((d, d)))[0]).T:
                X = move(X, v, rng)
        if t % stride == 0:
            kept.append(X)
    return np.stack(kept)
