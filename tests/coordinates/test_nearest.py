"""The Gaussian nearest to the posterior of a wide table, from which exact samplers propose."""

import numpy as np
import pytest

import sgmc
from sgmc.coordinates.approximations import variational as module
from sgmc.core.engine import full_many
from sgmc.fit import choose
from sgmc.fit.settings import check_settings

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
ROWS, COLUMNS = 600, 64
# of the largest of 64 + 64^2 averages that are normal: 1 - (2 (1 - Phi(5.5)))^4160 is 1.6e-4
LIMIT = 5.5


def model(family, n=ROWS, d=COLUMNS, seed=1):
    """A regression on standard normal columns, with weights; outcomes have signal."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    eta = X @ rng.normal(size=d) / np.sqrt(d)
    y = {
        "Logit": lambda: rng.random(n) < 1 / (1 + np.exp(-eta)),
        "Probit": lambda: rng.random(n) < 1 / (1 + np.exp(-eta)),
        "Poisson": lambda: rng.poisson(np.exp(0.5 * eta)),
    }[family]()
    return getattr(sgmc, family)(y.astype(float), X)


def problem(family, prior=None, **size):
    """The posterior in coordinates whitened at the mode."""
    return model(family, **size).problem(prior, check_settings(seed=1))


def departures(posterior, pairs=4000):
    """z-scores of the means of g + z and of (g + z) z' at draws x = z of the Gaussian that whitens
    the coordinates; all are zero in expectation where it is the nearest.
    """
    z = np.random.default_rng(2).normal(size=(pairs, posterior.dim))
    gradient = posterior.all_rows()
    up, down = (full_many(gradient, s * z)[1] + s * z for s in (1, -1))
    first, second = (up + down) / 2, (up - down)[:, :, None] * z[:, None, :] / 2
    scores = [e.mean(axis=0) / e.std(axis=0) * np.sqrt(pairs) for e in (first, second)]
    return max(np.abs(scores[0]).max(), np.abs(scores[1]).max())


@pytest.fixture
def settled(monkeypatch):
    """Newton's method goes on until nothing changes."""
    monkeypatch.setattr(module, "SETTLED", 1e-12)
    monkeypatch.setattr(module, "MAX_TURNS", 30)


@pytest.mark.extended
@pytest.mark.parametrize("family", ["Logit", "Probit", "Poisson"])
def test_expected_gradient_and_curvature_are_those_of_the_gaussian(family, settled):
    """By 8,000 draws, whatever quadrature and Newton's method say."""
    assert departures(problem(family).nearest) < LIMIT


@pytest.mark.cover(0)
@pytest.mark.mistake("Laplace approximation in its place")
@pytest.mark.parametrize("name", ["Logit", "Probit", "Poisson"])
def test_the_laplace_approximation_is_told_apart(name, settled):
    assert departures(problem(name)) > 2 * LIMIT


@pytest.mark.extended
@pytest.mark.mistake("spread of predictors x sqrt 2")
@pytest.mark.parametrize("name", ["Logit"])
def test_a_wrong_spread_is_told_apart(name, settled, monkeypatch):
    nodes, weights = np.polynomial.hermite_e.hermegauss(module.NODES)
    monkeypatch.setattr(
        np.polynomial.hermite_e, "hermegauss", lambda count: (np.sqrt(2) * nodes, weights)
    )
    assert departures(problem(name).nearest) > 2 * LIMIT


@pytest.mark.parametrize("prior", [None, sgmc.student_t(4, 0, 1)])
@pytest.mark.parametrize("family", ["Logit", "Probit", "Poisson"])
def test_weights_of_its_proposals_vary_far_less(family, prior):
    """Also where few turns are made, and where the prior's curvature is that at the centre."""
    posterior, settings = problem(family, prior), check_settings(seed=1)
    at_mode = choose.variance_of_weights(posterior, settings)[0]
    assert choose.variance_of_weights(posterior.nearest, settings)[0] < at_mode / 3


def test_it_is_made_once_and_is_its_own():
    posterior = problem("Logit")
    assert posterior.nearest is posterior.nearest
    assert posterior.nearest.nearest is posterior.nearest
    assert posterior.nearest.approximation is posterior.coordinates


def test_narrow_tables_keep_the_laplace_approximation():
    posterior = problem("Logit", d=63)
    assert posterior.nearest is posterior


def test_coordinates_lead_to_the_same_parameters():
    """One product in the place of two, and back."""
    where = problem("Logit").nearest.coordinates
    x = np.random.default_rng(3).normal(size=(5, COLUMNS))
    by_steps = where.natural(x) @ where.to_theta.T + where.theta_centre
    np.testing.assert_allclose(where.theta(x), by_steps, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(where.from_theta(by_steps[0]), x[0], rtol=1e-9)
    np.testing.assert_allclose(where.white, where.to_theta @ where.map.matrix, rtol=1e-11)


def errors(results, reference):
    """Largest z-score of the differences of means and of second moments of two fits."""
    worst = 0.0
    for power in (1, 2):
        values = [
            (r.draws - reference.draws.mean(axis=(0, 1))) ** power for r in (results, reference)
        ]
        mean = [v.mean(axis=(0, 1)) for v in values]
        error = [sgmc.diagnostics.mcse(v) for v in values]
        worst = max(worst, np.abs((mean[0] - mean[1]) / np.hypot(*error)).max())
    return worst


@pytest.fixture(scope="module")
def reference():
    """A long exact run that uses nothing of this: one walker a chain, coordinates of the mode."""
    return model("Logit", 400).fit(sampler="mala", draws=4000, thin=4, seed=5)


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", [sgmc.IMH(), sgmc.IMH(skew=False), sgmc.HMC(walkers=16)])
def test_draws_are_of_the_posterior(sampler, reference):
    """128 z-scores: a largest one above 4.5 has a probability of 1e-3."""
    assert errors(model("Logit", 400).fit(sampler=sampler, draws=4000, seed=1), reference) < 4.5


@pytest.mark.extended
@pytest.mark.mistake("no accept-reject step")
@pytest.mark.parametrize("name", ["laplace"])
def test_draws_of_the_laplace_approximation_are_told_apart(name, reference):
    assert errors(model("Logit", 400).fit(sampler=name, draws=4000, seed=1), reference) > 9


def test_laplace_differences_are_from_the_mode():
    """Whatever Gaussian the draws were proposed from."""
    exact = model("Logit", 400).fit(sampler="imh", draws=1000, seed=1)
    where = exact._fit.problem.approximation
    sd = np.sqrt((where.white**2).sum(axis=1))
    expected = (exact.draws.mean(axis=(0, 1)) - where.theta_centre) / sd
    np.testing.assert_allclose(exact.accuracy().laplace_shift, expected, atol=1e-8)


def test_where_no_gaussian_is_found_the_mode_stays(monkeypatch):
    monkeypatch.setattr("sgmc.models.regression.problem.variational", lambda *args: None)
    posterior = problem("Logit")
    assert posterior.nearest is posterior
