"""The anchor that the search for a mode leaves: that of the mode, and of the rotated table."""

import numpy as np
import pytest

from sgmc.coordinates.approximations.mode import Mode, newton, subsets
from sgmc.core.contract import Anchor
from sgmc.core.designs.design import design, rotate
from sgmc.models.regression.families.logit import BernoulliLogit

N, D = 3000, 9


def table(seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, D))
    y = (random.random(N) < 1 / (1 + np.exp(-X @ np.linspace(-1, 1, D)))).astype(float)
    return X, y


def flat(theta):
    """A log prior with its gradient and precision: N(0, 100)."""
    return -0.5 * theta @ theta / 100, -theta / 100, np.eye(len(theta)) / 100


def arrays(anchor):
    names = ("centre", "full", "scores", "predictors", "curvature", "hessian")
    return {name: np.asarray(getattr(anchor, name)) for name in names}


def test_newton_ends_in_its_anchor():
    model = BernoulliLogit(design(table()[0]), table()[1])
    found = newton(model, flat, np.zeros(D), anchored=True)
    alone = newton(model, flat, np.zeros(D))
    assert alone.here.anchor is None
    here = found.here
    np.testing.assert_allclose(found.theta, alone.theta, rtol=1e-9)
    np.testing.assert_array_equal(here.anchor.centre, found.theta)
    expected = arrays(Anchor(model, found.theta, True))
    for name, value in arrays(here.anchor).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(here.likelihood, expected["hessian"], rtol=1e-12)
    assert Mode(found.theta, here.likelihood, here.prior, anchor=here.anchor).whole


@pytest.mark.parametrize("mistake", [None, "not turned"])
def test_anchor_of_the_rotated_table(mistake):
    """Its rows have the same scores; gradient and Hessian are turned."""
    X, y = table()
    random = np.random.default_rng(1)
    L, theta = random.normal(size=(D, D)), random.normal(size=D) / 4
    before = Anchor(BernoulliLogit(design(X), y), theta, True)
    eta = np.array(before.predictors)
    rotate(X, L)
    after = arrays(Anchor(BernoulliLogit(design(X), y, eta), np.zeros(D), True))
    found = arrays(before.rotated(np.eye(D) if mistake else L))
    same = [np.allclose(found[name], after[name], rtol=1e-10, atol=1e-8) for name in found]
    assert all(same) != bool(mistake)


def test_warm_starts_grow_tenfold():
    class Sized:
        dim = 10

    for n, expected in ((99_999, []), (100_000, [20_000]), (1_000_000, [20_000, 200_000])):
        Sized.n = n
        assert subsets(Sized) == expected
    Sized.dim = 1000
    assert subsets(Sized) == [50_000]
