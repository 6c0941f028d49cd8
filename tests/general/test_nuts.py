"""Fits by the No-U-Turn sampler of densities that users write, against quadrature and `mala`."""

import numpy as np
import pandas as pd
import pytest

import sgmc
from sgmc.errors import SGMCWarning, TreeDepthWarning

# five standard errors of 3,000 effective draws, in posterior sds; sds of a curved density have
# fewer effective draws
MEAN, SD = 0.1, 0.1
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


class Curved(sgmc.Model):
    """x ~ N(0, 1), y | x ~ N(x^2 / 2, width^2): a banana."""

    parameters, prior, n = {"x": (), "y": ()}, "flat", 1

    def __init__(self, width=1.5):
        self.width = width

    def log_lik(self, theta, rows):
        """See `Model`."""
        off = (theta["y"] - theta["x"] ** 2 / 2) / self.width
        return -0.5 * theta["x"] ** 2 - 0.5 * off**2

    def grad(self, theta, rows):
        """See `Model`."""
        off = (theta["y"] - theta["x"] ** 2 / 2) / self.width**2
        return {"x": -theta["x"] + off * theta["x"], "y": -off}


class Long(sgmc.Model):
    """Two normal parameters whose sds are 1 and 100."""

    parameters, prior, n = {"a": (), "b": ()}, "flat", 1

    def log_lik(self, theta, rows):
        """See `Model`."""
        return -0.5 * (theta["a"] ** 2 + (theta["b"] / 100) ** 2)

    def grad(self, theta, rows):
        """See `Model`."""
        return {"a": -theta["a"], "b": -theta["b"] / 100**2}


def moments(width):
    """Means and sds of (x, y) by quadrature over x; y given x is normal."""
    x = np.linspace(-9, 9, 20_001)
    w = np.exp(-0.5 * x**2)
    w /= w.sum()
    y = w @ (x**2 / 2)
    return np.array([w @ x, y]), np.sqrt([w @ x**2, w @ (x**2 / 2 - y) ** 2 + width**2])


def off(results, exact):
    """Largest errors of means, in sds, and of sds, relative."""
    mean, sd = exact
    draws = results.draws.reshape(-1, len(mean))
    return np.abs((draws.mean(axis=0) - mean) / sd).max(), np.abs(draws.std(axis=0) / sd - 1).max()


@pytest.mark.extended
@quiet
@pytest.mark.parametrize("metric", ["diag", "dense"])
def test_a_curved_density(metric):
    """Of a width of 1 the sd of y is 27 % less."""
    how = dict(
        sampler=sgmc.NUTS(target_accept=0.9, metric=metric), precondition=None, draws=3000, seed=1
    )
    results = Curved().fit(**how)
    mean, sd = off(results, moments(1.5))
    assert mean < MEAN and sd < SD
    assert off(results, moments(1.0))[1] > 2 * SD
    facts = results.chain_diagnostics()
    assert (facts.leapfrogs > 3000).all() and (facts.tree_depth > 1).all()


def test_a_regression_has_the_posterior_of_mala():
    rng = np.random.default_rng(2)
    df = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    df["y"] = (rng.random(300) < 1 / (1 + np.exp(-df.a + 0.5 * df.b))).astype(int)
    one, two = (sgmc.logit("y ~ .", df, sampler=s, draws=3000, seed=3) for s in ("nuts", "mala"))
    mean, sd = off(one, (two.params.to_numpy(), two.bse.to_numpy()))
    assert mean < MEAN and sd < SD
    assert one.verdict.trustworthy


def test_paths_that_are_cut_are_told_of():
    """Paths of three steps where a hundred are needed; the summary says it, too."""
    short = sgmc.NUTS(max_depth=2, metric="identity")
    with pytest.warns(SGMCWarning):
        cut = Long().fit(sampler=short, precondition=None, draws=300, seed=1)
    (warning,) = (w for w in cut.warnings if isinstance(w, TreeDepthWarning))
    assert "max_depth=2" in str(warning) and "max_depth=4" in str(warning)
    assert warning.code in str(cut.summary()) or "max_depth=2" in str(cut.summary())
    assert not cut.verdict.trustworthy
