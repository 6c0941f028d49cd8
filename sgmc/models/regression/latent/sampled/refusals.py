"""What is not there for crossed factors and smooths, or too large, said before anything is
computed.
"""

import numpy as np

from sgmc.core.contract import Schedule
from sgmc.errors import ArgumentError, DataError, NotSupported

LARGEST_BORDER = 12_000  # of all parameters but the effects of one factor: a matrix has 1.1 GB


def refuse_coded(data):
    """DataError for a factor of very many levels, which each equation would have a column for."""
    if data.coded:
        raise DataError(
            f"the formula has {data.d:,} columns, which are too many for each of "
            f"{len(data.equations)} equations beside effects: join rare levels of its factors, or "
            "make group terms of them"
        )


def refuse(data, crossing, settings):
    """NotSupported, ArgumentError or DataError for what is not there, or too large."""
    if settings.robust and crossing.factors:
        raise NotSupported(
            f"cov_type={settings.cov_type!r} with {' + '.join(crossing.labels)}: by effects of "
            "crossed factors all rows depend on each other, and scores of independent groups are "
            "what a sandwich is made of; leave cov_type='nonrobust'",
            because="mathematics",
        )
    if settings.robust:
        raise NotSupported(
            f"cov_type={settings.cov_type!r} with {' + '.join(crossing.labels)}: a sandwich is "
            "made of scores that are sums over rows, and that of an sd is by one draw of its "
            "effects; leave cov_type='nonrobust', or give ns() or poly() for a curve",
            because="mathematics",
        )
    if settings.modes == "search":
        raise NotSupported(
            f"modes='search' with {' + '.join(crossing.labels)}: it compares densities with the "
            "effects integrated out, as modes of the joint one with their sds hold no mass, and "
            "these effects are sampled; leave modes='one'",
            because="limit",
        )
    if settings.sampler is not None and settings.sampler.sticky:
        raise NotSupported(
            f"sampler={settings.sampler.name!r} with {' + '.join(crossing.labels)}: coefficients "
            "are moved in coordinates that mix them with effects, in which zero is no place to "
            "stay at; use sampler='mala'",
            because="limit",
        )
    if settings.keep is not None and crossing.factors:
        raise ArgumentError(
            "keep does not apply to crossed factors: draws of all parameters but the effects are "
            "kept; leave it, and use ranef_draws()",
            because="limit",
        )
    if settings.precondition not in ("mode", "dense"):
        raise NotSupported(
            f"precondition={settings.precondition!r} with {' + '.join(crossing.labels)}; leave "
            "precondition='mode'",
            because="limit",
        )
    if settings.spaced or isinstance(settings.step_size, Schedule):
        raise NotSupported(
            f"steps that vary with {' + '.join(crossing.labels)}: their draws have weights, which "
            "effects and smooths are not told with; give step_size= and thin= as numbers",
            because="limit",
        )
    levels = np.array([len(one.index) for one in crossing.factors])
    names = [one.name for one in crossing.factors]
    if not names:
        return
    for term in crossing.terms:
        if len(crossing.factors[names.index(term.factor)].index) < 2:
            raise DataError(
                f"group terms: {term.factor!r} has a single level among the rows used; leave "
                f"({term.label}) out"
            )
    width = [sum(len(t.columns) for t in crossing.terms if t.factor == name) for name in names]
    border = data.d + crossing.curves.shape[1] + (levels * width).sum()
    border -= (levels * width)[np.argmax(levels)]
    if border > LARGEST_BORDER and len(names) > 1:
        second = np.argsort(levels)[-2]
        raise NotSupported(
            f"group terms: {names[second]!r} has {levels[second]:,} levels, and with "
            f"{names[np.argmax(levels)]!r} it crosses one that has more; of all factors but the "
            f"largest at most {LARGEST_BORDER:,} effects and coefficients can be fitted. Leave it "
            "out, or join its rare levels",
            because="limit",
        )
