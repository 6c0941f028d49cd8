"""`update` of two designs, thresholds and outcomes known in part, against the fit to all rows."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.priors.prior_table import PriorTable
from tests.updates.months import apart
from tests.updates.test_update import DRAWS, MEAN, SD

CASES = {
    "sigma": ("ols", "y ~ x + f", {"sigma": "~ z"}),
    "zeros": ("zeroinflated", "count ~ x | z + f", {}),
    "hurdle": ("hurdle", "count ~ x | z", {}),
    "dispersion": ("negativebinomial", "count ~ x | z", {}),
    "thresholds": ("ordinal", "grade ~ x + f", {}),
    "discrimination": ("ordinal", "grade ~ x", {"discrimination": "~ v"}),
    "censored": ("ols", "cens(seen, code) ~ x + f", {"sigma": "~ z"}),
}


def tables(n, seed=3):
    """Two tables whose predictors have other means, as centring differs between them then."""
    rng, made = np.random.default_rng(seed), []
    for level in (0.0, 0.5):
        d = pd.DataFrame({"x": rng.normal(level, 1, n), "z": rng.normal(2 - level, 0.7, n)})
        d["f"], d["v"] = rng.choice(list("ab"), n), d.z - 2
        eta = 0.2 + 0.5 * d.x - 0.3 * (d.f == "b")
        d["y"] = eta + np.exp(0.2 - 0.3 * d.z) * rng.normal(size=n)
        d["count"] = rng.poisson(np.exp(0.6 + 0.4 * d.x) * rng.gamma(2, 0.5, n))
        d.loc[rng.random(n) < 1 / (1 + np.exp(2.5 - d.z)), "count"] = 0
        d["grade"] = np.digitize(eta + rng.logistic(size=n) * np.exp(0.2 * d.z), [-1.0, 0.4, 1.6])
        d["seen"], d["code"] = d.y.clip(upper=0.9), np.where(d.y > 0.9, "right", "none")
        made.append(d)
    return made


def updated(case, first, second, remove=True):
    """Results of the first table, updated with the second."""
    verb, formula, given = CASES[case]
    results = getattr(sgmc, verb)(formula, first, **given, **DRAWS)
    if remove:
        results.remove_data()
    return results.update(second)


def of_all(case, *some):
    """Results of all rows together."""
    verb, formula, given = CASES[case]
    return getattr(sgmc, verb)(formula, pd.concat(some, ignore_index=True), **given, **DRAWS)


@pytest.mark.extended("hurdle", "dispersion", "discrimination", "sigma")
@pytest.mark.parametrize("case", CASES)
def test_an_update_is_the_fit_to_all_rows(case):
    first, second = tables(1000)
    full = of_all(case, first, second)
    results = updated(case, first, second)
    assert list(results.names) == list(full.names)
    mean, sd = apart(results, full)
    assert mean < MEAN and sd < SD
    assert results.verdict.trustworthy, results.verdict
    assert results.nobs == 2000 and results.updates == (1000, 1000)


def test_a_shift_of_the_second_design_belongs_to_its_intercept(monkeypatch):
    """Planted: columns of the second design that are centred into the first intercept."""
    first, second = tables(1000)
    full = of_all("zeros", first, second)
    monkeypatch.setattr(PriorTable, "shifts", lambda self, shift: shift)
    with pytest.warns(sgmc.errors.SGMCWarning):
        results = updated("zeros", first, second)
    assert max(apart(results, full)) > MEAN


@pytest.mark.parametrize(
    ("case", "some"),
    [
        ("zeros", lambda d: d[d["count"] > 0]),
        ("thresholds", lambda d: d[d.grade == 1]),
        ("censored", lambda d: d[d.code == "right"]),
    ],
)
def test_new_rows_need_not_have_every_outcome(case, some):
    first, second = tables(1000)
    few = some(second).head(3)
    results = updated(case, first, few, remove=False)
    assert results.nobs == 1003 and np.isfinite(results.params).all()


def test_rows_that_lack_a_predictor_of_either_design_are_left_out():
    first, second = tables(300)
    second.loc[:4, "z"] = np.nan
    second.loc[3:9, "x"] = np.nan
    assert updated("zeros", first, second).nobs == 590


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("case", ["sigma", "zeros", "thresholds", "censored"])
def test_trusted_updates_are_right(case):
    """Twelve small tables: of the updates that are trusted none is off by more than it says, beside
    3.5 Monte Carlo errors of both fits; and some are trusted.
    """
    trusted = 0
    for seed in range(12):
        n = [100, 250, 600][seed % 3]
        first, second = tables(n, seed + 50)
        second = second.head(n // 3 + 1)
        full, results = of_all(case, first, second), updated(case, first, second)
        if results.verdict.trustworthy:
            trusted += 1
            least = min(np.nanmin(results.ess()), np.nanmin(full.ess()))
            room = results.verdict.error + 3.5 * np.sqrt(2 / least)
            assert max(apart(results, full)) < room, seed
    assert trusted >= 4
