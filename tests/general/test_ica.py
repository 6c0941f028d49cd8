"""Independent components: gradient, metric, posteriors by several samplers, what results say,
and planted mistakes.
"""

import sys

import numpy as np
import pytest
from _ext import mistakes
from _ext.probes import metric_at, metric_log_density

import sgmc
from sgmc.core.contract import Gradient, Prior
from sgmc.core.engine import evaluate
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.errors import ArgumentError, DataError, MissingExtra
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import Uniform

# five standard errors of 1,700 effective draws; in posterior sds, and relative
MEAN, SD = 0.12, 0.1
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def mixed(n, d, seed=0):
    """Laplace sources through a mixing matrix: (X, mixing)."""
    rng = np.random.default_rng(seed)
    A = np.eye(d) + 0.5 * rng.normal(size=(d, d))
    return rng.laplace(size=(n, d)) @ A.T, A


@pytest.fixture(scope="module")
def data():
    return mixed(300, 2)[0]


@pytest.fixture(scope="module")
def exact(data):
    """Means and sds of W by hmc within one mode:
    far enough from the others that no chain of these leaves it.
    """
    return moments(
        sgmc.ICA(data, start="whitening").fit(
            sampler=sgmc.HMC(target_accept=0.9), draws=2500, seed=9
        )
    )


def moments(results):
    """Means and sds of the matched W."""
    W = results.matched()
    return W.mean(axis=0), W.std(axis=0)


