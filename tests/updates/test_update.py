"""`update`: against the fit on all rows, closed forms, and planted mistakes."""

import warnings

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.models.regression.updated.past import Past
from sgmc.models.regression.updated.taylor import ExactRows
from tests.updates.months import apart, carried, month, months

FORMULAS = {
    "logit": "won ~ x1 + x2 + g",
    "poisson": "count ~ x1 + x2 + g",
    "negativebinomial": "spread ~ x1 + x2 + g",
    "ols": "number ~ x1 + x2 + g",
    "rlm": "number ~ x1 + x2 + g",
}
DRAWS = dict(draws=2000, seed=1)
# of means in sds and of sds: Monte Carlo errors of 8,000 draws here and there are .016 and .011, so
# that the largest of six is beyond .06 once in 500
MEAN, SD = 0.1, 0.05


def exactly(res):
    """Centre and covariance of the Gaussian at the mode, of auxiliary parameters as logs."""
    problem = res._fit.problem
    where, mode = problem.approximation, problem.mode
    return where.back @ mode.theta, where.white @ where.white.T


@pytest.mark.cover(0)
@pytest.mark.parametrize("remove", [True, False])
def test_ols_of_known_sigma_is_the_closed_form(remove):
    """The posterior is normal, so nothing is neglected: equal to rounding."""
    tables = months(1, 60, 4)
    everything = pd.concat(tables, ignore_index=True)
    prior = {"*": sgmc.normal(0.2, 0.3), "Intercept": sgmc.normal(0, 1)}
    how = dict(prior=prior, sigma=1.3, seed=1, draws=1000)
    res = carried(sgmc.ols("number ~ x1 + x2", tables[0], **how), tables[1:], remove)
    X = np.column_stack([np.ones(240), everything.x1, everything.x2])
    precision = X.T @ X / 1.69 + np.diag([1, 1 / 0.09, 1 / 0.09])
    slope = X.T @ everything.number / 1.69 + np.array([0, 0.2 / 0.09, 0.2 / 0.09])
    centre, covariance = exactly(res)
    assert np.allclose(covariance, np.linalg.inv(precision), rtol=1e-8)
    assert np.allclose(centre, np.linalg.solve(precision, slope), rtol=1e-8)
    assert res.nobs == 240 and res.updates == (60, 60, 60, 60)
    assert res.neglected < 1e-9 and res.verdict.trustworthy


@pytest.mark.cover(0)
@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("verb", FORMULAS)
def test_five_months_are_the_fit_on_all_rows(verb, remove):
    tables = months(2, 500, 6)
    fit = getattr(sgmc, verb)
    full = fit(FORMULAS[verb], pd.concat(tables, ignore_index=True), **DRAWS)
    res = carried(fit(FORMULAS[verb], tables[0], **DRAWS), tables[1:], remove)
    mean, sd = apart(res, full)
    assert mean < MEAN and sd < SD
    assert res.verdict.trustworthy, res.verdict
    assert res.nobs == 3000 and len(res.updates) == 6


def test_rows_at_hand_are_expanded_at_the_mode_itself():
    """To the mode of all rows within the square of what a step leaves, 0.02 sds, and the shift from
    mode to mean that third derivatives make: .005 sd here.
    """
    tables = months(3, 400, 2)
    full = sgmc.logit(FORMULAS["logit"], pd.concat(tables, ignore_index=True), **DRAWS)
    res = sgmc.logit(FORMULAS["logit"], tables[0], **DRAWS).update(tables[1])
    (centre, covariance), (there, of_all) = exactly(res), exactly(full)
    sd = np.sqrt(np.diag(of_all))
    assert np.abs((centre - there) / sd).max() < 0.05
    assert np.abs(np.sqrt(np.diag(covariance)) / sd - 1).max() < 0.01


