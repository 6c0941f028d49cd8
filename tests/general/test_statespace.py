"""The linear-Gaussian state space: likelihood and states by dense covariances, gradients, bias of
buffers, posteriors by grids.
"""

import itertools

import numpy as np
import pytest
from _ext import mistakes
from scipy import stats

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, BufferWarning, DataError

THETA = np.array([0.7, 0.8, 0.5, 0.9, 0.1, -0.2])  # a, q, r (2), level (2)
# three standard errors of 500 effective draws, in posterior sds and of an sd, relative
MEAN, SD = 0.14, 0.10


def simulated(T, a, q, r, rng):
    """One sequence."""
    x = np.empty(T)
    x[0] = rng.normal() * q / np.sqrt(1 - a**2)
    for t in range(1, T):
        x[t] = a * x[t - 1] + q * rng.normal()
    return x + r * rng.normal(size=T), x


def small():
    """Nine steps of two sequences in two columns, one number and one step missing."""
    y = np.random.default_rng(1).normal(size=(9, 2))
    hidden = np.zeros((9, 2), dtype=bool)
    hidden[2, 1] = hidden[7] = True
    return sgmc.LinearGaussian(
        np.ma.masked_array(y, hidden), sequence=[0] * 5 + [1] * 4, window=2, loadings=[1.0, -0.5]
    )


def dense(y, theta, loadings):
    """Mean and covariance of a sequence's outcomes,
    and covariance of the states with them and among themselves.
    """
    a, q, T = theta[0], theta[1], len(y)
    states = q**2 / (1 - a**2) * a ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    r, level = theta[2:].reshape(2, -1)
    covariance = np.kron(states, np.outer(loadings, loadings)) + np.kron(np.eye(T), np.diag(r**2))
    return np.tile(level, T), covariance, np.kron(states, loadings), states


def test_likelihood_and_states_by_dense_covariances():
    model, value, laws = small(), 0.0, []
    for begin, end in itertools.pairwise(model.edges):
        y = model.y[begin:end].ravel()
        seen = np.isfinite(y)
        mean, covariance, across, states = dense(model.y[begin:end], THETA, model.loadings)
        inner, across = covariance[np.ix_(seen, seen)], across[:, seen]
        value += stats.multivariate_normal(mean[seen], inner).logpdf(y[seen])
        gain = across @ np.linalg.inv(inner)
        laws += zip(gain @ (y - mean)[seen], np.diag(states - gain @ across.T))
    kernel = model.kernel()
    assert of_rows(kernel, THETA)[0] == pytest.approx(value, rel=1e-12)
    assert kernel.laws(THETA) == pytest.approx(np.array(laws), abs=1e-12)
    assert kernel.last_laws(THETA) == pytest.approx(np.array(laws)[[4, 8]], abs=1e-12)


def test_likelihood_against_statsmodels():
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    y, _ = simulated(300, 0.8, 0.5, 1.0, np.random.default_rng(2))
    theirs = SARIMAX(y, order=(1, 0, 0), measurement_error=True).loglike([0.8, 1.0, 0.25])
    assert of_rows(sgmc.LinearGaussian(y).kernel(), [0.8, 0.5, 1.0, 0.0])[0] == pytest.approx(
        theirs, rel=1e-10
    )


@pytest.mark.parametrize(
    "theta",
    [THETA, np.array([-0.9, 0.1, 2.0, 0.3, 0.0, 1.0]), np.array([0.999, 0.01, 1.0, 1.0, 0.0, 0.0])],
)
def test_gradient(theta):
    kernel = small().kernel()
    steps = 1e-6 * np.minimum(1, np.r_[1 - abs(theta[0]), theta[1:4], 1, 1]) * np.eye(6)
    slopes = [
        (of_rows(kernel, theta + h)[0] - of_rows(kernel, theta - h)[0]) / (2 * h.sum())
        for h in steps
    ]
    assert of_rows(kernel, theta)[1] == pytest.approx(slopes, rel=1e-5, abs=1e-5)


@pytest.fixture(scope="module")
def long():
    """3,000 steps."""
    y, x = simulated(3000, 0.9, 0.5, 1.0, np.random.default_rng(3))
    return sgmc.LinearGaussian(y), np.array([0.9, 0.5, 1.0, 0.0]), x


