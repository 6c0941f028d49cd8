"""Stochastic volatility: likelihood and states by a fine grid, gradients, particles, posteriors by
quadrature.
"""

import numpy as np
import pytest
from _ext import mistakes
from scipy import stats

import sgmc
from sgmc import registry
from sgmc.coordinates.transforms.layout import Layout
from sgmc.core.contract import Prior
from sgmc.core.engine import scores
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng
from sgmc.errors import ArgumentError, DataError, NotSupported, ParticleWarning
from sgmc.models.hmm.volatility.particle_bias import shifts
from sgmc.subsampling.uniform import Uniform

from .volatilities import integrated, quadrature, simulated

THETA = np.array([0.9, 0.4, 1.2])
# three standard errors, in posterior sds and of an sd, relative: of 500 effective draws of exact
# samplers, and of the 150 that SGLD below has at least
MEAN, SD = 0.14, 0.10
SGLD_MEAN, SGLD_SD = 0.25, 0.18


def small(**more):
    """Sixty steps of two sequences, one of them not observed."""
    y = np.ma.masked_array(simulated(60, *THETA, seed=1)[0], np.arange(60) == 20)
    return sgmc.StochasticVolatility(
        y, sequence=np.repeat([0, 1], [35, 25]), window=10, buffer=60, **more
    )


@pytest.mark.parametrize("theta", [THETA, [-0.6, 0.8, 1.0], [0.995, 0.15, 1.0], [0.1, 1.5, 0.5]])
def test_likelihood_and_states_by_a_fine_grid(theta):
    """The trapezoidal rule of the compiled grid has about eight digits."""
    model, kernel = small(), small().kernel()
    value, smoothed, filtered = integrated(model.y[:, 0], theta, model.edges)
    x = kernel.points(theta)
    laws, so_far, last = (
        law[:, : len(x)]
        for law in (kernel.laws(theta), kernel.filtered(theta), kernel.last_laws(theta))
    )
    assert of_rows(kernel, theta)[0] == pytest.approx(value, abs=1e-6)
    assert laws @ x == pytest.approx(smoothed, abs=1e-6)
    assert so_far @ x == pytest.approx(filtered, abs=1e-6)
    assert last @ x == pytest.approx(filtered[[34, 59]], abs=1e-6)
    assert laws.sum(axis=1) == pytest.approx(1)


def test_outcomes_far_out_move_the_end_of_the_grid():
    """A return of 60 sds has its state at 6 stationary sds and more."""
    y = simulated(60, *THETA, seed=2)[0]
    y[30] = 60.0
    model = sgmc.StochasticVolatility(y)
    value, smoothed, _ = integrated(y, [0.5, 0.5, 1.0])
    kernel = model.kernel()
    x = kernel.points([0.5, 0.5, 1.0])
    assert smoothed[30] > 6 * 0.5 / np.sqrt(0.75) and x[-1] > smoothed[30] + 1.5
    assert of_rows(kernel, [0.5, 0.5, 1.0])[0] == pytest.approx(value, abs=1e-5)


def slopes(kernel, theta):
    """The gradient of the value by central differences."""
    steps = 1e-5 * np.array([1 - abs(theta[0]), theta[1], theta[2]]) * np.eye(3)
    return np.array(
        [
            (of_rows(kernel, theta + h)[0] - of_rows(kernel, theta - h)[0]) / (2 * h.sum())
            for h in steps
        ]
    )


@pytest.mark.parametrize(
    "theta", [THETA, [-0.9, 0.3, 1.0], [0.995, 0.1, 1.0], [0.0, 1.0, 0.5], [0.97, 0.2, 3.0]]
)
def test_gradient(theta):
    kernel, theta = small().kernel(), np.array(theta)
    assert of_rows(kernel, theta)[1] == pytest.approx(slopes(kernel, theta), rel=2e-5, abs=2e-5)


def test_a_start_that_is_not_stationary_is_seen():
    """Planted: the first state's law is that of a move; its likelihood, and what the gradient has
    of it, are wrong.
    """
    model, theta = small(), THETA
    wrong = mistakes.Unsettled(model.y, model.windows, 60)
    value = integrated(model.y[:, 0], theta, model.edges)[0]
    assert abs(of_rows(wrong, theta)[0] - value) > 0.05
    assert np.abs(of_rows(wrong, theta)[1] - slopes(wrong, theta)).max() > 0.5


