"""Predictions for users and items with many ratings, with one, and with none, against exact Gibbs
sampling.
"""

import numpy as np
import pytest

import sgmc

from .exact_factors import gaussian, poisson
from .tiny_ratings import ITEMS, TRUE, USERS, tiny

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

COUNTED = {"a": 1.0, "a1": 6.0, "b1": 2.0, "c": 2.0, "c1": 6.0, "d1": 1.0}


def one_more():
    """The tiny table, and one rating of one more user and of one more item."""
    user, item, y = tiny()
    return np.append(user, [USERS, 0]), np.append(item, [0, ITEMS]), np.append(y, [4.5, 2.0])


def pairs():
    """All pairs, a new user and a new item among them."""
    return np.repeat(np.arange(USERS + 2), ITEMS + 2), np.tile(np.arange(ITEMS + 2), USERS + 2)


def asked(model, arguments):
    """Means and sds of all pairs as summed up, and as predicted from whole draws."""
    res = model.fit(seed=3, chains=4, draws=10_000, warmup=2000, **arguments)
    summed, shape = res.get_prediction(), (USERS + 2, ITEMS + 2)
    return [
        (np.reshape(mean, shape) - model.centre, np.reshape(sd, shape))
        for mean, sd in ((summed["mean"], summed["sd"]), res._of_whole(model.test))
    ]


def off(found, exact):
    """Largest errors of means, in sds, and of sds, relative: of users and items with many ratings,
    with one, and with none, (3, 2).
    """
    mean, sd = exact.mean(axis=0), exact.std(axis=0)
    errors = np.abs([(found[0] - mean) / sd, found[1] / sd - 1])
    kind = np.maximum(*np.ix_(*(np.repeat([0, 1, 2], [n, 1, 1]) for n in (USERS, ITEMS))))
    return np.array([errors[:, kind == k].max(axis=1) for k in range(3)])


FEW = dict(sampler=sgmc.BAOAB(friction=1.0), step_size=0.1, batch_size=24, thin=10)


def gaussian_model(precisions, kind=sgmc.BPMF):
    """With test pairs of everybody."""
    hyper = {**TRUE, "precisions": precisions}
    return kind(one_more(), dim=2, test=pairs(), clip=False, hyper=hyper)


def poisson_model(kind=sgmc.PPMF):
    """The same of counts."""
    user, item, y = one_more()
    return kind((user, item, np.rint(np.abs(y))), dim=2, test=pairs(), hyper=COUNTED)


@pytest.fixture(scope="module", params=["shared", "each"])
def exact(request):
    rng = np.random.default_rng(5)
    return request.param, gaussian(one_more(), TRUE, 2, rng, each=request.param == "each")


@pytest.fixture(scope="module")
def exact_counts():
    user, item, y = one_more()
    return poisson((user, item, np.rint(np.abs(y))), COUNTED, 2, np.random.default_rng(6))


# forty thousand draws, a tenth of them effective, err by 0.016 sd and 1 to 2 % (seen: at most 0.02
# and 3 %); of whole draws there are 800 (seen: at most 0.08 and 10 %)
@pytest.mark.extended
def test_gaussian_predictions_are_those_of_an_exact_sampler(exact):
    precisions, truth = exact
    summed, whole = asked(gaussian_model(precisions), FEW)
    assert (off(summed, truth) < (0.06, 0.06)).all()
    assert (off(whole, truth) < (0.16, 0.16)).all()


# rates have heavier tails: sds of 800 draws err by 10 %, and by 22 where the worst is
@pytest.mark.extended
def test_rates_are_those_of_an_exact_sampler(exact_counts):
    summed, whole = asked(poisson_model(), {"sampler": "hmc"})
    assert (off(summed, exact_counts) < (0.06, 0.08)).all()
    assert (off(whole, exact_counts) < (0.2, 0.4)).all()


@pytest.mark.extended
def test_biases_of_newcomers_have_the_law_of_the_others():
    """Factors too small to matter leave a + b, whose variance is that of mu and 1/lambda."""
    user, item, y = one_more()
    test = ([99, 99, 0], [0, 99, 99])
    model = sgmc.BPMF((user, item, y), dim=1, test=test, biases=True, clip=False, hyper=TRUE)
    keep = [name for name in model.parameters if name not in ("U", "V")]
    res = model.fit(seed=3, chains=4, draws=10_000, warmup=2000, keep=["U", "V", *keep], **FEW)
    U, V, mu_U, mu_V, lam_U, lam_V, a, b, mu_a, mu_b, lam_a, lam_b = (
        res.draws_of(name).reshape(40_000, -1)
        for name in ("U", "V", "mu_U", "mu_V", "lambda_U", "lambda_V", "a", "b")
        + ("mu_a", "mu_b", "lambda_a", "lambda_b")
    )
    # given each draw: means, and variances of sums and products of independent numbers
    mean = np.hstack([mu_U * V[:, :1] + mu_a + b[:, :1], mu_U * mu_V + mu_a + mu_b])
    own = np.hstack(
        [
            V[:, :1] ** 2 / lam_U + 1 / lam_a,
            mu_U**2 / lam_V + mu_V**2 / lam_U + 1 / (lam_U * lam_V) + 1 / lam_a + 1 / lam_b,
        ]
    )
    found = res.get_prediction().iloc[:2]
    sd = np.sqrt(mean.var(axis=0) + own.mean(axis=0))
    assert found["sd"].to_numpy() == pytest.approx(sd, rel=0.04)
    assert np.abs(found["mean"] - model.centre - mean.mean(axis=0)).max() < 0.03 * sd.max()
    # at the prior mean, which forgets the newcomers' own part
    assert (mean.std(axis=0) < 0.85 * sd).all()


class OthersSpread(sgmc.BPMF):
    """Draws of newcomers with a precision that is not their own: lambda_U times that of items."""

    def newcomers(self):
        """With mu in the place of the precision of users."""
        from sgmc.models.factorization.bpmf import NormalGamma

        groups = [
            (self.at(w), n, self.dim, self.at(f"mu_{w}"), self.at(f"lambda_{other}"), each)
            for w, other, n, each in (("U", "V", USERS + 1, 0), ("V", "U", ITEMS + 1, 0))
        ]
        return NormalGamma(self.places.size, groups, (0.0, 1.0, 2.0, 2.0))


class OwnRates(sgmc.PPMF):
    """Newcomers with a rate of another law: of twice the shape."""

    def newcomers(self):
        """See the class."""
        hyper, self.hyper = self.hyper, {**self.hyper, "a1": 12.0, "c1": 12.0}
        try:
            return self.prior_kernel()
        finally:
            self.hyper = hyper


@pytest.mark.extended
def test_newcomers_of_another_spread_are_seen(exact_counts):
    rng = np.random.default_rng(5)
    truth = gaussian(one_more(), TRUE, 2, rng)
    summed, _ = asked(gaussian_model("shared", OthersSpread), FEW)
    found = off(summed, truth)
    assert (found[:2] < 0.06).all() and found[2, 1] > 0.1, found
    summed, _ = asked(poisson_model(OwnRates), {"sampler": "hmc"})
    found = off(summed, exact_counts)
    assert (found[:2] < 0.08).all() and found[2, 1] > 0.12, found
