"""Known data: monthly temperatures of the sea with a season and an autoregression, beside maximum
likelihood by statsmodels; a motorcycle's accelerations with Gaussian processes of mean and sigma.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgmc

sm = pytest.importorskip("statsmodels.api")


@cache
def temperatures():
    """Of the sea by months, 1950 to 2010."""
    wide = sm.datasets.elnino.load_pandas().data
    long = wide.melt("YEAR", var_name="month", value_name="sst")
    long["number"] = long.month.map({m: k for k, m in enumerate(wide.columns[1:])})
    long = long.sort_values(["YEAR", "number"], ignore_index=True)
    return long.assign(t=np.arange(len(long)))


@cache
def by_likelihood(order):
    """Estimates and standard errors of (rho, differences of each month from the first one)."""
    data = temperatures()
    X = np.column_stack([data.number == k for k in range(12)]).astype(float)
    X[:, 0] = 1.0
    made = sm.tsa.SARIMAX(data.sst, X, order=order, measurement_error=order[0] > 0)
    fit = made.fit(disp=False, cov_type="approx")
    names = ["ar.L1"] * (order[0] > 0) + [f"x{k}" for k in range(1, 12)]
    return fit.params[names].to_numpy(), fit.bse[names].to_numpy()


def test_a_season_and_a_series_are_those_of_maximum_likelihood():
    """Posterior means to .25 of a standard error, as priors and errors of 4,000 draws and of the
    approximation by likelihood allow, and sds to 15 %; without the series they are far off.
    """
    data = temperatures()
    res = sgmc.ols("sst ~ month + ar1(t)", data, seed=1)
    assert res.verdict.trustworthy
    order = data.month[:12].tolist()
    draws = dict(zip(res.params.index, res.flat.T))
    level = {m: draws.get(f"month[T.{m}]", np.zeros(len(res.flat))) for m in order}
    ours = [draws["rho(ar1(t))"], *(level[m] - level[order[0]] for m in order[1:])]
    mean, sd = np.mean(ours, axis=1), np.std(ours, axis=1)
    expected, error = by_likelihood((1, 0, 0))
    np.testing.assert_allclose((mean - expected) / error, 0.0, atol=0.25)
    np.testing.assert_allclose(sd, error, rtol=0.15)
    _, wrong = by_likelihood((0, 0, 0))
    assert np.abs(sd[1:] / wrong - 1).max() > 0.5


def accelerations():
    """133 measurements of a motorcycle's crash, which are in the tests of statsmodels."""
    path = Path(sm.__file__).parent / "gam" / "tests" / "results" / "motorcycle.csv"
    if not path.exists():
        pytest.skip("this installation of statsmodels has no tests")
    return pd.read_csv(path)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of few draws
def test_processes_of_mean_and_sigma_follow_the_crash():
    """Residuals over sigma have a mean of zero and an sd of one in each of six spans of time of 22
    rows, to 2.5 standard errors; with one sigma they have an sd of some .1 before the crash.
    """
    data = accelerations()

    def spans(res):
        sigma = res.predict(data, which="sigma") if "sigma:Intercept" in res.params else None
        sigma = res.params["sigma"] if sigma is None else np.asarray(sigma)
        away = (data.accel.to_numpy() - np.asarray(res.predict(data))) / sigma
        parts = np.array_split(away[np.argsort(data.times, kind="stable")], 6)
        return np.array([[one.mean(), one.std()] for one in parts])

    both = spans(sgmc.ols("accel ~ gp(times)", data, sigma="~ gp(times)", seed=1, draws=250))
    assert np.abs(both[:, 0]).max() < 2.5 / np.sqrt(22)
    assert np.abs(both[:, 1] - 1).max() < 2.5 / np.sqrt(44)
    alone = spans(sgmc.ols("accel ~ gp(times)", data, seed=1, draws=250))
    assert alone[0, 1] < 0.3
