"""Generators to hold against another one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zfree.domains import Domain
from zfree.generators import Barrier, BoundaryDistance, Generator, SectionDistance
from zfree.moments import Problem


def distances(domain: Domain) -> list[Generator]:
    """What vanishes on a boundary that is not that of a convex set; on a line the two are one."""
    nearest = BoundaryDistance(scale="natural")
    return [nearest] if domain.dimension == 1 else [nearest, SectionDistance("x", scale="natural")]


def companions(leader: Generator, domain: Domain, heavy_tailed: bool) -> list[Generator]:
    """Generators to hold against `leader`: faster decay, and some weight on the determinant.

    Faster decay also means more weight far out, which the tails of some models (the log-normal) do not bear. Barriers need a
    convex domain; elsewhere there are distances only.
    """
    if not domain.is_convex:
        return [SectionDistance("x^2", scale="natural"), *(g for g in distances(domain) if g != leader)]
    if leader.own_tests:  # of a finite variance whatever the shape parameters, as the leader
        return [Barrier(0.0, 0.0), Barrier(0.3, 0.25)]
    family = leader if isinstance(leader, Barrier) and leader.power is not None else Barrier(1.0, 0.0)
    step = 0.3 if heavy_tailed else 0.6
    return [beside(family, -step), beside(family, -0.2, 0.25)]


def beside(member: Barrier, power: float, det_power: float = 0.0) -> Barrier:
    """The member of the family this far from another one, in the same units."""
    assert member.power is not None
    return replace(member, power=round(member.power + power, 4), det_power=round(member.det_power + det_power, 4))


def opponents(problem: Problem) -> list[Generator]:
    """The chosen generator and one that vanishes faster.

    The best generator often sits close to where the variance becomes infinite. Light tails forgive that; with heavy ones
    the test keeps its size only if both are well away from it.
    """
    leader = problem.generator
    domain = problem.domain
    in_family = isinstance(leader, Barrier) and leader.power is not None
    if not problem.model.heavy_tailed or not in_family or not domain.is_convex:
        return [leader, companions(leader, domain, heavy_tailed=False)[0]]
    assert isinstance(leader, Barrier)
    if problem.model.boundary_orders(np.ones(problem.model.n_parameters)) == ():
        return [leader, beside(leader, 0.3)]  # no such limit, only tails far out
    return [beside(leader, -0.6), beside(leader, -0.9)]
