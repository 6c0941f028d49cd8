"""Posteriors of rows in partitions against those of the same rows in memory.

The reservoir has a quarter of the rows.  Tolerances are what the package promises: means within 0.1
posterior sds, sds within 5 %; Monte Carlo errors of both fits are about 0.02 sd and 2 %.
"""

import numpy as np
import pandas as pd
import pytest

import sgmc

from .frames import Frames, outcomes, rare

MEAN, SD = 0.1, 0.05
FITS = {
    "logit": (sgmc.logit, "b ~ x + z + g", {}),
    "logit-t": (sgmc.logit, "b ~ x + z + g", dict(prior=sgmc.student_t(4, 0, 1))),
    "counts": (sgmc.logit, "won + lost ~ x + z + np.log(e)", dict(subset="x > 1999")),
    "probit": (sgmc.probit, "above ~ x + z + g", {}),
    "cloglog": (sgmc.cloglog, "above ~ x + z + g", {}),
    "ols": (sgmc.ols, "y ~ x + z + g", dict(weights="w")),
    "ols-flat": (sgmc.ols, "y ~ x + z + g", dict(prior="flat")),
    "ols-se": (sgmc.ols, "y ~ x + g", dict(se="e")),
    "ols-sigma": (sgmc.ols, "y ~ x + g", dict(sigma=2.0, offset="e")),
    "rlm": (sgmc.rlm, "y ~ x + z + g", {}),
    "poisson": (sgmc.poisson, "count ~ x + z + C(g)", dict(exposure="e")),
    "negativebinomial": (sgmc.negativebinomial, "spread ~ x + z + g", {}),
    "gamma": (sgmc.glm, "size ~ x + z + g", dict(family="gamma")),
    "mnlogit": (sgmc.mnlogit, "kind ~ x + z", {}),
    "diag": (sgmc.logit, "b ~ x + z + g", dict(precondition="diag")),
    "mala": (sgmc.logit, "b ~ x + z", dict(sampler="mala")),
    "imh": (sgmc.logit, "b ~ x + z", dict(sampler="imh")),
    "float32": (sgmc.logit, "b ~ x + z", dict(dtype="float32")),
}
FEW = ("logit", "counts", "ols", "poisson", "negativebinomial", "mnlogit")  # of all kinds


@pytest.fixture(scope="module")
def table():
    return outcomes()


def apart(one, other):
    """The largest differences of means, in sds, and of sds, relatively."""
    means = (one.params - other.params) / other.bse
    return float(np.abs(means).max()), float(np.abs(one.bse / other.bse - 1).max())


def tiered(name):
    """A parameter: of the default tier where it is one of FEW."""
    return pytest.param(name, marks=() if name in FEW else pytest.mark.extended)


@pytest.mark.cover(0)
@pytest.mark.parametrize("name", [tiered(name) for name in FITS])
def test_a_posterior_is_that_of_all_rows(table, name):
    verb, formula, how = FITS[name]
    res = verb(formula, Frames(table, 7), seed=1, reservoir=5000, **how)
    whole = verb(formula, table, seed=1, **how)
    mean, sd = apart(res, whole)
    assert mean < MEAN and sd < SD
    assert list(res.params.index) == list(whole.params.index)
    assert res.nobs == whole.nobs and res.verdict.trustworthy
    new = table.iloc[::5000].dropna().assign(z=0.5)
    how = {k: new[v] for k, v in how.items() if k in ("exposure", "offset")}
    np.testing.assert_allclose(res.predict(new, **how), whole.predict(new, **how), rtol=0.02)


def test_with_all_rows_in_the_reservoir_nothing_is_off(table):
    """Then what is sampled is the posterior of all rows itself: gradients agree to rounding."""
    res = sgmc.logit("b ~ x + z", Frames(table, 5), seed=1, reservoir=len(table))
    assert res.cluster.reservoir == res.cluster.rows == len(table) - 300
    assert res.cluster.error.mean.max() < 1e-9 and res.cluster.error.sd.max() < 1e-9


@pytest.mark.extended
def test_a_skewed_posterior_needs_the_remainders():
    """With 16 successes the mean is 0.13 sds from the mode: the reservoir's rows tell it."""
    frame = rare()
    res = sgmc.logit("y ~ x", Frames(frame, 6), seed=1, reservoir=4000, draws=4000)
    whole = sgmc.logit("y ~ x", frame, seed=1, draws=4000, sampler="mala")
    mean, sd = apart(res, whole)
    assert mean < MEAN and sd < SD and res.verdict.trustworthy


@pytest.mark.extended
def test_a_level_that_the_reservoir_hardly_has():
    """60 of 60,000 rows, of which with these seeds the reservoir has some without a contrary
    outcome: from there Newton's step is thousands of sds too long.  All 60 are of high leverage, so
    that nothing is lost.
    """
    random = np.random.default_rng(8)
    frame = pd.DataFrame({"x": random.normal(size=60_000), "g": "a"})
    frame.loc[:59, "g"] = "e"
    p = 1 / (1 + np.exp(2 - frame.x - (frame.g == "e")))
    frame["y"] = (random.random(len(frame)) < p).astype(int)
    for seed in (3, 11):
        res = sgmc.logit("y ~ x + g", Frames(frame, 4), seed=seed, reservoir=1000)
        whole = sgmc.logit("y ~ x + g", frame, seed=seed)
        mean, sd = apart(res, whole)
        assert mean < MEAN and sd < SD and res.verdict.trustworthy
        assert res.cluster.exact == 60 and res.cluster.passes < 15 and "step" in res.cluster.bytes


@pytest.mark.extended
def test_bits_do_not_depend_on_who_computes(table):
    """Partitions alone decide the order of sums."""

    class Backwards(Frames):
        def map_blocks(self, function):
            found = {k: function(k, self.frames[k]) for k in reversed(range(len(self.frames)))}
            return [found[k] for k in range(len(self.frames))]

    one, other = (
        sgmc.logit("b ~ x + g", kind(table, 7), seed=3, reservoir=2000, draws=300)
        for kind in (Frames, Backwards)
    )
    assert (one.draws == other.draws).all() and one.cluster.bytes == other.cluster.bytes


@pytest.mark.extended
def test_the_default_reservoir_grows_until_its_error_is_small(monkeypatch):
    """Of 100 rows the error is .08 sd with this seed; sixteen times as many make it a fourth."""
    from sgmc.cluster import gathering

    monkeypatch.setattr(gathering, "FIRST_RESERVOIR", 100)
    monkeypatch.setattr(gathering, "ROWS_A_PARAMETER", 10)
    res = sgmc.logit("y ~ x", Frames(rare(), 6), seed=2)
    assert [one["phase"] for one in res.cluster.traffic.passes][-1] == "larger reservoir"
    assert res.cluster.reservoir > 1000 and max(res.cluster.error.worst) < 0.03
    assert res.verdict.trustworthy