def departures(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    mean, sd = moments(results)
    return np.abs((mean - exact[0]) / exact[1]).max(), np.abs(sd / exact[1] - 1).max()


def test_value_and_gradient():
    X, _ = mixed(30, 3)
    model, rows = sgmc.ICA(X, start="whitening"), np.array([4, 9, 9, 0])
    for W in np.random.default_rng(1).normal(size=(4, 3, 3)):
        value, grad = of_rows(model.kernel(), W.ravel(), rows)
        y = model.centred()[rows] @ W.T
        assert value == pytest.approx(
            (np.log(abs(np.linalg.det(W))) - np.log(4 * np.cosh(y / 2) ** 2).sum(axis=1)).sum()
        )
        steps = [
            of_rows(model.kernel(), W.ravel() + s * h, rows)[0]
            for h in 1e-6 * np.eye(9)
            for s in (1, -1)
        ]
        assert grad == pytest.approx(
            np.diff(np.reshape(steps, (9, 2))[:, ::-1])[:, 0] / 2e-6, rel=1e-5, abs=1e-5
        )
    far = of_rows(model.kernel(), 1e4 * np.eye(3).ravel())
    assert np.isfinite(far[0]) and np.isfinite(far[1]).all()


def test_noise_of_coordinates_is_that_of_single_rows():
    kernel = sgmc.ICA(mixed(40, 3)[0], start="whitening").kernel()
    both = []
    for kind in (Simple, Gradient):  # the base goes row by row
        stream = Rng(seed_sequence(1, "chain", 0))
        theta = np.random.default_rng(2).normal(size=9)
        both.append(evaluate(kind(kernel, Prior(9), Uniform(40, 8), stream), theta, stream, True))
    assert both[0][0] == pytest.approx(both[1][0], rel=1e-9)
    assert both[0][1] == pytest.approx(both[1][1], rel=1e-7)


def test_the_natural_gradient():
    """M, its root and the divergences of both, against their definitions."""
    from scipy.stats import multivariate_normal

    X, _ = mixed(50, 3)
    kernel = sgmc.ICA(X, start="whitening").kernel()
    W = np.random.default_rng(3).normal(size=(3, 3))
    gradient = Simple(kernel, Prior(9), Uniform(50, 50), Rng(seed_sequence(1, "chain", 0)))
    metric = kernel.metric(gradient, W.ravel())

    def parts(place):
        return metric_at(metric, np.ascontiguousarray(place).ravel())

    M, R, transposed, gamma, root_gamma = parts(W)
    assert pytest.approx(np.kron(np.eye(3), W.T @ W) / 50) == M
    assert pytest.approx(M) == R @ R.T and transposed == pytest.approx(R.T)
    steps = 1e-6 * np.eye(9).reshape(9, 3, 3)
    ahead, behind = [parts(W + h) for h in steps], [parts(W - h) for h in steps]
    for k, found in ((0, gamma), (2, root_gamma)):
        expected = sum(
            (a[k][:, j] - b[k][:, j]) / 2e-6 for j, (a, b) in enumerate(zip(ahead, behind))
        )
        assert found == pytest.approx(expected, abs=1e-7)
    v = 0.1 * np.random.default_rng(4).normal(size=9)
    density = [
        metric_log_density(metric, place.ravel(), v, 0.3)
        - multivariate_normal(np.zeros(9), 0.3 * parts(place)[0]).logpdf(v)
        for place in (W, W + 1e5 * steps[2])
    ]
    assert density[0] == pytest.approx(density[1])


@pytest.mark.extended
@quiet
@pytest.mark.parametrize(
    "how",
    [
        dict(sampler="mmala", draws=4000),
        dict(sampler="mala", draws=4000),
        dict(
            sampler="sgrld", gradient="simple", step_size=0.05, batch_size=200, draws=2500, thin=40
        ),
    ],
    ids=str,
)
def test_samplers_agree(data, exact, how):
    """sgrld's own error is h/4 of the variance, and what its noise adds."""
    mean, sd = departures(sgmc.ICA(data, start="whitening").fit(seed=1, **how), exact)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@quiet
def test_a_dropped_prior_and_a_bent_gradient_are_seen(monkeypatch):
    few = mixed(40, 2)[0]
    fits = [
        sgmc.ICA(few, start="whitening", precision=lam).fit(sampler="mmala", draws=3000, seed=1)
        for lam in (20.0, 1e-6)
    ]
    assert departures(fits[1], moments(fits[0]))[0] > 3 * MEAN
    right = sgmc.ICA.kernel
    monkeypatch.setattr(sgmc.ICA, "kernel", lambda self: mistakes.Bent(right(self), 2, 0.5))
    assert "grad is wrong for 2 of 4 numbers" in str(
        sgmc.check_model(sgmc.ICA(few, start="whitening"))
    )


@pytest.mark.extended
@quiet
def test_langevin_without_the_divergence_has_another_law():
    """Where rows are few, the drift that Welling & Teh leave out shows; in the draws of the
    corrected sampler it does not.
    """
    few = sgmc.ICA(mixed(12, 2)[0], start="whitening")
    target = moments(few.fit(sampler="mmala", draws=8000, seed=1))
    how = dict(gradient="simple", step_size=0.02, batch_size=12, draws=4000, thin=60, seed=2)
    assert departures(few.fit(sampler="sgrld", **how), target)[0] < 1.5 * MEAN
    assert departures(few.fit(sampler=sgmc.SGRLD(divergence=False), **how), target)[0] > 3 * MEAN


@pytest.mark.extended
@quiet
def test_sources_and_distances():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    X, A = mixed(3000, 3, seed=5)
    held, _ = mixed(500, 3, seed=5)
    model = sgmc.ICA(X, start="fastica")
    results = model.fit(seed=1, draws=300)
    # of 12 entries of about 2 / sqrt(n); at random, 5
    assert results.amari(A).mean() < 0.7 and results.amari().mean() < 0.7
    mean, sd = results.sources(X)
    assert mean == pytest.approx(
        (X - X.mean(axis=0)) / X.std(axis=0) @ results.matched().mean(axis=0).T
    )
    assert sd[0, 1] == pytest.approx((model.centred()[0] @ results.matched()[:, 1].T).std())
    truth = np.linalg.solve(A, (X - X.mean(axis=0)).T)
    assert np.abs(np.corrcoef(mean.T, truth)[:3, 3:]).max(axis=1).min() > 0.99
    each, predictive = results.log_lik(held)
    W = results.unmixing()[7] * model.unit
    y = (held - model.centre) @ W.T
    assert each[0, 7] == pytest.approx(
        (np.log(abs(np.linalg.det(W))) - np.log(4 * np.cosh(y / 2) ** 2).sum(axis=1)).mean()
    )
    assert predictive > each.mean()


@quiet
def test_draws_are_matched_whatever_their_order_and_signs(data):
    results = sgmc.ICA(data, start="whitening").fit(seed=1, draws=50, warmup=50)
    before, index = results.matched(), results.instability()
    results.draws[0] = -results.draws[0].reshape(-1, 2, 2)[:, ::-1].reshape(-1, 4)
    assert results.matched() == pytest.approx(before)
    assert results.instability() == pytest.approx(index)
    assert index == pytest.approx(
        sgmc.diagnostics.instability(before, (data - data.mean(axis=0)) / data.std(axis=0))
    )


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(precision=0), "precision=0"),
        (dict(scale="rows"), "scale='rows'"),
        (dict(start="pca"), "start='pca'"),
        (dict(start=np.ones((2, 2))), "invertible"),
        (dict(start=np.eye(3)), r"start has shape \(3, 3\); it must be \(2, 2\)"),
    ],
)
def test_arguments_that_are_none(data, options, message):
    with pytest.raises(ArgumentError, match=message):
        sgmc.ICA(data, **options)


@pytest.mark.parametrize(
    "X, message",
    [
        ([[1.0, 2], [3, np.inf], [1, 0]], "column 1, row 1"),
        (np.ones((9, 1)), "at least two channels"),
        (np.outer(np.arange(9.0), [1, 2]), "linearly dependent"),
    ],
)
def test_data_that_do_not_suit(X, message):
    with pytest.raises(DataError, match=message):
        sgmc.ICA(X)


def test_without_scikit_learn(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", None)
    with pytest.raises(MissingExtra, match="start='whitening'"):
        sgmc.ICA(data, start="fastica").fit(seed=1)


@quiet
@pytest.mark.parametrize("found, start", [(None, "whitening"), (object(), "fastica")])
def test_the_default_start_is_what_is_installed(data, monkeypatch, found, start):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found)
    assert sgmc.ICA(data).start == start
    monkeypatch.undo()
    text = str(
        sgmc.ICA(data, start="whitening").fit(seed=1, draws=20, warmup=20).summary(details=True)
    )
    assert "Chains began near one unmixing (whitening)" in " ".join(text.split())
