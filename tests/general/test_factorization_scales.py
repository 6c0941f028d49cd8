"""`sgmc.BPMF` at its defaults with few and many components, and with ratings of any scale."""

import numpy as np
import pytest

import sgmc
from sgmc.errors import DataError

from .exact_factors import gaussian
from .test_factorization_exact import HELD, table

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def ratings(users=60, items=40, share=0.4, seed=0):
    """Of 1 to 5, by three components."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((users, items)) < share)
    U, V = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    mean = 3.5 + 0.6 * (U[user] * V[item]).sum(axis=1)
    return user, item, np.clip(np.rint(mean + 0.7 * rng.normal(size=len(user))), 1, 5)


def errors(dim, scale, law, **how):
    """Largest errors of predictions of a table, of means, in sds, and of sds, relative."""
    user, item, y = table("ratings")
    res = sgmc.BPMF((user, item, scale * y), dim=dim, test=(user, item), clip=False).fit(**how)
    found, mean, sd = res.get_prediction() / scale, law.mean(axis=0), law.std(axis=0)
    apart = np.abs([(found["mean"] - y.mean() - mean) / sd, found["sd"] / sd - 1])
    return res, apart.max(axis=1)


@pytest.fixture(scope="module")
def three():
    """Of three components."""
    return exact(3, 1000, 20)


def exact(dim, sweeps, chains):
    """Draws of predictions of the table, less their mean, of ratings that have been scaled."""
    user, item, y = table("ratings")
    rng = np.random.default_rng(1)
    law = gaussian((user, item, y / y.std()), sgmc.BPMF.HYPER, dim, rng, sweeps, chains)
    return y.std() * law[:, user, item]


# 6,400 draws of ten chains by exact Gibbs sampling, which two seeds tell to 0.08 sd and 8 % for
# the worst of 93 pairs, and 8,000 of the default fit (seen: 0.04 sd and 5 %)
@pytest.mark.extended
@pytest.mark.parametrize("dim", [60, 100])
def test_many_components_have_the_predictions_of_an_exact_sampler(dim):
    res, apart = errors(dim, 1.0, exact(dim, 800, 10), seed=1)
    assert (apart < (0.15, 0.15)).all() and res.verdict.trustworthy


# the same of 16,000 exact draws (seen: 0.05 sd and 4 %)
@pytest.mark.extended
@pytest.mark.parametrize("scale", [1e-3, 25.0])
def test_ratings_of_any_scale_have_the_predictions_of_an_exact_sampler(three, scale):
    res, apart = errors(3, scale, three, seed=1, draws=1500)
    assert (apart < HELD).all()
    assert "the unit of ratings is their sd" in str(res.summary())


@pytest.mark.extended
@pytest.mark.parametrize("dim", [1, 20, 50, 100])
def test_chains_of_any_number_of_components_stay_finite(dim):
    """A step that does not see `dim` diverges within some hundred steps of 50 components."""
    user, item, y = ratings()
    res = sgmc.BPMF((user, item, y), dim=dim, test=(user, item, y)).fit(seed=1, draws=50)
    assert len(res._path) == 4 and "diverged" not in str(res.verdict)
    assert res.rmse < 0.9 * y.std()  # seen: 0.83 with one, of three


@pytest.mark.extended
@pytest.mark.parametrize(
    "data, more",
    [
        (ratings(200, 15, 0.5), {}),
        (ratings(100, 80, 0.04), {"biases": True}),
        (ratings(6, 5, 0.7), {}),
        (ratings(), {"hyper": {"precisions": "each"}}),
        (ratings(), {"centre": False}),
    ],
    ids=["few items", "few ratings", "a handful", "each", "not centred"],
)
def test_tables_of_any_shape_stay_finite_with_a_hundred_components(data, more):
    res = sgmc.BPMF(data, dim=100, **more).fit(seed=1, draws=30, warmup=600)
    assert len(res._banks) == 4 and "diverged" not in str(res.verdict)


def test_predictions_scale_with_the_ratings():
    """To the same draws, as a power of two rounds nothing."""
    user, item, y = ratings(12, 10)
    found = [
        sgmc.BPMF((user, item, c * y), dim=2, test=(user, item)).fit(seed=1, draws=50).predict()
        for c in (1.0, 64.0)
    ]
    assert found[1] == pytest.approx(64 * found[0], rel=1e-12)


@pytest.mark.extended
def test_ratings_that_are_all_the_same_need_a_noise():
    user, item, y = ratings(12, 10)
    same = user, item, np.full(len(y), 0.1)
    with pytest.raises(DataError, match="all .* in column 'rating' are 0.1.*'alpha': "):
        sgmc.BPMF(same)
    res = sgmc.BPMF(same, dim=50, clip=False, hyper={"alpha": 4.0}).fit(seed=1, draws=100)
    assert "diverged" not in str(res.verdict)
    assert np.abs(res.predict(user, item) - 0.1).max() < 0.2  # sds are about 0.4
