"""Gaussian mixtures: densities and gradients, posteriors against quadrature and exact samplers,
labels, predictions, refusals.
"""

import numpy as np
import pytest
from scipy import stats

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, DataError

# four standard errors of 2,000 effective draws, in posterior sds and, of a normal's sd, relative
MEAN, SD = 0.09, 0.05
FORMS = {"one number": (1, "diagonal"), "diagonal": (3, "diagonal"), "full": (3, "full")}


def two_groups(n, apart, seed=0, D=None):
    """Rows of two groups, `apart` sds from each other."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D or 1)) + apart * (rng.random(n) < 0.4)[:, None]
    return X if D else X[:, 0]


def density(model, theta, X):
    """Of the mixture at rows, by scipy."""
    parts = model.layout().unpack(theta)
    D, total = X.shape[1], 0
    for k in range(model.components):
        mean = np.atleast_1d(parts["means"][k])
        sd, B = np.atleast_1d(parts["sds"][k]), np.zeros((D, D))
        B[np.tril_indices(D, -1)] = parts["slopes"][k] if "slopes" in parts else 0
        root = np.linalg.inv(np.eye(D) - B) * sd
        total += parts["weights"][k] * stats.multivariate_normal(mean, root @ root.T).pdf(X)
    return total


@pytest.mark.parametrize("form", FORMS)
def test_value_and_gradient(form):
    D, covariance = FORMS[form]
    X, rows = np.random.default_rng(1).normal(size=(30, D)), np.array([3, 20, 7, 7])
    model = sgmc.GaussianMixture(X[:, 0] if D == 1 else X, 3, covariance)
    kernel, rng = model.kernel(), np.random.default_rng(2)
    for _ in range(3):
        theta = model.starts(rng) * rng.uniform(0.8, 1.2, kernel.dim)
        theta[-3:] += 0.3 * rng.random(3)
        value, g = of_rows(kernel, theta, rows)
        assert value == pytest.approx(np.log(density(model, theta, X[rows])).sum(), rel=1e-10)
        steps = 1e-6 * np.eye(kernel.dim)  # differences: their rounding error is 1e-9 of the value
        slopes = [
            (of_rows(kernel, theta + h, rows)[0] - of_rows(kernel, theta - h, rows)[0]) / 2e-6
            for h in steps
        ]
        assert g == pytest.approx(slopes, rel=1e-6, abs=1e-6)


def test_rows_far_out_are_finite():
    kernel = sgmc.GaussianMixture(np.append(two_groups(50, 3.0), 1e6), 2).kernel()
    value, g = of_rows(kernel, [0.5, 0.5, 0.0, 3.0, 1.0, 1.0])
    assert np.isfinite(value) and np.isfinite(g).all() and value < -1e11


def normal_model(y, prior=True):
    """Posterior means and sds of mean and sd, by the trapezium rule: the density is smooth and
    vanishes at the edges.
    """
    a, s = np.meshgrid(np.linspace(-4, 4, 801), np.linspace(0.2, 8, 1201), indexing="ij")
    log_p = -len(y) * np.log(s) - sum((one - a) ** 2 for one in y) / (2 * s**2)
    if prior:
        log_p += -((a - y.mean()) ** 2) / (8 * y.var()) - 3 * np.log(s) - y.std() / s
    p = np.exp(log_p - log_p.max())
    means = np.array([np.average(one, weights=p) for one in (a, s)])
    return means, np.sqrt([np.average((one - m) ** 2, weights=p) for one, m in zip((a, s), means)])


def departures(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    mean, sd = exact
    return np.abs((results.params - mean) / sd).max(), np.abs(results.bse / sd - 1).max()


@pytest.mark.parametrize("sampler", ["hmc", "mala"])
def test_one_component_is_a_normal_model(sampler):
    y = np.random.default_rng(3).normal(0.5, 1.3, 12)
    results = sgmc.GaussianMixture(y, 1).fit(seed=1, sampler=sampler, draws=4000)
    mean, sd = departures(results, normal_model(y))
    assert mean < MEAN and sd < SD
    # planted: the prior dropped
    assert departures(results, normal_model(y, prior=False))[1] > 2 * SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of the planted noise
def test_minibatches_against_an_exact_sampler():
    model = sgmc.GaussianMixture(two_groups(3000, 4.0), 2)
    exact = model.fit(seed=1, sampler="hmc", draws=1500)
    mean, sd = departures(
        model.fit(seed=2, draws=1500, sampler="lmsgld"), (exact.params, exact.bse)
    )
    assert mean < MEAN and sd < SD + 0.01  # 0.01: what the default step adds
    wrong = model.fit(
        seed=2, draws=1500, sampler="sgld", gradient="simple", step_size=0.5, batch_size=50
    )
    # planted: noise that is far too large
    assert departures(wrong, (exact.params, exact.bse))[1] > 3 * SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")  # of labels that switch seldom
@pytest.mark.parametrize("D", [None, 2])
def test_ordered_components_are_those_of_sorted_draws(D):
    """The posterior is the same for all labellings, so that its restriction to one is the law of
    sorted draws; the groups overlap.
    """
    X = two_groups(40, 1.5, D=D)
    free = sgmc.GaussianMixture(X, 2).fit(seed=1, sampler="hmc", draws=3000)
    held = sgmc.GaussianMixture(X, 2, ordered=True).fit(seed=2, sampler="hmc", draws=3000)
    means, sds = (free.draws_of(name).reshape(12_000, 2, D or 1) for name in ("means", "sds"))
    order = np.argsort(means[:, :, 0], axis=1)[..., None]
    assert (order[:, 0] == 1).mean() > 0.02  # labels do switch
    assert (np.diff(held.draws_of("means").reshape(12_000, 2, D or 1)[:, :, 0]) >= 0).all()
    for name, draws in (("means", means), ("sds", sds)):
        expected = np.take_along_axis(draws, order, axis=1)
        ours = held.draws_of(name).reshape(draws.shape).mean(axis=0)  # tails of sds may hide a mean
        gap = np.abs(ours - expected.mean(axis=0)) / expected.std(axis=0)
        assert gap.max() < 2 * MEAN  # of some 800 effective draws each
    # planted: labels as they come
    assert (
        np.abs(held.mean_of("means").reshape(2, -1) - means.mean(axis=0)).max() > 0.1 * means.std()
    )


@pytest.mark.extended
def test_predictions():
    X = np.vstack(
        [
            two_groups(300, 0.0, 1, D=2) @ [[1.0, 0.8], [0.0, 0.6]],
            two_groups(200, 0.0, 2, D=2) + [6.0, 0.0],
        ]
    )
    results = sgmc.GaussianMixture(X, 2, covariance="full").fit(seed=1)
    found = results.predict(X)
    assert (found[:300] == 0).mean() > 0.99 and (found[300:] == 1).mean() > 0.99
    p = results.responsibilities(X)
    assert p.shape == (500, 2)
    assert p.sum(axis=1) == pytest.approx(1)
    assert (p.argmax(axis=1) == found).all()
    for k, some in ((0, X[:300]), (1, X[300:])):  # four standard errors of a covariance
        assert results.covariances()[k] == pytest.approx(
            np.cov(some.T), abs=4 * 1.5 / np.sqrt(len(some))
        )
    grid = np.stack(np.meshgrid(np.linspace(-8, 14, 56), np.linspace(-8, 8, 41)), axis=-1).reshape(
        -1, 2
    )
    assert results.density(grid).sum() * 0.4 * 0.4 == pytest.approx(1, abs=1e-3)
    assert np.exp(results.log_density(X)) == pytest.approx(results.density(X))


@pytest.mark.extended
def test_priors_that_are_not_named_stay():
    model = sgmc.GaussianMixture(two_groups(400, 5.0), 2)
    told = str(model.fit(seed=1, draws=500, prior={"weights": sgmc.dirichlet(7)}).summary())
    assert "dirichlet(7)" in told and "inverse_gamma(2" in told


@pytest.mark.extended
def test_what_it_refuses():
    y = two_groups(20, 3.0)
    with pytest.raises(ArgumentError, match="components=0"):
        sgmc.GaussianMixture(y, 0)
    with pytest.raises(ArgumentError, match="X has only 2 different rows"):
        sgmc.GaussianMixture([1.0, 1.0, 2.0], 2)
    with pytest.raises(DataError, match="column 1 is constant"):
        sgmc.GaussianMixture(np.column_stack([y, np.ones(20)]), 2)
    with pytest.raises(ArgumentError, match="covariance='tied'"):
        sgmc.GaussianMixture(y, 2, covariance="tied")
    with pytest.raises(DataError, match="column 0, row 3"):
        sgmc.GaussianMixture(np.where(np.arange(20) == 3, np.nan, y), 2)
    with pytest.raises(ArgumentError, match="X has 2 columns; the mixture is of 1"):
        sgmc.GaussianMixture(two_groups(400, 5.0), 2).fit(seed=1, draws=500).density(
            np.ones((3, 2))
        )
