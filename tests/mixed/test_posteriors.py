"""Posteriors of regressions with grouped effects: log densities and draws against plain numpy."""

from functools import cache

import numpy as np
import pytest

from sgmc import registry
from sgmc.core import engine
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.fit.settings import check_settings
from sgmc.subsampling.block import CircularBlock

from .groups import mixed, published_model
from .reference import LEVELS, Reference, by_importance
from .tables import table_of

PUBLISHED = ["sleepstudy", "cbpp", "contraception"]
SIMULATED = ["logit", "probit", "cloglog", "poisson", "negativebinomial", "gamma", "ols"]
POINTS = 6  # around the mode
# differences of log densities: what nodes of the default leave
WITHIN = {"closed": 1e-6, "quadrature": 1e-2}


def reference(model, frame, **changed):
    """The same posterior in numpy; `changed` are its arguments that are to be others."""
    data, groups = model.data, model.grouping
    y = data.y if data.trials is None else data.y / data.trials
    given = dict(Z=groups.terms[0].Z, weight=data.trials)
    given |= changed
    return Reference(model.family, model.spec.matrix(frame), y, groups.codes, **given)


@cache
def case(name):
    """A model, and its table."""
    if name.split(",")[0] in PUBLISHED:
        return published_model(name)
    family, _, effects = name.partition(" with ")
    frame = table_of(registry.room("families")[family].family, groups=12)
    model = registry.room("families")[family]
    return mixed(model, "y ~ x1 + x2", frame, "g", ["x1"] if effects else []), frame


@cache
def problem_of(name, **given):
    """The posterior in sampler coordinates."""
    return case(name)[0].problem(None, check_settings(seed=1, **given))


