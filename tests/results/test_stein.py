"""What results say with their scores: discrepancies by any scores,
the test, thinned draws, better means.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import special

import sgmc
from sgmc import diagnostics
from sgmc.errors import ArgumentError, NotSupported, SGMCWarning

N = 3000


def frame(unit=1.0):
    """Rows with two predictors."""
    rng = np.random.default_rng(21)
    x = rng.normal(size=(N, 2))
    y = rng.random(N) < special.expit(0.3 + x @ [0.8, -0.5])
    return pd.DataFrame({"y": y.astype(int), "x1": x[:, 0] * unit, "x2": x[:, 1]})


def fit(unit=1.0, **how):
    """A posterior with N(0, 2^2) priors on the coefficients as they are."""
    data = frame(unit)
    X = np.column_stack([np.ones(N), data.x1, data.x2])
    return sgmc.Logit(data.y.to_numpy(float), X).fit(
        prior={"*": sgmc.normal(0, 2), "const": sgmc.normal(0, 2)}, **{"seed": 1, **how}
    )


@pytest.fixture(scope="module")
def results():
    return fit()


@pytest.fixture(scope="module")
def weighted():
    """Draws weighted by decreasing steps, in coordinates that are not white."""
    return fit(
        sampler="lmsgld",
        precondition=None,
        step_size=lambda t: 3e-4 / (1 + t / 20_000),
        thin=20,
        draws=1000,
    )


@pytest.fixture(params=["equal weights, white", "step-size weights, not white"])
def either(request, results, weighted):
    return results if request.param == "equal weights, white" else weighted


def scores(theta):
    """Gradients of the log posterior."""
    data = frame()
    X = np.column_stack([np.ones(N), data.x1, data.x2])
    return (data.y.to_numpy(float) - special.expit(theta @ X.T)) @ X - theta / 4


@pytest.mark.extended
def test_ksd_is_that_of_plain_arrays_in_white_coordinates(either):
    """To 1e-7: coefficients come of a multiplication by matrices,
    and their scores of 3,000 rows of differences.
    """
    theta, white = either.flat, either._fit.problem.coordinates.white
    weights = None if either.weights is None else either.flat_weights
    for options in (
        {},
        {"form": "coordinate", "statistic": "u"},
        {"kernel": "gaussian", "c": "median"},
    ):
        expected = diagnostics.ksd(theta, scores(theta), weights=weights, scale=white, **options)
        assert either.ksd("exact", draws=len(theta), **options) == pytest.approx(expected, rel=1e-7)
    expected = diagnostics.fssd(theta, scores(theta), weights=weights, scale=white, seed=3)
    assert either.fssd("exact", seed=3) == pytest.approx(expected, rel=1e-7)


def test_ksd_without_arguments_is_the_headers(either):
    assert either.ksd() == either._ksd == either.ksd(form="joint") == either.ksd(draws=1000)
    assert f"{either.ksd():.3g} (exact)" in str(either.summary(details=True))


@pytest.mark.extended
def test_ksd_does_not_depend_on_units(results):
    """Posteriors with a predictor in other units; the prior is flat, as N(0, 2^2)
    would be another one.
    """
    one, other = (
        sgmc.logit("y ~ x1 + x2", frame(unit), prior="flat", seed=1) for unit in (1.0, 1e5)
    )
    for ask in (
        lambda r: r.ksd(),
        lambda r: r.fssd(),
        lambda r: r.ksd("cv", kernel="gaussian"),
        lambda r: r.ksd_test().ksd,
    ):
        assert ask(one) == pytest.approx(ask(other), rel=1e-4)


@pytest.mark.parametrize("kind, tolerance", [("taylor", 0.01), ("cv", 0.1)])
def test_scores_by_control_variates_are_nearly_exact(either, kind, tolerance):
    """Minibatches of 1,000 of 3,000 rows."""
    assert (
        either.ksd("exact") != either.ksd(kind) == pytest.approx(either.ksd("exact"), rel=tolerance)
    )


@pytest.mark.extended
def test_plain_minibatch_scores_need_the_u_statistic():
    """Noise of a draw with itself is in V alone; U is right on average (4 errors).

    The noise has variance 5 in all coordinates together, which adds 5 / 1,000 to the square of V,
    about 0.07^2, give or take 0.0027: on average over 12 runs 0.0008, a third of the tolerance.
    """
    runs = [fit(seed=k) for k in range(12)]
    added = [r.ksd("simple") ** 2 - r.ksd("exact") ** 2 for r in runs]
    assert np.mean(added) == pytest.approx(0.005, rel=0.5)

    def square(value):
        return np.sign(value) * value**2

    off = np.array(
        [
            square(r.ksd("simple", statistic="u")) - square(r.ksd("exact", statistic="u"))
            for r in runs
        ]
    )
    assert abs(off.mean()) < 4 * off.std(ddof=1) / np.sqrt(len(runs))


@pytest.mark.extended
def test_discrepancies_tell_a_wrong_sampler(results):
    """Steps that widen the posterior's sds by a fifth."""
    with pytest.warns(SGMCWarning):
        wide = fit(sampler="sgld", step_size=1.2)
    assert wide.ksd() > 1.5 * results.ksd() and wide.fssd() > 1.5 * results.fssd()
    assert wide.ksd_test().pvalue < 0.01 < results.ksd_test().pvalue
    assert wide.ksd_test(replicates=99, seed=5) == wide.ksd_test(replicates=99, seed=5)


