"""Log densities of the sampler against plain numpy, up to a constant, and how near to a standard
normal law coordinates are.
"""

import numpy as np
import pytest
from scipy import stats

from sgmc.core import engine
from sgmc.models.regression.latent.sampled.centre.search import CentreSearch

from .tables import problem_of, table

POINTS = 5
# mean over points of the squared length of what the gradient has beyond that of a standard normal
# law, as a share of the parameters: at most 0.17 here
MANY_ROWS, DEPARTURE = 2000, 0.3


def points(problem):
    """Draws of the Gaussian approximation."""
    return np.random.default_rng(5).normal(size=(POINTS, problem.dim))


def rows_of(verb, eta, y, sigma):
    """Log densities of outcomes."""
    if verb == "logit":
        return y * eta - np.logaddexp(0, eta)
    if verb == "poisson":
        return y * eta - np.exp(eta)
    return stats.norm.logpdf(y, eta, sigma)


def by_numpy(verb, problem, theta, prior=1.0):
    """Log density of (beta, b, phi, u) at the default priors; `prior` is the weight of the effects'
    own density.
    """
    frame, blocks = table(verb), problem.own.rows.blocks
    order = problem.own.rows.fixed.order
    x, y = frame["x"].to_numpy()[order], frame["y"].to_numpy()[order]
    beta, scale = theta[:2], np.asarray(blocks.loading.scale)
    phi = theta[blocks.phi]
    sds, effects = scale * np.sinh(phi[:2]), [theta[blocks.of_term(t)][:, 0] for t in range(2)]
    eta = beta[0] + beta[1] * (x - x.mean())
    for codes, b in zip(problem.own.rows.codes.T, effects):
        eta = eta + b[codes]
    unit, middle = (y.std(), y.mean()) if verb == "ols" else (1.0, 0.0)
    sigma = np.exp(theta[-1]) if verb == "ols" else 1.0
    value = rows_of(verb, eta, y, sigma).sum()
    value += stats.norm.logpdf(beta[0], middle, 2.5 * unit)
    value += stats.norm.logpdf(beta[1], 0, 2.5 * unit / x.std(ddof=1))
    value += (stats.t.logpdf(sds, 3, 0, 2.5 * unit) + np.log(scale * np.cosh(phi[:2]))).sum()
    if verb == "ols":
        value += stats.expon.logpdf(sigma, scale=unit) + np.log(sigma)
    return value + prior * sum(
        stats.norm.logpdf(b, 0, abs(sd)).sum() for b, sd in zip(effects, sds)
    )


def apart(verb, **how):
    """Largest difference of log densities but for a constant."""
    problem = problem_of(verb)
    x, gradient, map = points(problem), problem.all_rows(), problem.coordinates.map
    found = []
    for one in x:
        natural = map(one)
        blocks = problem.own.rows.blocks
        root, narrow, _ = blocks.loads(map.inner(one))
        jacobian = (np.log(np.abs(np.diag(root))) * np.asarray(blocks.levels)).sum()
        jacobian += np.log(narrow).sum()
        ours = engine.density(gradient, one)
        found.append(ours - by_numpy(verb, problem, natural, **how) - jacobian)
    return np.ptp(found)


@pytest.mark.parametrize("verb", ["logit", "poisson", "ols"])
def test_densities_are_those_of_numpy(verb):
    """To rounding, of values of a few hundred."""
    assert apart(verb) < 1e-8


@pytest.mark.mistake("densities of crossed effects: {mistake}")
@pytest.mark.parametrize("name", ["logit", "ols"])
@pytest.mark.parametrize("mistake, prior", [("prior dropped", 0.0), ("prior at power 1/2", 0.5)])
def test_a_mistake_in_the_prior_is_seen(name, mistake, prior):
    assert apart(name, prior=prior) > 1e-2


@pytest.mark.parametrize(
    "verb, kind", [("ols", "crossed"), ("logit", "slopes"), ("logit", "two terms")]
)
def test_gradients_are_right(verb, kind):
    problem = problem_of(verb, kind)
    gradient, (x, *_) = problem.all_rows(), points(problem)
    slope = engine.full(gradient, x)[1]
    for j in np.random.default_rng(0).choice(problem.dim, 12, replace=False):
        e = 1e-5 * np.eye(problem.dim)[j]
        rise = engine.density(gradient, x + e) - engine.density(gradient, x - e)
        assert slope[j] == pytest.approx(rise / 2e-5, rel=1e-5, abs=1e-5)


def departure(problem):
    """See DEPARTURE."""
    gradient, total = problem.all_rows(), 0.0
    for x in points(problem):
        total += ((engine.full(gradient, x)[1] + x) ** 2).sum() / problem.dim
    return total / POINTS


@pytest.mark.parametrize("verb", ["logit", "poisson", "ols"])
@pytest.mark.parametrize("kind", ["crossed", "slopes", "two terms"])
def test_coordinates_are_nearly_standard_normal(verb, kind):
    assert departure(problem_of(verb, kind, MANY_ROWS)) < DEPARTURE


def test_coordinates_without_centring_are_farther_off(monkeypatch):
    """Effects that rows determine, in units of their sd: it is what `Loaded` is for."""
    monkeypatch.setattr(CentreSearch, "informative", lambda self, found, zero: {})
    assert departure(problem_of.__wrapped__("poisson", "slopes", MANY_ROWS)) > 3 * DEPARTURE
