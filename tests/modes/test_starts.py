"""Starts of chains that lie far out, and draws of priors."""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.coordinates.approximations.modes import HALVINGS, STARTS, where_finite, wide_starts
from sgmc.coordinates.priors.prior_draws import can_draw, prior_draw
from sgmc.coordinates.transforms.layout import Layout

from .cases import Scaled, problem, quiet, regression

MANY = 2000


def starts(model, k=MANY, **how):
    """Where chains begin, (k, d), in the sampler's coordinates."""
    made, settings = problem(model, init="dispersed", chains=k, **how)
    return np.array([made.begin(settings, j) for j in range(k)])


def test_starts_are_t_with_four_degrees_of_freedom_and_two_and_a_half_sds():
    x = starts(regression("Logit"))
    for column in x.T:
        assert stats.kstest(column / 2.5, stats.t(4).cdf).pvalue > 1e-3
    assert stats.kstest(x[:, 0], stats.norm.cdf).pvalue < 1e-10


def test_starts_depend_on_the_seed_and_the_chain_alone():
    model = regression("Logit")
    first, second, other = starts(model, 4), starts(model, 4), starts(model, 4, seed=2)
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(first[:, 0])) == 4 and (first != other).all()
    draws = [quiet(model, init="dispersed", threads=t, sampler="mala").draws for t in (1, 3)]
    np.testing.assert_array_equal(*draws)


@pytest.mark.cover(0)
@pytest.mark.parametrize("sampler", ["lmsgld", "mala", "zigzag"])
def test_chains_are_home_after_warmup(sampler):
    """The first draws of 200 chains have mean and sd of the posterior, here by draws of MALA; at
    the starts the sd is 3.5 times as large.
    """
    model, how = regression("Logit"), dict(sampler=sampler, draws=10)
    res = quiet(model, init="dispersed", chains=200, **how)
    truth = quiet(model, sampler="mala", draws=2000, thin=2).draws.reshape(-1, 3)
    z = (res.draws[:, 0] - truth.mean(axis=0)) / truth.std(axis=0)
    assert np.abs(z.mean(axis=0)).max() < 0.25
    assert z.std(axis=0) == pytest.approx(1, abs=0.2)
    assert res._fit.plan.warmup == 2 * quiet(model, **how)._fit.plan.warmup
    assert quiet(model, init="dispersed", warmup=7, **how)._fit.plan.warmup == 7


@pytest.mark.parametrize("scaled", [True, False])
def test_starts_where_the_density_is_no_number_are_moved_inwards(scaled):
    model = Scaled(scaled)
    made, settings = problem(model, init="dispersed", chains=300)
    theta = made.coordinates.reported(np.array([made.begin(settings, k) for k in range(300)]))
    assert np.abs(theta).max() < 3 and np.abs(theta).max() > 2.5


def test_without_an_approximation_starts_are_draws_of_the_prior():
    class Plain(sgmc.Model):
        n, parameters, scaled, prior = 1, {"x": ()}, False, sgmc.normal(3, 7)

        def log_lik(self, theta, rows):
            return -0.5 * theta["x"] ** 2

    assert stats.kstest(starts(Plain())[:, 0], stats.norm(3, 7).cdf).pvalue > 1e-3


def test_points_are_moved_half_the_way_until_they_do():
    seen = where_finite(lambda x: abs(x) < 1.5, 8.0, 0.0)
    assert seen == 1.0
    assert where_finite(lambda x: False, 8.0, 0.25) == 0.25
    assert 0.5**HALVINGS < 1e-15


def test_wide_starts_are_pairs_on_both_sides_and_draws():
    random, place, root = np.random.default_rng(0), np.array([1.0, 2.0]), np.diag([1.0, 10.0])
    found = wide_starts(random, place, root, lambda random: np.zeros(2))
    assert len(found) == STARTS - 1 == len(wide_starts(random, place, root))
    assert sum((one == 0).all() for one in found) == STARTS // 3
    np.testing.assert_allclose(found[1] + found[2], 2 * place)
    sds = [np.abs((found[k] - place) / np.diag(root)).max() for k in (1, 4, 7)]
    assert sds[0] < 10 and sds[2] > sds[0]


# ---- draws of priors ----


def drawn(constraint, prior, shape=(), count=MANY):
    """Draws of one parameter."""
    layout, random = Layout({"x": shape}, {"x": constraint} if constraint else {}), None
    random = np.random.default_rng(0)
    return np.array([prior_draw([prior] * layout.size, layout, random) for _ in range(count)])


LAWS = {
    "normal": (None, sgmc.normal(1, 2), stats.norm(1, 2)),
    "half normal": ("positive", sgmc.normal(0, 2), stats.halfnorm(0, 2)),
    "t": (None, sgmc.student_t(3, 1, 2), stats.t(3, 1, 2)),
    "laplace": (None, sgmc.laplace(1, 2), stats.laplace(1, 2)),
    "gamma": ("positive", sgmc.gamma(3, scale=2), stats.gamma(3, scale=2)),
    "lognormal": ("positive", sgmc.lognormal(1, 0.5), stats.lognorm(0.5, scale=np.e)),
    "inverse gamma": ("positive", sgmc.inverse_gamma(3, 2), stats.invgamma(3, scale=2)),
    "flat": (("interval", -1.0, 2.0), sgmc.flat(), stats.uniform(-1, 3)),
}


@pytest.mark.parametrize("law", LAWS)
def test_draws_have_the_law_of_the_prior(law):
    constraint, prior, truth = LAWS[law]
    assert stats.kstest(drawn(constraint, prior)[:, 0], truth.cdf).pvalue > 1e-3


def test_draws_keep_orders_and_sums():
    assert (np.diff(drawn("ordered", sgmc.normal(0, 1), 4, 50)) > 0).all()
    assert (np.diff(drawn("positive_ordered", sgmc.gamma(2), 4, 50), prepend=0.0) > 0).all()
    rows = drawn("ascending", sgmc.normal(0, 1), (3, 2), 50).reshape(50, 3, 2)
    assert (np.diff(rows[:, :, 0]) > 0).all() and (np.diff(rows[:, :, 1]) < 0).any()
    shares = drawn("simplex", sgmc.dirichlet(2), (2, 3)).reshape(-1, 2, 3)
    assert shares.sum(axis=2) == pytest.approx(1)
    assert shares.mean(axis=0) == pytest.approx(np.full((2, 3), 1 / 3), abs=0.02)
    assert shares.var(axis=0) == pytest.approx(np.full((2, 3), 2 / 63), abs=0.005)


@pytest.mark.parametrize(
    "constraint, prior, can",
    [
        (None, sgmc.flat(), False),
        (("interval", 0.0, 1.0), sgmc.flat(), True),
        ("positive", sgmc.flat(), False),
        ("positive", sgmc.gamma(2), True),
    ],
)
def test_flat_priors_cannot_be_drawn_from_without_bounds(constraint, prior, can):
    layout = Layout({"x": ()}, {"x": constraint} if constraint else {})
    assert can_draw([prior], layout) == can
