"""Priors that do not suit their parameters, or what is fitted."""

import numpy as np

from sgmc.errors import ArgumentError, NotSupported
from sgmc.priors.joint import Margin


def check_together(together, specified, names):
    """Refuse a prior of several parameters of which some have got another one."""
    taken = [j for one in together for j in one.places]
    twice = next((j for j in taken if taken.count(j) > 1), None)
    other = next((j for j in taken if not isinstance(specified[j], Margin)), twice)
    if other is not None:
        raise ArgumentError(
            f"prior: {names[other]!r} has a prior of its own and one of several parameters; give "
            "it only one of them"
        )


def check(specified, names, slopes, family):
    """Refuse priors that do not suit their parameters."""
    coefficients = len(names) - len(family.auxiliary)
    for j, (name, one) in enumerate(zip(names, specified)):
        if (one.family == "horseshoe" or one.learned) and j not in slopes:
            raise ArgumentError(
                f"prior: {one} is for slopes, {name!r} is none; use e.g. sgmc.normal(0, 2.5)"
            )
        if one.family == "dirichlet":
            raise ArgumentError(
                f"prior: {one} is for parameters on a simplex, {name!r} is not; use e.g. "
                "sgmc.normal(0, 2.5)"
            )
        if one.family == "lkj":
            raise ArgumentError(
                f"prior: {one} is for correlations of a group's effects, {name!r} is none; use "
                "e.g. sgmc.normal(0, 2.5)"
            )
    for one, prior in zip(family.auxiliary, specified[coefficients:]):
        if one.proper and prior.family == "flat":
            raise ArgumentError(
                f"prior: a flat one of {one.name!r} {'may make' if family.report else 'makes'} the "
                "posterior improper; use e.g. "
                f"prior={{'*': 'flat', {one.name!r}: sgmc.{one.prior}}}"
            )


def refuse_learned(specified):
    """NotSupported for a prior whose scale is to be learned."""
    one = next((one for one in specified if one.learned), None)
    if one is not None:
        raise NotSupported(
            f"prior: {one} has a scale that is learned, which is a parameter of fits alone; use a "
            "prior with a known scale, e.g. sgmc.normal(0, 2.5)",
            because="limit",
        )


def check_ends(names, specified):
    """Refuse ends that leave positive parameters nothing."""
    for name, one in zip(names, specified):
        if one.bounds[1] <= 0:
            raise ArgumentError(
                f"prior: {one} leaves nothing to {name!r}, which is positive; give it an upper end "
                "above 0"
            )


def refuse_bounded(table):
    """NotSupported for priors of numbers between ends."""
    j = next(iter(np.flatnonzero(table.bounded)), None)
    if j in table.increments:
        raise NotSupported(
            f"the monotonic effect of {table.names[j]!r} has one sign, which does not go with "
            "very many parameters; give levels a coefficient each, by C()",
            because="limit",
        )
    if j is not None:
        raise NotSupported(
            f"prior: {table.specified[j]} of {table.names[j]!r} has ends, which does not go with "
            "very many parameters; use a prior without ends, e.g. sgmc.normal(0, 2.5)",
            because="limit",
        )


def refuse_joint(table):
    """NotSupported for priors of several parameters together."""
    if len(table.together) > len(table.monotone):
        raise NotSupported(
            "prior: mvnormal does not go with very many parameters, or data in partitions; give "
            "each coefficient a prior of its own",
            because="limit",
        )
