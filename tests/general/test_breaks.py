"""Own densities that jump, or whose gradient does: what is said is true, and the cure cures."""

import re
import warnings

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.errors import BoundaryWarning, LowESSWarning, SGMCWarning
from sgmc.results.checks.breaks import broken, with_kink

Y = np.random.default_rng(0).normal(0.1, 1, 40)
HIGHER = 1.5  # by so many nats the density is higher above zero


class Jump(sgmc.Model):
    """A normal mean, whose log density jumps at zero."""

    parameters = {"mu": ()}
    prior = {"mu": sgmc.normal(0, 10)}

    def __init__(self, y=Y):
        self.y, self.n = y, len(y)

    def log_lik(self, theta, rows):
        y = self.y[rows]
        return -0.5 * np.sum((y - theta["mu"]) ** 2) + HIGHER * (theta["mu"] > 0) * len(y) / self.n

    def grad(self, theta, rows):
        return {"mu": np.sum(self.y[rows] - theta["mu"])}


class Differenced(Jump):
    """The same without a gradient."""

    def __getattribute__(self, name):
        if name == "grad":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Kinks(sgmc.Model):
    """Medians of rows: the log density has a kink at each outcome."""

    parameters = {"mu": (8,)}
    prior = {"mu": sgmc.normal(0, 5)}

    def __init__(self):
        self.y, self.n = np.random.default_rng(1).normal(size=(20, 8)), 20

    def log_lik(self, theta, rows):
        return -np.sum(np.abs(self.y[rows] - theta["mu"]))

    def grad(self, theta, rows):
        return {"mu": np.sign(self.y[rows] - theta["mu"]).sum(axis=0)}


def exact():
    """Mean and sd of the posterior of `Jump`: two cut normal laws."""
    v = 1 / (len(Y) + 0.01)
    m, s = v * Y.sum(), np.sqrt(v)
    cuts = (-m / s, np.inf), (-np.inf, -m / s)
    weight = np.array([np.exp(HIGHER) * stats.norm.cdf(m / s), stats.norm.cdf(-m / s)])
    parts = [stats.truncnorm(*cut, m, s) for cut in cuts]
    first, second = (np.average([p.moment(k) for p in parts], weights=weight) for k in (1, 2))
    return first, np.sqrt(second - first**2)


def fitted(model, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SGMCWarning)
        return model.fit(seed=1, **how)


@pytest.mark.cover(0)
@pytest.mark.parametrize(
    "sampler", ["mala", "rwm", pytest.param("hmc", marks=pytest.mark.extended)]
)
def test_exact_samplers_are_right_across_a_jump_and_trusted(sampler):
    """Means and sds within the error that the verdict states, at least 0.1 posterior sd: by scores
    means would be off by 0.4.
    """
    res = fitted(Jump(), sampler=sampler, draws=4000)
    mean, sd = exact()
    assert res.verdict.trustworthy
    assert abs(res.params["mu"] - mean) < res.verdict.error * sd
    assert abs(res.bse["mu"] / sd - 1) < res.verdict.error
    (found,) = [w for w in res.warnings if isinstance(w, BoundaryWarning)]
    assert re.search("the log density jumps by 1.5 near mu = 0:", found.message)
    assert "sampler=" not in found.advice
    assert "KSD not available (the density jumps or ends)" in " ".join(str(res.summary()).split())


@pytest.mark.extended
def test_others_are_refused_with_a_cure_that_cures():
    res = fitted(Jump(), sampler="lmsgld")
    assert not res.verdict.trustworthy and "the log density jumps by 1.5" in res.verdict.text
    (cure,) = re.findall(r"sampler='(\w+)'", res.verdict.text)
    assert fitted(Jump(), sampler=cure).verdict.trustworthy


def test_a_jump_is_seen_without_a_gradient():
    res = fitted(Differenced(), sampler="mala")
    assert any("jumps by 1.5 near mu = 0" in w.message for w in res.warnings)


