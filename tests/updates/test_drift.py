"""Updates whose months drift so far that derivatives of the earlier rows lead nowhere."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.coordinates.approximations.mode import Mode
from sgmc.coordinates.whitened.whitening import whitener
from sgmc.errors import DataError, PriorWarning
from sgmc.models.regression.updated.account import expansion
from sgmc.models.regression.updated.past import Past

from .months import carried


def drifting(seed, count):
    """Months of 150 rows whose slope grows by 0.6 and whose sd by 0.3 each."""
    rng = np.random.default_rng(seed)
    tables = []
    for m in range(count):
        x, z, e = rng.normal(size=(3, 150))
        tables.append(
            pd.DataFrame({"x": x, "z": z, "y": 1 + (1 + 0.6 * m) * x + 0.5 * z + (1 + 0.3 * m) * e})
        )
    return tables


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_drift_is_not_trusted(seed):
    """Third derivatives of the first month have no Gaussian at the sixth one's mode: where these
    seeds ended in a bare ValueError of scipy's.
    """
    first, *others = drifting(seed, 6)
    res = sgmc.ols("y ~ x + z", first, seed=1, draws=200)
    res = carried(res, others)
    assert np.isfinite(res.params).all() and np.isfinite(res.bse).all()
    assert "carried too far" in res.verdict.text and "Fit all rows together" in res.verdict.text


class Beyond:
    """What is carried on where an exp has overflowed."""

    def expansion(self, theta):
        """Gradient and precision."""
        return np.zeros(2), np.array([[1.0, 0.0], [0.0, np.inf]])


def test_what_is_carried_must_be_finite():
    with pytest.raises(DataError, match="carried on .* is not finite for 1 of 2 parameters"):
        expansion(Beyond(), np.zeros(2))


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_an_update_looks_at_what_is_carried(monkeypatch):
    first, second = drifting(0, 2)
    res = sgmc.ols("y ~ x + z", first, seed=1, draws=50)
    overflown = lambda self, theta: (np.zeros(len(theta)), np.full(2 * (len(theta),), np.inf))
    monkeypatch.setattr(Past, "expansion", overflown)
    with pytest.raises(DataError, match="carried on .* is not finite for 4 of 4 parameters"):
        res.update(second)


@pytest.mark.parametrize("entry", [np.nan, np.inf, 0.0, -1.0])
def test_no_precision_is_whitened_that_is_none(entry):
    precision = np.diag([1.0, entry, 2.0])
    with pytest.raises(DataError, match="not finite and positive for 1 of 3 parameters"):
        whitener(Mode(np.zeros(3), precision, np.zeros((3, 3))))


def test_later_months_that_contradict_the_first_one_s_default_priors_are_said():
    """Outcomes in other units from the second month on: sigma's exponential prior, of the first
    month's sd, is thousands of its sds off.  Weights of the old draws, all in one, say nothing.
    """
    first, second, third = drifting(0, 3)
    res = sgmc.ols("y ~ x + z", first, seed=1)
    res = res.update(second, seed=1)
    assert not any(isinstance(one, PriorWarning) for one in res.warnings)
    for far in (third.assign(y=1e4 * third.y), third.assign(y=2e4 * third.y)):
        with pytest.warns(PriorWarning, match="prior of sigma contradicts .* fit all rows"):
            res = res.update(far, seed=1)
    assert res._fit.problem.priors.judged[3] == res.priors.first[3]
