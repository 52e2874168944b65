"""The share of the Cramér–Rao bound that a weight reaches, at the truth on many draws."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.settings import Setting
from zfree.data import Table, Together
from zfree.domains import Units
from zfree.generators import Generator
from zfree.moments import Problem


class Share(NamedTuple):
    r"""Trace of the bound over the trace of :math:`\Gamma^{-1}\Sigma\,\Gamma^{-\top}`, over the reported block.

    Γ, the derivative of E ψ, can be had in two ways. As −Cov(ψ, t), by Stein's identity, its chance errors are those of Σ and of the
    information, and nearly cancel for a weight close to the bound: the share is at most one, and from one set of 200,000 draws to another
    it moves by less than 0.001 on orthants, boxes and simplexes. As the mean of J D Jᵀ it moves by 0.003 there, by 0.01 in one column. Both
    are the same if D vanishes on the boundary; far from the bound, where ψ has heavy tails, neither is sharp.
    """

    value: float
    by_gamma: float


def share(setting: Setting, generator: Generator, units: Units | None = None) -> Share:
    """That of a weight which is settled: it wants no pilot any more. Sums are over chunks of the draws.

    Parameters
    ----------
    setting : Setting
    generator : Generator
    units : Units, optional
        What the generator measures in; those of the draws by default. For the generator of a fit, that fit's.
    """
    problem = Problem(setting.model, generator, setting.domain, Table(setting.big), units=units)
    moments, r = problem.moments(), setting.model.n_parameters
    shift = setting.model.statistics(setting.big[:1])[0]  # any constant near the mean keeps the digits

    def sums(rows):
        both = np.concatenate(
            [rows.influence(setting.theta, moments.log_scale), (setting.model.statistics(rows.X) - shift).T]
        )
        return Together((both.sum(axis=1), both @ both.T))

    total, second = problem.reduce(sums)
    mean = total / moments.n
    joint = second / moments.n - np.multiply.outer(mean, mean)
    meat, crossed = joint[:r, :r], -joint[:r, r:]

    def reached(gamma):
        inverse = np.linalg.inv(gamma)  # not symmetric for every field
        return setting.bound / setting.trace(inverse @ meat @ inverse.T)

    return Share(reached(crossed), reached(moments.gamma.dense()))


def share_of_fit(setting: Setting, fit) -> Share:
    """That of the weight which a fit settled on, in the fit's units."""
    return share(setting, fit.generator_, fit.result_.units)