def log_ratios(name, wrong=lambda log_density: log_density, **changed):
    """Log densities of the sampler less those of the reference, at points around the mode, up to
    one constant: they would all be the same.
    """
    model, frame = case(name)
    problem, d, q = problem_of(name), model.data.d, model.grouping.terms[0].Z.shape[1]
    z = 1.2 * np.random.default_rng(0).normal(size=(POINTS, problem.dim))
    x = np.array([problem.coordinates.from_white(one) for one in z])
    natural = problem.coordinates.reported(x)
    pairs = slice(d + q, d + q + q * (q - 1) // 2)
    extra = natural[:, pairs.stop :]
    # of the sampler's coordinates: inverse hyperbolic tangents and sines, and logs
    jacobian = np.log1p(-(natural[:, pairs] ** 2)).sum(axis=1) + np.log(extra).sum(axis=1)
    jacobian += np.log(np.hypot(natural[:, d : d + q], problem.own.effects.loading.scale)).sum(
        axis=1
    )
    rows = problem.all_rows()
    ours = np.array([engine.density(rows, one) for one in x])
    jacobian += [np.linalg.slogdet(problem.coordinates.map.jacobian(one))[1] for one in x]
    theirs = wrong(reference(model, frame, **changed))(natural) + jacobian
    return ours - theirs - (ours - theirs)[0]


@pytest.mark.parametrize(
    "name",
    [
        *PUBLISHED,
        *SIMULATED,
        "ols with slopes",
        pytest.param("contraception, slopes", marks=pytest.mark.extended),
        pytest.param("poisson with slopes", marks=pytest.mark.extended),
    ],
)
def test_log_densities_are_those_of_numpy(name):
    kind = "closed" if problem_of(name).model.closed else "quadrature"
    assert np.abs(log_ratios(name)).max() < WITHIN[kind]


class Wrong:
    """A reference with one of its parts changed."""

    def __init__(self, right, mistake):
        self.right, self.mistake = right, mistake

    def __call__(self, points):
        right, points = self.right, np.array(points)
        d, q = right.X.shape[1], right.Z.shape[1]
        if self.mistake == "prior dropped":
            right.log_prior = lambda at: np.zeros(len(at.beta))
        elif self.mistake == "prior of the sd dropped":
            prior = right.log_prior
            right.log_prior = lambda at: prior(at._replace(sd=np.ones_like(at.sd)))
        elif self.mistake == "effects' sd x sqrt 2 in the integral":
            likelihood = right.log_likelihood
            right.log_likelihood = lambda at: likelihood(at._replace(sd=np.sqrt(2) * at.sd))
        elif self.mistake == "correlation's sign":
            points[:, d + q] *= -1
        elif self.mistake == "sd's Jacobian dropped":
            return right(points) - np.log(points[:, d : d + q]).sum(axis=1)
        elif self.mistake == "trials of a row dropped":
            right.weight = np.ones_like(right.weight)
        elif self.mistake == "a group dropped":
            right.starts, cut = right.starts[:-1], right.starts[-1]
            right.X, right.Z, right.y = right.X[:cut], right.Z[:cut], right.y[:cut]
            right.weight = right.weight[:cut]
        return right(points)


@pytest.mark.mistake("log density of groups: {mistake}")
@pytest.mark.parametrize(
    "name, mistake",
    [
        ("cbpp", "prior dropped"),
        ("cbpp", "prior of the sd dropped"),
        ("cbpp", "effects' sd x sqrt 2 in the integral"),
        ("cbpp", "sd's Jacobian dropped"),
        ("cbpp", "trials of a row dropped"),
        ("cbpp", "a group dropped"),
        ("sleepstudy", "prior dropped"),
        ("sleepstudy", "correlation's sign"),
    ],
)
def test_mistakes_move_log_densities(name, mistake):
    assert np.abs(log_ratios(name, lambda right: Wrong(right, mistake))).max() > 2 * max(
        WITHIN.values()
    )


@pytest.mark.mistake("groups' batches: {mistake}")
@pytest.mark.parametrize("name, mistake", [("sgld", ""), ("sgld", "N/n forgotten")])
def test_batches_of_groups_are_unbiased(name, mistake):
    """Mean of estimates of the gradient from blocks of groups: the gradient, within 4 Monte Carlo
    errors in every coordinate; the sum over a batch that is not scaled up is not.
    """
    problem = problem_of("poisson")
    x = problem.coordinates.from_white(np.full(problem.dim, 0.7))
    n, size = problem.model.n, 3
    exact = engine.full(problem.all_rows(), x)[1]
    gradient = problem.gradient("simple", CircularBlock(n, size), Rng(seed_sequence(1, "chain", 0)))
    some = engine.scores(gradient, np.tile(x, (4000, 1)), Rng(seed_sequence(1, "chain", 1)))
    some = some * (size / n if mistake else 1.0)
    error = np.abs(some.mean(axis=0) - exact) / (some.std(axis=0) / np.sqrt(len(some)))
    assert (error.max() < 4) == (not mistake)


# ---- draws ---------------------------------------------------------------------------------------


@cache
def moments(name, draws=30_000):
    """Moments by importance sampling around the fit's, which decide nothing but its efficiency."""
    model, frame = case(name)
    flat = fitted(name).draws.reshape(-1, fitted(name).draws.shape[2])
    return by_importance(reference(model, frame), flat.mean(axis=0), np.cov(flat.T), draws)


@cache
def fitted(name, sampler="auto"):
    """A fit whose Monte Carlo errors are a third of what is allowed: of independent draws, or of
    proposals nearly as good, sds are known to 1 % by 6,000 of each chain.
    """
    return case(name)[0].fit(seed=1, draws=6_000 if sampler == "auto" else 15_000, sampler=sampler)


def differences(name, results):
    """Worst differences of means in sds, of sds, and of quantiles of sds in their sd."""
    right, draws = moments(name), results.draws.reshape(-1, results.draws.shape[2])
    assert right.size > 1000
    sds = [j for j, one in enumerate(results.names) if one.startswith("sd(")]
    ends = (np.quantile(draws, LEVELS, axis=0) - right.quantiles) / right.sd
    return (
        np.abs((draws.mean(axis=0) - right.mean) / right.sd).max(),
        np.abs(draws.std(axis=0) / right.sd - 1).max(),
        np.abs(ends[:, sds]).max(),
    )


@pytest.mark.parametrize(
    "name",
    [
        "sleepstudy",
        "cbpp",
        pytest.param("contraception", marks=pytest.mark.extended),
        pytest.param("negativebinomial", marks=pytest.mark.extended),
    ],
)
def test_draws_have_the_moments_of_numpy(name):
    mean, sd, ends = differences(name, fitted(name))
    assert mean < 0.1 and sd < 0.05 and ends < 0.1
