"""Densities of users without a finite integral are refused before chains wander off, and slow but
proper ones are fitted.
"""

import numpy as np
import pytest

import sgmc
from sgmc.errors import DataError
from sgmc.models.bases import improper


class Own(sgmc.Model):
    """A log density of x, whatever the data."""

    parameters = {"x": ()}
    n = 1
    prior = "flat"

    def __init__(self, density, slope, positive=False, prior="flat"):
        self.density, self.slope = density, slope
        if positive:
            self.constraints = {"x": "positive"}
        self.prior = prior

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return float(self.density(theta["x"]))

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        return {"x": np.asarray(self.slope(theta["x"]), dtype=float)}


IMPROPER = {
    "constant": (lambda x: 0.0, lambda x: 0.0),
    "rising": (lambda x: x, lambda x: 1.0),
    "constant on one side": (lambda x: min(x, 0.0), lambda x: float(x < 0)),
}


@pytest.mark.parametrize("name", IMPROPER)
def test_a_density_that_does_not_fall_is_refused(name):
    """The constant one was sampled for minutes, to 1e33."""
    with pytest.raises(DataError, match="the posterior is improper: .* as 'x' goes to infinity"):
        Own(*IMPROPER[name]).fit(seed=1)


def test_a_constant_density_of_a_positive_parameter():
    with pytest.raises(DataError, match="the posterior is improper"):
        Own(*IMPROPER["constant"], positive=True).fit(seed=1)


class Two(sgmc.Model):
    """Of which the data tell one."""

    parameters = {"a": (), "b": (2,)}
    n = 1
    prior = "flat"

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        return float(-(theta["a"] ** 2) - theta["b"][0] ** 2)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
def test_the_parameter_is_named():
    with pytest.raises(DataError, match=r"as 'b\[1\]' goes to infinity"):
        Two().fit(seed=1)
    Two().fit(seed=1, prior={"a": "flat", "b": sgmc.normal(0, 2)}, draws=200)


# a search for a mode of a heavy tail may end in a warning; its draws are few
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize(
    "density, slope, how",
    [
        (lambda x: -np.log1p(x * x), lambda x: -2 * x / (1 + x * x), {}),
        (lambda x: 0.0, lambda x: 0.0, {"prior": sgmc.normal(0, 1e12)}),
        (lambda x: 0.0 if abs(x) < 1e3 else -np.inf, lambda x: 0.0, {}),
        (lambda x: -1e-9 * abs(x), lambda x: -1e-9 * np.sign(x), {}),
    ],
    ids=["Cauchy", "wide prior", "uniform with ends", "slow fall"],
)
def test_proper_densities_are_not_refused(density, slope, how):
    model = Own(density, slope, **how)
    looked_at = model.fit(seed=1, draws=20, chains=1, sampler="mala")
    assert looked_at.draws.shape == (1, 20, 1)
    value = lambda gradient, u: (density(u[0]) - 1e-24 * u[0] ** 2 * bool(how), None)
    with pytest.MonkeyPatch.context() as patch:  # also where no search has had a warning
        patch.setattr(improper, "full", value)
        improper.refuse_improper(None, np.zeros(1), ["x"], None)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # few draws
def test_the_summary_has_where_modes_were_looked_for():
    """Of a density with modes 12 apart one was sampled, and the printed summary had no word."""

    def density(x):
        return np.logaddexp(-0.5 * (x - 6) ** 2, -0.5 * (x + 6) ** 2)

    def slope(x):
        return -(x - 6 * np.tanh(6 * x))

    one = Own(density, slope).fit(seed=1)
    assert "Modes: one start; others are not ruled out (modes='search' looks" in str(one.summary())
    both = Own(density, slope).fit(seed=1, modes="search")
    assert "Modes: 2 modes found from 16 starts." in str(both.summary())
    data = {"x": np.arange(30.0), "y": np.arange(30.0) ** 0.5}
    assert "Modes:" not in str(sgmc.ols("y ~ x", data, seed=1).summary())
