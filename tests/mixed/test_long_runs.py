"""Fits at default settings against long runs of an independent sampler, whose moments are stored:
see `long_runs`.
"""

import warnings
from functools import cache

import numpy as np
import pytest

import sgmc
from sgmc.api import verbs
from sgmc.errors import SGMCWarning

from ..verdict import grouped
from . import long_runs

SEEDS = 8  # of pooled fits at default settings
# in posterior sds, as shares, in posterior sds: of ends of intervals of sds
WITHIN = dict(mean=0.1, sd=0.05, ends=0.1)
FAST = ["cbpp", "sleepstudy", "ols, nothing"]


@cache
def pooled(name, sd=None, left_out=None):
    """Draws of fits at default settings, whose Monte Carlo errors are averaged away and whose
    biases are not; `sd` is another prior of sds, `left_out` a group without its rows.
    """
    verb, _, terms, frame = long_runs.case(name)
    frame = frame[frame[terms[0][0]] != left_out]
    fit, prior = getattr(verbs, verb), sd and {"sd": sd}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)  # of the Monte Carlo error of a single fit
        fits = [
            fit(long_runs.formula(name), frame, seed=s, prior=prior) for s in range(1, SEEDS + 1)
        ]
    return fits[0].names, np.concatenate([one.flat for one in fits])


def errors(name, distort=lambda names, draws: draws, **how):
    """Largest differences of means, of sds and of quantiles of sds."""
    names, draws = pooled(name, **how)
    right = long_runs.stored(name)
    assert set(names) == set(right.index) and right.effective.min() > 4000
    right, draws = right.loc[names], distort(names, draws.copy())
    sd = right["sd"].to_numpy()
    quantiles = right[[str(level) for level in long_runs.LEVELS]].to_numpy()
    ends = (np.quantile(draws, long_runs.LEVELS, axis=0).T - quantiles) / sd[:, None]
    return dict(
        mean=np.abs((draws.mean(axis=0) - right["mean"].to_numpy()) / sd).max(),
        sd=np.abs(draws.std(axis=0) / sd - 1).max(),
        ends=np.abs(ends[[one.startswith("sd(") for one in names]]).max(),
    )


def right(found):
    """Whether all errors are within the limits."""
    return all(found[kind] < limit for kind, limit in WITHIN.items())


@pytest.mark.extended
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in FAST else pytest.mark.extended)
        for name in long_runs.CASES
    ],
)
def test_defaults_have_the_moments_of_long_runs(name):
    found = errors(name)
    assert right(found), found


# ---- planted mistakes ----------------------------------------------------------------------------


def of_kind(names, kind):
    """Places of parameters by the start of their names."""
    return [j for j, one in enumerate(names) if one.startswith(kind)]


def noise(names, draws):
    """Deviations from the mean are a tenth too large."""
    return draws.mean(axis=0) + 1.1 * (draws - draws.mean(axis=0))


def jacobian(names, draws):
    """Sds were taken from a density of their logs: it is as if each were weighted by 1 / sd."""
    weight = 1 / draws[:, of_kind(names, "sd(")].prod(axis=1)
    places = np.random.default_rng(0).choice(len(draws), len(draws), p=weight / weight.sum())
    return draws[places]


def turned(names, draws):
    """Correlations have the other sign."""
    draws[:, of_kind(names, "cor(")] *= -1
    return draws


@pytest.mark.extended
@pytest.mark.mistake("posteriors of groups: {mistake}")
@pytest.mark.parametrize(
    "name, mistake, how",
    [
        ("cbpp", "noise", dict(distort=noise)),
        ("cbpp", "sd's Jacobian dropped", dict(distort=jacobian)),
        ("sleepstudy", "correlation's sign", dict(distort=turned)),
        ("cbpp", "a group dropped", dict(left_out=14)),
        pytest.param(
            "logit, nothing",
            "prior of the sd dropped",
            dict(sd=sgmc.flat()),
            marks=pytest.mark.extended,
        ),
    ],
)
def test_mistakes_show_in_moments(name, mistake, how):
    found = errors(name, **how)
    assert not right(found), found


@pytest.mark.extended
def test_an_sd_near_zero_has_no_heavy_tail():
    """Its density is flat there, in the coordinate with a sign."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        results = grouped.fit("nested groups", seed=7)
    lowest = results.flat[:, results.names.index("sd(1|g)")].min()
    assert lowest < 0.1 and results.tail_index().max() < 0.5