@pytest.fixture(scope="module")
def long():
    """1,200 steps."""
    y, x = simulated(1200, 0.95, 0.3, 1.0, seed=3)
    return sgmc.StochasticVolatility(y), np.array([0.95, 0.3, 1.0]), x


def test_blocks_and_windows_of_long_sequences(long):
    """A whole sequence is gone through in blocks; windows whose buffers are long enough sum to the
    same.
    """
    model, theta, _ = long
    kernel = model.kernel().buffered(150)
    assert kernel.chunk < 1200
    value, g = of_rows(kernel, theta)
    total, each = of_rows(kernel, theta, np.arange(kernel.n))
    assert total == pytest.approx(value, rel=1e-9) and each == pytest.approx(g, rel=1e-6, abs=1e-3)
    used = len(kernel.points(theta))
    assert kernel.laws(theta)[-1, :used] == pytest.approx(kernel.last_laws(theta)[0, :used])


def test_bias_falls_geometrically_with_the_buffer(long):
    """To the filter's forgetting rate, which is below phi; a buffer that is dropped is seen."""
    kernel, theta, buffers = long[0].kernel(), long[1], np.arange(4, 44, 4)
    exact = kernel.buffered(1200)
    whole = np.array([of_rows(exact, theta, [i])[1] for i in range(kernel.n)])
    sizes = [
        np.sqrt(
            np.mean([((of_rows(k, theta, [i])[1] - whole[i]) ** 2).sum() for i in range(kernel.n)])
        )
        for k in map(kernel.buffered, buffers)
    ]
    fit = stats.linregress(buffers, np.log(sizes))
    assert 0.7 < np.exp(fit.slope) < 0.95 and fit.rvalue**2 > 0.99
    none = of_rows(kernel.buffered(0), theta, np.arange(kernel.n))[1]
    assert np.abs(none - whole.sum(axis=0)).max() > 10 * sizes[-1] * np.sqrt(kernel.n)


# ---- particles -----------------------------------------------------------------------------------


def by_particles(model, theta, particles, times, buffer=20):
    """Gradients summed over all windows, each by a filter of its own: (times, 3)."""
    from sgmc.models.hmm.volatility.particles import ParticleVolatility

    kernel = ParticleVolatility(model.y, model.windows, buffer, particles)
    rng = Rng(np.random.SeedSequence(4))
    simple = registry.lookup("gradients", "simple", "gradient")
    estimator = simple(kernel, Prior(3), Uniform(kernel.n, kernel.n), rng)
    return scores(estimator, np.tile(theta, (times, 1)), rng)


def standardised(found, wanted):
    """Largest error of a mean, in its standard errors."""
    return np.abs((found.mean(axis=0) - wanted) / found.std(axis=0) * np.sqrt(len(found))).max()


def test_gradients_by_particles_against_the_grid():
    """The mean of 150 gradients by 200 particles is within four standard errors: the bias, of order
    1/200, is below one.  One without buffers, or with another law of the first state, is not.
    """
    model = small()
    found = by_particles(model, THETA, 200, 150)
    exact = model.kernel().buffered(20)
    every = np.arange(exact.n)
    assert standardised(found, of_rows(exact, THETA, every)[1]) < 4
    assert standardised(found, of_rows(exact.buffered(0), THETA, every)[1]) > 8
    unsettled = mistakes.Unsettled(model.y, model.windows, 20)
    assert standardised(found, of_rows(unsettled, THETA, every)[1]) > 8


@pytest.mark.extended
def test_the_bias_of_particles_falls_like_their_number():
    """From 10 to 40 particles by 4, for beta within three standard errors and a fifth: the next
    order is 1/100.
    """
    model = small()
    exact = of_rows(model.kernel().buffered(20), THETA, np.arange(model.n))[1]
    few, more = (by_particles(model, THETA, n, 3000)[:, 2] for n in (10, 40))
    off, error = ([np.mean(few) - exact[2], np.mean(more) - exact[2]], np.std([few, more], axis=1))
    error /= np.sqrt(3000)
    assert abs(off[1]) > 5 * error[1]
    assert abs(off[0] - 4 * off[1]) < 3 * np.hypot(error[0], 4 * error[1]) + 0.2 * abs(off[0])


def test_particles_are_those_of_the_chain_and_of_no_exact_sampler():
    """Outside chains, gradients are the grid's; samplers of all rows are refused by name."""
    model = small(particles=30)
    kernel, rows = model.kernel(), [0, 2]
    assert (of_rows(kernel, THETA, rows)[1] == of_rows(small().kernel(), THETA, rows)[1]).all()
    assert "by 30 particles" in kernel.remarks[1]
    for sampler in ("hmc", "mala", "laplace"):
        with pytest.raises(NotSupported, match=f"sampler='{sampler}' uses the likelihood of all"):
            model.fit(seed=1, sampler=sampler)