def test_kinks_are_named_where_chains_mix_badly():
    res = fitted(Kinks(), draws=50, warmup=50)
    assert any("the gradient jumps (a kink) near mu[" in one.message for one in res.warnings)
    fit = res._fit
    found, bad = fit.computed["apart"], LowESSWarning("min ESS 5.", "Take draws=9000.")
    assert found.kind == "kink" and not found.breaks
    (named,) = with_kink(fit, [bad], found)
    assert "the gradient jumps (a kink) near mu[" in named.message
    assert named.advice == "Use sampler='nuts', precondition=None."
    assert with_kink(fit, [bad], None) == [bad]


@pytest.mark.extended  # some thousand long paths in Python
def test_kinks_are_named_with_a_cure_that_cures():
    """The curvature at a kink tells no scale, so that chains hardly move."""
    res = fitted(Kinks(), draws=500)
    assert not res.verdict.trustworthy and "the gradient jumps (a kink)" in res.verdict.text
    assert res.verdict.text.endswith("Use sampler='nuts', precondition=None.")
    cured = fitted(Kinks(), sampler="nuts", precondition=None, draws=500)
    assert cured.verdict.trustworthy
    marginal = np.linspace(-4, 4, 8001)
    for k, y in enumerate(Kinks().y.T):  # each mu alone, by quadrature
        density = np.exp(-np.abs(y[:, None] - marginal).sum(axis=0) - marginal**2 / 50 + 20)
        mean = np.average(marginal, weights=density)
        sd = np.sqrt(np.average((marginal - mean) ** 2, weights=density))
        assert abs(cured.params.iloc[k] - mean) < 0.1 * sd  # as trusted
        assert abs(cured.bse.iloc[k] / sd - 1) < 0.1
    assert all("kink" not in str(w) for w in cured.warnings)


@pytest.mark.cover(0)
@pytest.mark.parametrize("kind", ["smooth", "steep", "kink without harm"])
def test_no_density_that_is_continuous_is_said_to_jump(kind):
    class Smooth(Jump):
        """Without the jump; or with one that takes a hundredth of a sd; or with a kink."""

        def log_lik(self, theta, rows):
            mu, part = theta["mu"], len(self.y[rows]) / self.n
            steep = HIGHER / (1 + np.exp(-np.clip(mu / 0.0015, -500, 500)))
            more = {"smooth": 0.0, "steep": steep, "kink without harm": -2 * abs(mu)}[kind]
            return -0.5 * np.sum((self.y[rows] - mu) ** 2) + more * part

        def grad(self, theta, rows):
            mu, part = theta["mu"], len(self.y[rows]) / self.n
            p = 1 / (1 + np.exp(-np.clip(mu / 0.0015, -500, 500)))
            steep = HIGHER * p * (1 - p) / 0.0015
            more = {"smooth": 0.0, "steep": steep, "kink without harm": -2 * np.sign(mu)}[kind]
            return {"mu": np.sum(self.y[rows] - mu) + more * part}

    res = fitted(Smooth(), sampler="mala", draws=1000)
    assert not any("jump" in str(w) for w in res.warnings)


def test_no_break_is_found_where_values_are_not_finite():
    problem = fitted(Jump(), sampler="mala", draws=50)._fit.problem
    gradient = problem.all_rows()
    place = np.array([1e200])
    with np.errstate(all="ignore"):
        assert broken(gradient, [(-place, place)]) is None
    assert broken(gradient, [(place, place)]) is None


SMALL = dict(draws=100, chains=2)


@pytest.mark.extended("hmc", "sgld")
@pytest.mark.parametrize("sampler", ["mala", "hmc", "nuts", "barker", "rwm", "lmsgld", "sgld"])
def test_no_advice_leads_back_to_the_sampler_that_was_used(sampler):
    """What verdict and warnings advise in general, of any fit with that sampler."""
    from sgmc.results.report.verdict import EXACT, another, cause

    fit = fitted(Jump(), sampler=sampler, **SMALL)._fit
    for advice in (cause({}, fit), another(fit, *EXACT), another(fit, "lmsgld", *EXACT)):
        assert f"'{sampler}'" not in advice and "sampler='" in advice
