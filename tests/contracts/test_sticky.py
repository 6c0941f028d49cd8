"""Sticky samplers: inclusion probabilities against enumeration of all models,
what they refuse, planted mistakes.

A logit of 300 rows and 10 slopes, four of which are not zero.  Evidences of its 1,024 models come
from importance sampling; with other random numbers inclusion probabilities change by less than
0.001, which is left out.
"""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import ArgumentError, NotSupported, SGMCWarning
from sgmc.fit import paths

from .cases import SAMPLERS
from .enumeration import inclusions, simulated

STICKY = sorted(name for name, cls in SAMPLERS.items() if cls.sticky)
N, D, SLAB, INTERCEPT, W = 300, 10, 1.0, 2.5, 0.4
PRIOR = {"*": sgmc.normal(0, SLAB), "Intercept": sgmc.normal(0, INTERCEPT)}
# of a probability: derived steps widen the slab's variance by a per cent
BIAS = {"stickyzigzag": 0.0, "stickysgpdmp": 0.02}


@cache
def truth():
    """Inclusion probabilities."""
    return inclusions(*simulated(N, D), SLAB, INTERCEPT, W)


def frame():
    """The table."""
    X, y = simulated(N, D)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y.astype(int))


def fit(name, draws=4000, **how):
    """A fit without its warnings."""
    spec = how.pop("spec", None) or SAMPLERS[name](inclusion=W)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return sgmc.logit(
            "y ~ .", frame(), **{"sampler": spec, "prior": PRIOR, "draws": draws, "seed": 4, **how}
        )


def departure(name, results):
    """Largest departure of an inclusion probability beyond the allowed bias,
    in Monte Carlo errors.
    """
    found = results.inclusion()
    error = np.maximum(found.mcse, 1e-3)
    return ((np.abs(found.inclusion - truth()) - BIAS[name]) / error).max()


@pytest.mark.extended
def test_the_evidences_are_known():
    assert np.abs(inclusions(*simulated(N, D), SLAB, INTERCEPT, W, seed=2) - truth()).max() < 1e-3
    assert truth()[0] > 0.99 and (truth()[3:] < 0.2).all() and (truth()[3:] > 0.05).all()


@pytest.mark.extended
@pytest.mark.parametrize("precondition", ["mode", None])
@pytest.mark.parametrize("name", STICKY)
def test_inclusion_probabilities_are_those_of_enumeration(name, precondition):
    results = fit(name, precondition=precondition)
    assert departure(name, results) < 4.5  # the largest of ten, of some 30 batches a chain
    assert results.inclusion().mcse.max() < 0.02


@pytest.mark.extended
@pytest.mark.mistake("sticky: release rate x 2")
@pytest.mark.parametrize("name", STICKY[::-1])
def test_a_wrong_rate_of_leaving_zero_is_caught(name, monkeypatch):
    right = paths.release_rates
    monkeypatch.setattr(paths, "release_rates", lambda *what: 2 * right(*what))
    assert departure(name, fit(name)) > 4.5


@pytest.mark.extended
@pytest.mark.mistake("sticky: slab in the wrong units")
@pytest.mark.parametrize("name", STICKY[::-1])
def test_a_slab_in_units_of_the_model_is_caught(name, monkeypatch):
    """The density at zero is one of x, not of theta."""
    right = paths.release_rates
    monkeypatch.setattr(
        paths,
        "release_rates",
        lambda spec, priors, where: right(spec, priors, where) / np.diag(where.map.jacobian(None)),
    )
    assert departure(name, fit(name)) > 4.5


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", STICKY)
def test_slopes_are_zero_and_the_rest_is_not(name):
    results = fit(name, 500)
    draws = results.draws.reshape(-1, D + 1)
    assert (draws[:, 0] != 0).all() and ((draws[:, 1:] == 0).mean(axis=0) > 0).any()
    share = (draws[:, 1:] != 0).mean(axis=0)
    assert np.abs(share - results.inclusion().inclusion).max() < 0.1
    assert "prior probability 0.6" in str(results.summary()) and results._ksd is None
    with pytest.raises(NotSupported, match="mass at zero"):
        results.fssd()


@pytest.mark.extended
@pytest.mark.parametrize(
    "prior", [sgmc.laplace(0, 1), sgmc.student_t(4, 0, 1), sgmc.normal(0.5, 1)]
)
def test_slabs_of_other_families(prior):
    """The two samplers agree: their slabs are the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        a, b = (
            sgmc.logit(
                "y ~ x2 + x3 + x7", frame(), sampler=name, prior={"*": prior}, seed=2, draws=4000
            ).inclusion()
            for name in STICKY
        )
    assert (
        np.abs(a.inclusion - b.inclusion) < BIAS["stickysgpdmp"] + 4.5 * np.hypot(a.mcse, b.mcse)
    ).all()


@pytest.mark.parametrize("name", STICKY)
def test_what_they_refuse(name):
    with pytest.raises(NotSupported, match=f"precondition='dense' with {name}"):
        fit(name, precondition="dense")
    for prior in ("flat", sgmc.horseshoe()):
        with pytest.raises(
            NotSupported,
            match="horseshoe" if name == "stickyzigzag" and prior != "flat" else "density at zero",
        ):
            fit(name, prior=prior)
    with pytest.raises(ArgumentError, match="inclusion"):
        SAMPLERS[name](inclusion=1.5)
    with pytest.raises(NotSupported, match="stickysgpdmp"):
        fit(name, 100, spec=SAMPLERS["zigzag"]()).inclusion()