# ---- posteriors ----------------------------------------------------------------------------------

PRIOR = {"phi": sgmc.normal(0.8, 0.2), "sigma": sgmc.normal(0, 1), "beta": sgmc.normal(0, 2)}
SGLD = dict(
    sampler="sgld",
    gradient="simple",
    step_size=0.04,
    batch_size=8,
    thin=12,
    warmup=200,
    draws=800,
    chains=4,
)


def log_prior(theta):
    """That of PRIOR."""
    return stats.norm.logpdf(theta, [0.8, 0, 0], [0.2, 1, 2]).sum()


@pytest.fixture(scope="module")
def returns():
    """A series that tells all parameters well."""
    return simulated(250, 0.7, 0.9, 1.0, seed=5)[0]


@pytest.fixture(scope="module")
def exact(returns):
    """Means and sds by quadrature, about the mode."""
    from sgmc.fit.settings import check_settings

    model = sgmc.StochasticVolatility(returns)
    where = model.problem(PRIOR, check_settings(seed=1, subsample="uniform")).coordinates
    mode = where.theta(where.from_white(np.zeros(3)))
    return quadrature(
        model.kernel(), log_prior, mode, np.linalg.cholesky(np.linalg.inv(where.precision))
    )


def departures(results, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    return np.abs((results.params - exact[0]) / exact[1]).max(), np.abs(
        results.bse / exact[1] - 1
    ).max()


def fitted(returns, buffer=None, particles=None, **how):
    """A fit with windows of five steps."""
    model = sgmc.StochasticVolatility(returns, window=5, buffer=buffer, particles=particles)
    return model.fit(**{"seed": 1, "prior": PRIOR, **how})


@pytest.mark.extended
@pytest.mark.parametrize(
    "arguments", [dict(draws=500), dict(sampler="mala", draws=2000)], ids=["default", "mala"]
)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_exact_samplers_against_quadrature(returns, exact, arguments):
    mean, sd = departures(fitted(returns, **arguments), exact)
    assert mean < MEAN and sd < SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("gradient", ["simple", "cv"])
def test_minibatches_against_quadrature(returns, exact, gradient):
    mean, sd = departures(fitted(returns, **SGLD | {"gradient": gradient}), exact)
    assert mean < SGLD_MEAN and sd < SGLD_SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_particles_against_quadrature(returns, exact):
    """Thirty particles shift the mean of beta by 1.2 sds, as the bias at the mode foretells, within
    Monte Carlo's error and a tenth of a sd for what is not of first order.
    """
    results = fitted(returns, buffer=16, particles=30, **SGLD | {"draws": 400})
    foretold = shifts(results._fit.problem, seed=1)
    moved = (results.params - exact[0]) / exact[1]
    assert foretold[2] > 0.8
    assert np.abs(moved - foretold).max() < SGLD_MEAN + 0.1


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_few_particles_are_warned_of(returns):
    with pytest.warns(ParticleWarning, match="30 particles bias.* mean of beta by about 1"):
        fitted(returns, buffer=16, particles=30, draws=5, chains=1, warmup=1, thin=1, batch_size=2)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("mistake", ["no buffer", "N/n"])
def test_mistakes_of_minibatches_are_seen(returns, exact, mistake, monkeypatch):
    buffer, right = 0 if mistake == "no buffer" else None, sgmc.StochasticVolatility.problem
    if mistake == "N/n":

        def heavy(self, prior, checked):
            made = right(self, prior, checked)
            made.model = mistakes.Heavy(made.model, 0.5)
            return made

        monkeypatch.setattr(sgmc.StochasticVolatility, "problem", heavy)
    mean, sd = departures(fitted(returns, buffer=buffer, **SGLD), exact)
    assert mean > 2 * SGLD_MEAN or sd > 2 * SGLD_SD


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_forgotten_jacobian_is_seen(returns, exact, monkeypatch):
    right = Layout.map
    monkeypatch.setattr(Layout, "map", property(lambda self: mistakes.NoJacobian(right.fget(self))))
    mean, sd = departures(fitted(returns, sampler="hmc", draws=1000, precondition=None), exact)
    assert mean > 2 * MEAN or sd > 2 * SD


# ---- results and input ---------------------------------------------------------------------------


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_volatilities_forecasts_and_buffers(long, tmp_path):
    model, theta, x = long
    results = model.fit(seed=1, sampler="laplace", draws=60, chains=1)
    states = results.smooth(20)
    z = (states["mean"] - x) / states["sd"]
    assert np.std(z) == pytest.approx(1, abs=0.1)  # autocorrelated: some hundred independent ones
    table, so_far = results.volatility(20), results.volatility(20, filtered=True)
    truth = theta[2] * np.exp(x / 2)
    inside = (table["lower"] < truth) & (truth < table["upper"])
    assert inside.mean() == pytest.approx(0.95, abs=0.03)
    assert (table["lower"] < table["median"]).all() and (table["median"] < table["mean"]).all()
    narrow = results.volatility(20, alpha=0.5)
    assert ((table["lower"] < narrow["lower"]) & (narrow["upper"] < table["upper"])).all()
    error = [np.mean(np.log(one["median"] / truth) ** 2) for one in (table, so_far)]
    assert error[0] < error[1]
    # at the end of the sequence nothing comes after
    assert table.iloc[-1].to_numpy() == pytest.approx(so_far.iloc[-1].to_numpy(), rel=1e-6)
    # log volatility at a step is nearly normal: its quantiles against moments of x and beta
    log_median = (np.log(table["median"]) - np.log(results.params["beta"])).to_numpy()
    assert log_median == pytest.approx(states["mean"].to_numpy() / 2, abs=0.05)
    ahead = results.forecast(300)
    assert ahead["sd"].shape == (300, 1) and (ahead["mean"] == 0).all()
    assert ahead["sd"][-1, 0] == pytest.approx(np.std(model.y), rel=0.15)
    results.save(tmp_path / "file")
    loaded = sgmc.load(tmp_path / "file")
    assert loaded.volatility(20, data=model).equals(table)
    with pytest.raises(ArgumentError, match="give data=<the Stochastic Volatility model"):
        loaded.volatility()
    shifts = results.buffer_bias([4, 16, 64])["gradient"]
    assert (np.diff(np.log(shifts)) < -0.5).all()


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_forecasts_by_simulation(long):
    """Volatility and sd ahead, at one theta, against 200,000 paths: within four standard errors."""
    model, theta, _ = long
    results = model.fit(seed=1, sampler="laplace", draws=2, chains=1)
    kernel, (theta,) = model.kernel(), results._thetas(1)
    points, rng = kernel.points(theta), np.random.default_rng(1)
    law = kernel.last_laws(theta)[-1, : len(points)]
    x = rng.choice(points, 200_000, p=law / law.sum())
    ahead = results.forecast(5, draws=1)
    for step in range(5):
        x = theta[0] * x + theta[1] * rng.normal(size=len(x))
        v = theta[2] * np.exp(x / 2)
        for found, wanted in ((v, ahead["volatility"]), (v**2, ahead["sd"] ** 2)):
            error = found.std() / np.sqrt(len(found))
            assert wanted[step, 0] == pytest.approx(found.mean(), abs=4 * error)


def noise(**more):
    """Twenty returns, some of them others."""
    y = np.random.default_rng(1).normal(size=20)
    for at, value in more.items():
        y[int(at[1:]) :][: np.size(value)] = value
    return y


@pytest.mark.parametrize(
    "error, text, arguments",
    [
        (DataError, "missing or infinite values, first at step 1", dict(y=noise(_1=np.inf))),
        (DataError, "too few for this model", dict(y=noise()[:8])),
        (DataError, "y is constant: all of its values are 0", dict(y=np.zeros(20))),
        (DataError, "has 2 columns", dict(y=noise().reshape(10, 2))),
        (DataError, "take returns", dict(y=100 + noise())),
        (DataError, "steps in a row, from step 3", dict(y=noise(_3=np.zeros(6)))),
        (DataError, "sequence has shape", dict(y=noise(), sequence=[1, 2])),
        (ArgumentError, "particles=1", dict(y=noise(), particles=1)),
        (ArgumentError, "window=0", dict(y=noise(), window=0)),
    ],
)
def test_what_it_refuses(error, text, arguments):
    with pytest.raises(error, match=text):
        sgmc.StochasticVolatility(**arguments)


def test_zeros_of_different_sequences_are_no_run():
    y = noise(_7=np.zeros(6))
    assert sgmc.StochasticVolatility(y, sequence=np.repeat([0, 1], 10)).n == 2