def test_blocks_of_long_sequences(long):
    """See the test of the same name in `test_hmm`."""
    kernel = sgmc.LinearGaussian(np.random.default_rng(6).normal(size=300_000), buffer=200).kernel()
    theta = long[1]
    assert kernel.chunk < 300_000
    value, g = of_rows(kernel, theta)
    total, each = of_rows(kernel, theta, np.arange(kernel.n))
    assert total == pytest.approx(value, rel=1e-12) and each == pytest.approx(g, rel=1e-9, abs=1e-6)
    assert kernel.laws(theta)[-1] == pytest.approx(kernel.last_laws(theta)[0])


@pytest.mark.parametrize("a, q, r", [(0.9, 0.5, 1.0), (0.97, 0.2, 1.0), (-0.8, 0.3, 1.0)])
def test_bias_falls_geometrically_with_the_buffer(long, a, q, r):
    """A filter in its steady state with predicted variance P forgets by |a| r^2 / (P + r^2) a step,
    and so does the way back.
    """
    kernel, theta, buffers = long[0].kernel(), np.array([a, q, r, 0.0]), np.arange(4, 28, 2)
    exact = kernel.buffered(3000)
    whole = np.array([of_rows(exact, theta, [i])[1] for i in range(kernel.n)])
    sizes = [
        np.sqrt(
            np.mean([((of_rows(k, theta, [i])[1] - whole[i]) ** 2).sum() for i in range(kernel.n)])
        )
        for k in map(kernel.buffered, buffers)
    ]
    fit = stats.linregress(buffers, np.log(sizes))
    P = np.roots([1, r**2 * (1 - a**2) - q**2, -(q**2) * r**2]).max()
    assert np.exp(fit.slope) == pytest.approx(abs(a) * r**2 / (P + r**2), rel=0.02)
    assert fit.rvalue**2 > 0.995


# ---- posteriors ----------------------------------------------------------------------------------

STEPS = 300
FIXED = {"level": sgmc.normal(0, 0.3), "q": sgmc.normal(0, 1), "r": sgmc.normal(0, 1)}
SGLD = dict(
    seed=2, sampler="sgld", gradient="simple", step_size=0.03, batch_size=15, thin=30, warmup=200
)


@pytest.fixture(scope="module")
def y():
    """One sequence of which all parameters are well informed."""
    return simulated(STEPS, 0.9, 0.8, 1.0, np.random.default_rng(11))[0]


@pytest.fixture(scope="module")
def exact(y):
    """Means and sds of (a, q, r, level) on a grid of a, q, r, the level integrated out,
    by dense covariances.

    With S = U diag(s) U' for each a, log |q^2 S + r^2 I| and quadratic forms are sums over the
    spectrum.
    """
    grid_a = np.linspace(0.6, 0.995, 28)
    grid_q, grid_r = np.linspace(0.3, 1.5, 30), np.linspace(0.5, 1.5, 30)
    lag = np.abs(np.subtract.outer(np.arange(STEPS), np.arange(STEPS)))
    log_p, centre, spread = (np.empty((28, 30, 30)) for _ in range(3))
    q, r = np.meshgrid(grid_q, grid_r, indexing="ij")
    for i, a in enumerate(grid_a):
        s, U = np.linalg.eigh(a**lag / (1 - a**2))
        v = q[..., None] ** 2 * s + r[..., None] ** 2
        yy, one = U.T @ y, U.T @ np.ones(STEPS)
        precision, linear = (one**2 / v).sum(axis=2) + 1 / 0.3**2, (one * yy / v).sum(axis=2)
        log_p[i] = (
            -0.5 * (np.log(v) + yy**2 / v).sum(axis=2)
            + 0.5 * linear**2 / precision
            - 0.5 * np.log(precision)
        )
        centre[i], spread[i] = linear / precision, 1 / precision
    log_p += -0.5 * q**2 - 0.5 * r**2
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    axes = np.meshgrid(grid_a, grid_q, grid_r, indexing="ij")
    mean = np.array([(p * axis).sum() for axis in axes] + [(p * centre).sum()])
    square = np.array([(p * axis**2).sum() for axis in axes] + [(p * (centre**2 + spread)).sum()])
    edge = max(
        p[0].sum(), p[-1].sum(), p[:, 0].sum(), p[:, -1].sum(), p[..., 0].sum(), p[..., -1].sum()
    )
    assert edge < 2e-3
    return mean, np.sqrt(square - mean**2)


