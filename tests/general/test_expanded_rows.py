"""Expansions of users' rows at the mode by differences of their gradients."""

from functools import cache

import numpy as np
import pytest

import sgmc
from sgmc.core.contract import Anchor
from sgmc.core.engine import evaluate, full
from sgmc.core.expansion import row_noise
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import NotSupported
from sgmc.fit.settings import check_settings
from sgmc.gradients.taylor import Taylor
from sgmc.subsampling.uniform import FullBatch

N, D = 12_000, 4


class Counts(sgmc.Model):
    """Poisson counts with a log link, their rate times a positive size."""

    n = N
    parameters = {"b": D, "size": ()}
    prior = {"b": sgmc.normal(0, 1), "size": sgmc.normal(1, 1)}

    def __init__(self, constrained):
        rng = np.random.default_rng(4)
        self.X = rng.normal(size=(N, D))
        self.y = rng.poisson(np.exp(self.X @ np.full(D, 0.2)))
        self.constraints = {"size": "positive"} if constrained else {}
        self.start = {"b": np.zeros(D), "size": 1.0}

    def log_lik(self, theta, rows):
        """See `sgmc.Model`."""
        eta = self.X[rows] @ theta["b"]
        return self.y[rows] @ (eta + np.log(theta["size"])) - theta["size"] * np.exp(eta).sum()

    def grad(self, theta, rows):
        """See `sgmc.Model`."""
        X, y = self.X[rows], self.y[rows]
        rate = np.exp(X @ theta["b"])
        away = y - theta["size"] * rate
        return {"b": away @ X, "size": y.sum() / theta["size"] - rate.sum()}


@cache
def posed(constrained):
    """The posterior, in coordinates with constraints or without."""
    return Counts(constrained).problem(None, check_settings(seed=1, subsample="uniform"))


def gradient(problem, name):
    """An estimator of batches of all rows."""
    return problem.gradient(name, FullBatch(N), Rng(seed_sequence(0, "pilot")))


def places(problem, count=5):
    """Draws of the Gaussian at the mode, in the sampler's coordinates."""
    z = np.random.default_rng(1).normal(size=(count, problem.dim))
    return [problem.coordinates.from_white(one) for one in z]


def full_slope(problem, x):
    """The exact gradient."""
    return full(gradient(problem, "simple"), x)[1]


@pytest.mark.parametrize("constrained", [False, True])
class TestExpansion:
    def test_its_sum_over_all_rows_is_the_gradient(self, constrained):
        """To what a difference at a thousandth of the way leaves of the second order, itself below
        0.1 in whitened units.
        """
        problem, stream = posed(constrained), Rng(seed_sequence(0, "pilot"))
        for x in places(problem):
            found = evaluate(gradient(problem, "taylor"), x, stream)[0]
            assert np.abs(found - full_slope(problem, x)).max() < 1e-3

    def test_a_hessian_that_is_off_is_seen(self, constrained):
        """By 1 %: some hundredths of a whitened gradient."""
        problem, stream = posed(constrained), Rng(seed_sequence(0, "pilot"))
        right = gradient(problem, "taylor")
        anchor, kernel = right.anchor, problem.model
        wrong = Anchor(kernel, anchor.centre, True, hessian=1.01 * np.asarray(anchor.hessian))
        planted = Taylor(
            kernel, problem.prior, FullBatch(N), stream, map=problem.coordinates.map, anchor=wrong
        )
        off = [evaluate(planted, x, stream)[0] - full_slope(problem, x) for x in places(problem)]
        assert np.abs(off).max() > 5e-3

    def test_it_leaves_little_noise_to_the_rows(self, constrained):
        """Residuals of second order have variances smaller by the number of rows a parameter, some
        thousands; a hundred is asked for.
        """
        problem, noise = posed(constrained), {}
        for name in ("cv", "taylor"):
            of_rows = [
                row_noise(gradient(problem, name), problem.coordinates.natural(x), 500)[1]
                for x in places(problem, 3)
            ]
            noise[name] = np.mean([np.diag(one) for one in of_rows], axis=0)
        assert (noise["taylor"] < 0.01 * noise["cv"]).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_many_rows_of_a_user_are_expanded_by_default():
    fit = Counts(True).fit(seed=1, draws=200)._fit
    assert (fit.plan.gradient, fit.plan.spec.name) == ("taylor", "lmsgld")


def test_few_rows_and_models_of_the_package_are_not():
    few = sgmc.TiedMeans(np.random.default_rng(2).normal(size=100))
    with pytest.raises(NotSupported, match="use gradient='cv'"):
        few.fit(seed=1, draws=10, gradient="taylor")
