"""Quantile functions of densities on the line, by tables."""

import numpy as np
import pytest
from scipy import stats

from sgmc.coordinates.independent import transport
from sgmc.coordinates.independent.transport import quantiles_of

# log densities with a mode near 0 and an sd near 1, and their laws
LAWS = {
    "normal": stats.norm(0.3, 1.2),
    "log of a gamma": stats.loggamma(2.0),
    "one tail exponential": stats.moyal(0, 0.7),
    "two tails exponential": stats.logistic(0, 0.5),
    "two modes": None,
}


def mixture(w):
    """Density of two normal laws, 6 sds apart."""
    return 0.3 * stats.norm.pdf(w, -3, 1) + 0.7 * stats.norm.pdf(w, 3, 1)


@pytest.mark.parametrize("name", LAWS)
def test_probabilities_of_quantiles_are_those_asked_for(name):
    """To 1e-6 of an sd, also one in a million; beyond, to what is left of the table's mass."""
    law = LAWS[name]
    log = (lambda w: np.log(mixture(w))) if law is None else law.logpdf
    z = np.linspace(-4.7, 4.7, 301)
    found = quantiles_of(log)(z)
    assert (np.diff(found) > 0).all()
    if law is None:
        back = 0.3 * stats.norm.cdf(found, -3, 1) + 0.7 * stats.norm.cdf(found, 3, 1)
        expected = stats.norm.cdf(z)
        assert np.abs(back / expected - 1).max() < 1e-5
        assert np.abs((1 - back) / (1 - expected) - 1).max() < 1e-5
        return
    right = np.where(z < 0, law.ppf(stats.norm.cdf(z)), law.isf(stats.norm.sf(z)))
    assert np.abs(found - right).max() < 1e-5 * law.std()


@pytest.mark.parametrize("mistake", ["one end", "nan"])
def test_what_is_not_tabulated(mistake):
    """A tail that does not end within 1e4 sds; a density that is NaN where it is not zero ends."""
    if mistake == "one end":
        assert quantiles_of(lambda w: -0.001 * np.abs(w)) is None
        return
    half = quantiles_of(lambda w: np.where(w > 1, np.nan, -0.5 * w**2))
    assert half is None or half(np.array([8.0]))[0] < 1.1


def test_coarse_tables_are_made_finer(monkeypatch):
    """A density with a narrow peak beside a wide one; planted: a table that is never refined."""
    law = lambda w: np.logaddexp(-0.5 * w**2, 3 - 0.5 * ((w - 1) / 0.02) ** 2)
    share = 1 / (1 + np.exp(3) * 0.02)
    w = np.linspace(-6, 6, 25)

    def off(table):
        """The largest error of the distribution function at some points."""
        z = np.linspace(-8, 8, 200_001)
        found = stats.norm.cdf(np.interp(w, table(z), z))
        right = share * stats.norm.cdf(w) + (1 - share) * stats.norm.cdf((w - 1) / 0.02)
        return np.abs(found - right).max()

    assert off(quantiles_of(law)) < 1e-5
    monkeypatch.setattr(transport, "alike", lambda coarse, fine: True)
    assert off(quantiles_of(law)) > 1e-4