def departures(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    return np.abs((results.params - exact[0]) / exact[1]).max(), np.abs(
        results.bse / exact[1] - 1
    ).max()


def model(y, buffer=None):
    """Windows of eight steps."""
    return sgmc.LinearGaussian(y, window=8, buffer=buffer)


@pytest.mark.extended
@pytest.mark.parametrize(
    "arguments",
    [
        dict(sampler="mala", draws=3000),
        dict(sampler="hmc", draws=1500),
        dict(SGLD, draws=1500),
        dict(SGLD, gradient="cv", draws=1500),
    ],
    ids=["mala", "hmc", "sgld", "sgld-cv"],
)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_posteriors_against_a_grid(y, exact, arguments):
    mean, sd = departures(model(y).fit(**{"seed": 1, "prior": FIXED, **arguments}), exact)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("mistake", ["no buffer", "N/n", "no prior"])
def test_planted_mistakes_are_seen(y, exact, mistake, monkeypatch):
    right = sgmc.LinearGaussian.problem
    if mistake == "N/n":

        def heavy(self, prior, checked):
            made = right(self, prior, checked)
            made.model = mistakes.Heavy(made.model, 0.5)
            return made

        monkeypatch.setattr(sgmc.LinearGaussian, "problem", heavy)
    prior = {**FIXED, "level": sgmc.normal(0, 100)} if mistake == "no prior" else FIXED
    mean, sd = departures(
        model(y, 0 if mistake == "no buffer" else None).fit(**SGLD, draws=800, prior=prior), exact
    )
    assert mean > 2 * MEAN or sd > 2 * SD


# ---- results and input ---------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_states_forecasts_and_buffers(long, tmp_path):
    fitted, theta, x = long
    results = fitted.fit(seed=1, sampler="lmsgld", draws=200, chains=2)
    states = results.smooth(50)
    z = (states["mean"] - x) / states["sd"]
    assert np.std(z) == pytest.approx(1, abs=0.08)  # autocorrelated: a few hundred independent ones
    ahead = results.forecast(300)
    assert ahead["mean"].shape == (300, 1)
    assert ahead["sd"][0, 0] < ahead["sd"][-1, 0] == pytest.approx(np.std(fitted.y), rel=0.1)
    table = results.buffer_bias()
    assert table["shift"][results.buffer] < 0.02
    assert (np.diff(np.log(table["gradient"][[2, 8, 32]])) < -1).all()
    results.save(tmp_path / "file")
    assert sgmc.load(tmp_path / "file").smooth(50, data=fitted).equals(states)
    with pytest.warns(BufferWarning, match="buffers of 1 steps bias the gradients"):
        sgmc.LinearGaussian(fitted.y, buffer=1).fit(seed=1, sampler="lmsgld", draws=200, chains=2)


@pytest.mark.parametrize(
    "error, text, arguments",
    [
        (DataError, "missing or infinite values, first at step 1", dict(y=[1, np.inf, 2, 3, 4])),
        (DataError, "too few for this model", dict(y=[1.0, 2.0, 3.0])),
        (DataError, "constant in column 1", dict(y=np.column_stack([np.arange(9.0), np.ones(9)]))),
        (DataError, "sequence has shape", dict(y=np.arange(5.0), sequence=[1, 2])),
        (ArgumentError, "loadings=", dict(y=np.arange(5.0), loadings=[1.0, 2.0])),
        (ArgumentError, "loadings=", dict(y=np.arange(5.0), loadings=[0.0])),
        (ArgumentError, "window=0", dict(y=np.arange(5.0), window=0)),
    ],
)
def test_what_it_refuses(error, text, arguments):
    with pytest.raises(error, match=text):
        sgmc.LinearGaussian(**arguments)