@pytest.mark.extended
@pytest.mark.parametrize("mistake", ["halved", "prior twice", "rows forgotten", "gradient"])
def test_planted_mistakes_are_seen(monkeypatch, mistake):
    """By the comparison with all rows, and by the old draws, weighed, which need none."""
    tables = months(4, 150, 2)
    how = dict(prior=sgmc.normal(0, 0.15), **DRAWS)
    full = sgmc.logit(FORMULAS["logit"], pd.concat(tables, ignore_index=True), **how)
    first = sgmc.logit(FORMULAS["logit"], tables[0], **how)
    assert max(apart(first.update(tables[1]), full)) < MEAN
    expansion = Past.expansion

    def wrong(self, theta):
        gradient, precision = expansion(self, theta)
        if mistake == "halved":
            return gradient, precision / 2
        if mistake == "gradient":
            return gradient * 0.5, precision
        part = ExactRows(self.parts[0].problem, True)
        bare = ExactRows(self.parts[0].problem, False)
        sign = 1 if mistake == "prior twice" else -1
        more = [a - b for a, b in zip(part.expansion(theta), bare.expansion(theta))]
        if mistake == "rows forgotten":
            return tuple(more)
        return gradient + sign * more[0], precision + sign * more[1]

    monkeypatch.setattr(Past, "expansion", wrong)
    with pytest.warns(sgmc.errors.UpdateWarning, match="weighed"):
        res = first.update(tables[1])
    mean, sd = apart(res, full)
    assert (mean > MEAN or sd > SD) and not res.verdict.trustworthy


FAR, NEARER = (-0.8, -0.9, 0.8), (0.0, 0.4, -0.2)


@pytest.mark.cover(0)
@pytest.mark.parametrize(("verb", "moved"), [("logit", FAR), ("poisson", FAR), ("ols", NEARER)])
def test_drift_needs_the_rows(verb, moved):
    """A second month of other coefficients: derivatives do not reach, rows do."""
    rng = np.random.default_rng(6)
    tables = [month(rng, 400), month(rng, 400, moved)]
    fit = getattr(sgmc, verb)
    full = fit(FORMULAS[verb], pd.concat(tables, ignore_index=True), **DRAWS)
    first = fit(FORMULAS[verb], tables[0], **DRAWS)
    near = first.update(tables[1])
    mean, sd = apart(near, full)
    assert near.drift > 3 and mean < MEAN and sd < SD and near.verdict.trustworthy
    first.remove_data()
    with pytest.warns(sgmc.errors.UpdateWarning, match="Fit all rows together"):
        far = first.update(tables[1])
    assert not far.verdict.trustworthy and "carried too far" in far.verdict.text


@pytest.mark.extended
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.extended)])
def test_trusted_updates_are_right(part):
    """40 updates of small tables, half of them drifting: of those that are trusted none is off by
    more than it says, beside 3.5 Monte Carlo errors of both fits; and some are trusted.
    """
    trusted = 0
    for seed in range(20 * part, 20 * part + 20):
        rng = np.random.default_rng(seed)
        verb = ["logit", "poisson", "negativebinomial", "ols"][seed % 4]
        n = int(rng.choice([80, 200, 600]))
        moved = np.array([0.3, 0.8, -0.6]) + (seed % 2) * rng.normal(size=3)
        tables = [month(rng, n), month(rng, n // 3 + 1, moved)]
        fit = getattr(sgmc, verb)
        everything = pd.concat(tables, ignore_index=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sgmc.errors.SGMCWarning)
            full = fit(FORMULAS[verb], everything, draws=1500, seed=seed)
            res = fit(FORMULAS[verb], tables[0], draws=1500, seed=seed)
            res = carried(res, tables[1:])
        trusted += res.verdict.trustworthy
        least = min(np.nanmin(res.ess()), np.nanmin(full.ess()))
        if res.verdict.trustworthy:
            assert max(apart(res, full)) < res.verdict.error + 3.5 * np.sqrt(2 / least), seed
    assert trusted >= 4
