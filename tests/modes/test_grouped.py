"""Modes of posteriors with effects of groups integrated out."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.approximations import modes
from sgmc.errors import NotSupported, SGMCWarning
from sgmc.models.regression.latent.covariance.fold import FoldedEffects

from .cases import clusters

PRIOR = {"Intercept": sgmc.normal(5, 50), "sd": sgmc.half_normal(0.3)}
NARROW, WIDE = 0.3, 50  # of these


def table():
    y, _ = clusters(18)
    return pd.DataFrame({"y": y, "g": np.arange(18) % 6})


def fitted(prior=PRIOR, **how):
    """Outcomes in two clusters, each group in both: t errors of known scale, two modes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        given = dict(df=2, sigma=1.0, prior=prior, modes="search", seed=1, draws=50)
        return sgmc.rlm("y ~ 1 + (1 | g)", table(), **{**given, **how})


def masses():
    """Of intercepts below the valley, by sums over intercept, sd, and effect of a group."""
    d = table()
    at, sds = np.linspace(-6, 16, 400), np.linspace(0.003, 1.8, 60)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    total = np.zeros(len(at))
    for sd in sds:
        value = stats.norm.logpdf(at, 5, WIDE) - 0.5 * (sd / NARROW) ** 2
        for _, own in d.groupby("g"):
            away = own.y.to_numpy()[:, None, None] - at[:, None] - sd * nodes
            value += np.log(np.exp(stats.t.logpdf(away, 2).sum(axis=0)) @ weights)
        total += np.exp(value)
    between = (at > 0) & (at < 10)
    valley = at[between][np.argmin(total[between])]
    return total[at < valley].sum() / total.sum()


def test_shares_are_those_of_sums():
    """Within .05, as of modes without effects: Laplace's approximation of skewed humps."""
    found = fitted()._fit.searched
    assert (found.starts, found.found) == (modes.STARTS, 2)
    left = min(range(2), key=lambda k: found.gaussians[k][0][0])
    assert found.shares[left] == pytest.approx(masses(), abs=0.05)


def test_chains_start_at_both():
    results = fitted(chains=4, warmup=0, sampler="mala", draws=5)
    assert len(set(np.sign(results.draws[:, 0, 0] - 5))) == 2


def test_signs_of_an_sd_are_no_modes(monkeypatch):
    """An sd away from zero, whose mirror image has the same draws; planted: it is not turned."""
    rng = np.random.default_rng(3)
    g = np.arange(300) % 20
    p = 1 / (1 + np.exp(-2 * rng.normal(size=20)[g]))
    d = pd.DataFrame({"y": (rng.random(300) < p).astype(int), "g": g})

    def count():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SGMCWarning)
            results = sgmc.logit("y ~ 1 + (1 | g)", d, modes="search", seed=1, draws=20)
        return results._fit.searched.found

    assert count() == 1
    monkeypatch.setattr(
        FoldedEffects, "turned", lambda self, y, signs: (y, np.zeros(y.shape[:-1], bool))
    )
    assert count() == 2


@pytest.mark.parametrize("formula", ["y ~ s(x)", "y ~ 1 + (1 | g) + (1 | h)"])
def test_effects_that_are_sampled_are_refused(formula):
    d = table().assign(x=np.linspace(0, 1, 18), h=np.arange(18) // 6)
    with pytest.raises(NotSupported, match="these effects are sampled") as error:
        sgmc.ols(formula, d, modes="search")
    assert error.value.because == "limit"
