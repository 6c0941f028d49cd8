"""Independent draws of linear regressions have the posterior of quadrature and of closed forms."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.independent import transport
from sgmc.models.regression.rows.prepare import DesignTable

from .cases import PRIOR, departures, formula, quadrature, table

DRAWS = 10_000  # of each of 4 chains: errors of means of 2 % of an sd are found
LIMIT = 4.0  # Monte Carlo errors: of 10 numbers one is beyond in 1,600 runs

CASES = {
    "few rows": (5, 2, {}),
    "more rows": (60, 3, {}),
    "fewer rows than coefficients": (3, 4, {}),
    "weights and offset": (40, 2, dict(weights="w", offset="o")),
    "sums of many rows": (3000, 2, dict(weights="w")),
}


def fitted(name, **how):
    """The fit of a case, and its numbers by quadrature."""
    n, d, columns = CASES[name]
    frame = table(n, d)
    results = sgmc.ols(formula(d), frame, prior=PRIOR, seed=1, draws=DRAWS, **columns, **how)
    return results, quadrature(frame, d, **columns)


@pytest.mark.filterwarnings("ignore::sgmc.errors.ConditionWarning")
@pytest.mark.parametrize("name", CASES)
def test_means_and_sds_are_those_of_quadrature(name):
    results, expected = fitted(name)
    assert results.sampler == sgmc.Direct()
    assert results.verdict.trustworthy
    mean, sd = departures(results, expected)
    assert np.abs(mean).max() < LIMIT
    assert np.abs(sd).max() < LIMIT


def rows_off(monkeypatch):
    """Three rows more in the exponent of sigma."""
    monkeypatch.setattr(DesignTable, "nobs", property(lambda self: len(self.y) + 3.0))


def prior_dropped(monkeypatch):
    """The prior's pull on the coefficients as sigma changes."""
    moved = transport.shifts
    monkeypatch.setattr(
        transport, "shifts", lambda map, likelihood, prior, w: moved(map, likelihood, 0 * prior, w)
    )


def wide_noise(monkeypatch):
    """Standard normal numbers times sqrt 2."""
    draws = transport.ScaledTransport.draws
    monkeypatch.setattr(
        transport.ScaledTransport, "draws", lambda self, z: draws(self, np.sqrt(2) * z)
    )


def same_sigma(monkeypatch):
    """Sigma held at its median."""
    draws = transport.ScaledTransport.draws

    def changed(self, z):
        z[:, self.map.d :] = 0.0
        return draws(self, z)

    monkeypatch.setattr(transport.ScaledTransport, "draws", changed)


MISTAKES = {
    "rows miscounted": (rows_off, "more rows"),
    "prior dropped": (prior_dropped, "few rows"),
    "noise x sqrt 2": (wide_noise, "more rows"),
    "sigma held": (same_sigma, "more rows"),
}


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.mistake("independent draws: {mistake}")
@pytest.mark.parametrize(("mistake", "name"), [(one, MISTAKES[one][1]) for one in MISTAKES])
def test_planted_mistakes_are_seen(mistake, name, monkeypatch):
    MISTAKES[mistake][0](monkeypatch)
    results, expected = fitted(name)
    assert results.sampler == sgmc.Direct()
    assert max(np.abs(one).max() for one in departures(results, expected)) > 2 * LIMIT


def test_flat_priors_have_their_closed_form():
    """Coefficients: t with n - d - 1 degrees of freedom; SSR / sigma^2: chi^2 with as many."""
    frame = table(12, 2)
    results = sgmc.ols(formula(2), frame, prior="flat", seed=1, draws=5000)
    X = np.column_stack([np.ones(12), frame.x0, frame.x1])
    centre, ssr = np.linalg.lstsq(X, frame.y)[:2]
    freedom = 12 - 3 - 1
    unit = np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * ssr / freedom)
    draws = results.draws.reshape(-1, 4)
    p = [
        stats.kstest((draws[:, j] - centre[j]) / unit[j], stats.t(freedom).cdf).pvalue
        for j in range(3)
    ]
    p.append(stats.kstest(ssr / draws[:, 3] ** 2, stats.chi2(freedom).cdf).pvalue)
    assert min(p) > 1e-3


def test_known_sigma_has_its_closed_form():
    """A normal posterior: its means and sds to 4 Monte Carlo errors of 20,000 draws."""
    frame, prior = table(30, 1), {name: PRIOR[name] for name in ("*", "Intercept")}
    results = sgmc.ols("y ~ x0", frame, sigma=0.5, prior=prior, seed=1, draws=5000)
    assert results.sampler == sgmc.Direct()
    X = np.column_stack([np.ones(30), frame.x0])
    H = X.T @ X / 0.25 + np.diag([1 / 25, 1 / 4])
    mean = np.linalg.solve(H, X.T @ frame.y / 0.25 + [0, 0.5 / 4])
    off, wide = departures(results, (mean, np.sqrt(np.diag(np.linalg.inv(H)))))
    assert np.abs(off).max() < LIMIT
    assert np.abs(wide).max() < LIMIT


def test_draws_are_independent_of_each_other():
    """Autocorrelations of all lags up to 20, of all parameters, as of white noise; and chains have
    streams of their own.
    """
    draws = fitted("few rows")[0].draws
    ranks = stats.rankdata(draws, axis=1)
    z = (ranks - ranks.mean(axis=1, keepdims=True)) / ranks.std(axis=1, keepdims=True)
    n = draws.shape[1]
    lags = np.array([(z[:, k:] * z[:, :-k]).sum(axis=1) / np.sqrt(n) for k in range(1, 21)])
    assert np.abs(lags).max() < 4.5  # the largest of 320 standard normals
    assert not (draws[0] == draws[1]).any()


def test_all_draws_count():
    results = sgmc.ols("y ~ x0", table(50, 1), seed=1, draws=250)
    assert "min. ESS 1,000" in results.summary().as_text()
    assert "independent draws of the posterior" in results.summary().as_text()
    assert "KSD 0." in results.summary().as_text()