@pytest.mark.cover(0)
def test_thin_stein(either):
    chosen = either.thin_stein(20)
    assert chosen.columns.tolist() == either.names and len(chosen) == 20
    pd.testing.assert_frame_equal(
        chosen, either.to_frame().loc[chosen.index.unique(), either.names].loc[chosen.index]
    )
    white, theta = either._fit.problem.coordinates.white, chosen.to_numpy()
    even = either.flat[:: len(either.flat) // 20]
    assert diagnostics.ksd(theta, scores(theta), scale=white) < 0.75 * diagnostics.ksd(
        even, scores(even), scale=white
    )
    pd.testing.assert_frame_equal(either.thin_stein(5), chosen[:5])
    few = either.thin_stein(20, draws=500)
    kept = np.linspace(0, len(either.flat) - 1, 500).astype(int)
    assert set(few.index) <= set(either.to_frame().index[kept])
    assert diagnostics.ksd(few, scores(few.to_numpy()), scale=white) < 0.75 * diagnostics.ksd(
        even, scores(even), scale=white
    )


def exact_means():
    """Posterior means, and sds by the curvature at the mode, by importance sampling of 3,000 pairs
    of draws: error below 0.002 sds.
    """
    data, theta = frame(), np.zeros(3)
    X, y = np.column_stack([np.ones(N), data.x1, data.x2]), data.y.to_numpy(float)
    for _ in range(20):
        p = special.expit(X @ theta)
        H = (X.T * (p * (1 - p))) @ X + np.eye(3) / 4
        theta = theta + np.linalg.solve(H, scores(theta))
    z = np.random.default_rng(22).normal(size=(3000, 3))
    z = np.concatenate([z, -z])  # antithetic: the mean's error is of second order
    draws = theta + z @ np.linalg.cholesky(np.linalg.inv(H)).T
    eta = draws @ X.T
    log = (
        eta @ y
        - np.logaddexp(0, eta).sum(axis=1)
        - (draws**2).sum(axis=1) / 8
        + (z**2).sum(axis=1) / 2
    )
    weight = np.exp(log - log.max())
    return weight @ draws / weight.sum(), np.sqrt(np.diag(np.linalg.inv(H)))


@pytest.fixture(scope="module")
def truth():
    return exact_means()


@pytest.mark.extended
@pytest.mark.parametrize("order", [1, 2])
def test_zv_means(either, truth, order):
    """Errors of plain means are 0.02 sds, of the better ones below 0.002,
    and so is the reference's.
    """
    mean, sd = truth
    table = either.zv_means(order)
    assert table.index.tolist() == either.names
    assert table.columns.tolist() == ["mean", "mcse", "mcse_draws"]
    assert (np.abs(table["mean"] - mean) / sd < 0.005).all()
    assert (table["mcse"] < 0.1 * table["mcse_draws"]).all()
    assert (either.zv_means(2)["mcse"] < 0.2 * either.zv_means(1)["mcse"]).all()
    np.testing.assert_array_equal(table["mcse_draws"], either.mcse())


def test_zv_means_with_noisy_scores(results, truth):
    """Plain minibatch scores are still right on average: within 4 errors, which shrink less."""
    mean, _ = truth
    table = results.zv_means(scores="simple")
    assert (np.abs(table["mean"] - mean) < 4 * table["mcse"]).all()
    assert (table["mcse"] > 3 * results.zv_means(scores="exact")["mcse"]).all()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_ksd_is_computed_where_the_header_has_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    net = sgmc.BNN(X, (X[:, 0] > rng.normal(size=500)).astype(int), hidden=(3,), scale=None)
    results = net.fit(sampler="hmc", draws=30, warmup=30, chains=1, seed=1)
    found = results._ksd
    assert results.ksd() == found > 0
    results._ksd = None  # as of models whose summary leaves it out
    assert results.ksd() == results.ksd("exact") == found
    assert results.ksd(draws=20) > 0
    results.remove_data()
    assert results.ksd() is None


METHODS = [
    lambda r: r.ksd("exact"),
    lambda r: r.ksd(form="coordinate"),
    lambda r: r.fssd(),
    lambda r: r.ksd_test(),
    lambda r: r.thin_stein(3),
    lambda r: r.zv_means(),
]


@pytest.mark.parametrize("ask", METHODS[:1] + METHODS[2:])
def test_without_the_data(results, tmp_path, ask):
    results.save(tmp_path / "r")
    loaded = sgmc.load(tmp_path / "r")
    assert loaded.ksd() == results.ksd()
    with pytest.raises(ArgumentError, match="needs the data of the fit"):
        ask(loaded)


def test_of_a_sandwich():
    robust = sgmc.logit("y ~ x1 + x2", frame(), seed=1, cov_type="robust")
    assert robust.ksd() is None and robust.ksd("exact") is None
    for ask in METHODS[2:]:
        with pytest.raises(NotSupported, match="a robust posterior is no density"):
            ask(robust)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda r: r.ksd("full"), "scores='full' must be one of 'exact', 'taylor', 'cv', 'simple'"),
        (lambda r: r.ksd(draws=1), "draws=1 must be a whole number, at least 2"),
        (lambda r: r.thin_stein(0), "m=0 must be a whole number, at least 1"),
        (lambda r: r.zv_means(3), "order=3 must be one of 1, 2"),
    ],
)
def test_what_is_wrong_is_named(results, ask, message):
    with pytest.raises(ArgumentError, match=message):
        ask(results)
