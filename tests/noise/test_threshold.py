"""The sampling threshold where no Gaussian approximation is, and draws kept by the time between
them.
"""

import numpy as np
import pytest
from _ext.toys import GaussianLocation

import sgmc
from sgmc.core.contract import Prior
from sgmc.core.engine import Chain
from sgmc.core.recorders import Spaced, steps_to_space
from sgmc.core.system.deadline import OutOfTime
from sgmc.errors import ArgumentError
from sgmc.fit import plan, tolerance
from sgmc.gradients.simple import Simple
from sgmc.subsampling.uniform import FullBatch
from tests.contracts.cases import stream
from tests.contracts.montecarlo import LIMIT, standard_errors

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")

N, BATCH = 600, 50
FALLING = sgmc.Polynomial(4.0, 100.0, 0.55)


def sources():
    """An ICA model of three Laplace sources, and its data as the model sees them."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(N, 3)) @ (np.eye(3) + 0.5 * rng.normal(size=(3, 3)))
    model = sgmc.ICA(X, start="whitening")
    return model, model.centred()


def fit(model, **how):
    """A short fit with large minibatch noise."""
    usual = dict(
        sampler=sgmc.SGRLD(),
        gradient="simple",
        subsample="uniform",
        batch_size=BATCH,
        step_size=FALLING,
        draws=20,
        thin=1,
        chains=2,
        seed=1,
    )
    return model.fit(**{**usual, **how})


def natural_alpha(W, X, h, metric=True, factor=N**2 / BATCH):
    """alpha of Welling & Teh (2011, eq. 10 and 20) for a step of h = N epsilon, M = W'W."""
    rows = np.linalg.inv(W).T - np.tanh(X @ W.T / 2)[:, :, None] * X[:, None]
    if metric:
        values, vectors = np.linalg.eigh(W.T @ W)
        rows = rows @ (vectors * np.sqrt(values)) @ vectors.T
    V = np.cov(rows.reshape(len(X), -1), rowvar=False, ddof=0)
    return h / N / 4 * factor * (1 - BATCH / N) * np.linalg.eigvalsh(V)[-1]


def of_first_draws(results, X, **how):
    """The largest alpha of the chains by the formula."""
    W = results.draws[:, 0].reshape(-1, 3, 3)
    return max(natural_alpha(one, X, results.weights[0], **how) for one in W)


def test_alpha_is_that_of_the_models_own_metric():
    """Equal but for rounding, as all rows are looked at."""
    model, X = sources()
    results = fit(model, warmup=200)
    assert results.sampling_threshold == pytest.approx(of_first_draws(results, X), rel=1e-9)


@pytest.mark.mistake("alpha with {how}")
@pytest.mark.parametrize("how", [dict(metric=False), dict(factor=N / BATCH)])
@pytest.mark.parametrize("name", ["sgrld"])
def test_another_alpha_is_another_number(name, how):
    model, X = sources()
    results = fit(model, warmup=200)
    assert abs(results.sampling_threshold / of_first_draws(results, X, **how) - 1) > 0.1


@pytest.mark.extended
def test_warmup_ends_where_the_chains_sample():
    """alpha is below a tenth at the first draw and above it at half of the warmup; the noise at
    different places is alike within a fifth, so that half of the steps' fall, 32 %, shows.
    """
    model, _ = sources()
    results = fit(model, warmup="threshold")
    warmup = results._fit.plan.warmup
    assert results.sampling_threshold <= tolerance.NOISE_SHARE
    assert fit(model, warmup=warmup // 2).sampling_threshold > tolerance.NOISE_SHARE
    np.testing.assert_array_equal(results.draws, fit(model, warmup=warmup).draws)


def test_tied_means_have_the_threshold_of_their_rows():
    """The covariance of the two scores, from the densities' differences, to 1e-6."""
    y = np.random.default_rng(2).normal(size=200)
    model = sgmc.TiedMeans(y)
    results = fit(
        model,
        sampler="sgld",
        batch_size=10,
        warmup="threshold",
        step_size=sgmc.Polynomial.between(0.01, 1e-4, 20_000),
    )

    def log_p(theta):
        d = [np.exp(-((y - m) ** 2) / 4) for m in (theta[0], theta[0] + theta[1])]
        return np.log(d[0] + d[1])

    V = []
    for theta in results.draws[:, 0]:
        steps = [(theta + e, theta - e) for e in 1e-5 * np.eye(2)]
        scores = [(log_p(a) - log_p(b)) / 2e-5 for a, b in steps]
        V.append(np.linalg.eigvalsh(np.cov(scores, ddof=0))[-1])
    alpha = results.weights[0] / 4 * 200**2 / 10 * (1 - 10 / 200) * max(V)
    assert results.sampling_threshold == pytest.approx(alpha, rel=1e-6)
    assert alpha <= tolerance.NOISE_SHARE


@pytest.mark.parametrize(
    "how, message",
    [
        (dict(step_size=0.5, batch_size=1), "is .* even at step .*, over 0.1"),
        (dict(sampler="psgld"), "does not apply to psgld, whose steps follow the gradients"),
    ],
)
def test_a_threshold_that_is_not_to_be_had_is_refused(how, message):
    with pytest.raises(ArgumentError, match=f"warmup='threshold'.* {message}"):
        how = {"sampler": "sgld", "warmup": "threshold", "batch_size": 2, **how}
        fit(sgmc.TiedMeans(np.arange(5.0)), **how)


def test_models_of_many_numbers_have_no_threshold():
    X = np.random.default_rng(4).laplace(size=(60, 18))
    model = sgmc.ICA(X, start="whitening")
    assert np.isnan(fit(model, batch_size=20, warmup=2).sampling_threshold)
    with pytest.raises(ArgumentError, match="at most 300 numbers, and this model has 324"):
        fit(model, batch_size=20, warmup="threshold")


# ---- the mixing distance -------------------------------------------------------------------------


def by_hand(schedule, warmup, draws, power=1):
    """Numbers of steps at which draws are kept, and the sums of steps between them."""
    distance, total, t, found = schedule(warmup) ** power, 0.0, warmup, []
    while len(found) < draws:
        total += schedule(t) ** power
        t += 1
        if total > distance:
            found.append((t, total))
            total = 0.0
    return np.transpose(found)


@pytest.mark.parametrize("sampler, factor, power", [("sgld", 1.0, 1), ("vsgbd", 1.01, 2)])
def test_draws_are_kept_where_the_sum_of_steps_exceeds_the_first(sampler, factor, power):
    """Steps that fall tenfold: at first every second one is kept, then up to every eleventh."""
    model, schedule = (
        sgmc.TiedMeans(np.arange(30.0) / 10),
        sgmc.Polynomial.between(0.05, 0.005, 500),
    )
    how = dict(sampler=sampler, step_size=schedule, chains=1, warmup=40, batch_size=5)
    results = fit(model, thin="distance", draws=60, **how)
    steps, sums = by_hand(schedule, 40, 60, power)
    every = fit(model, draws=int(steps[-1]) - 40, **how)
    np.testing.assert_array_equal(results.draws[0], every.draws[0, steps.astype(int) - 41])
    np.testing.assert_allclose(results.weights, factor * sums, rtol=1e-12)
    assert results.chain_diagnostics().steps[0] == steps[-1]
    longer = fit(model, thin="distance", draws=25, **how).resume(draws=35)
    np.testing.assert_array_equal(longer.draws, results.draws)


@pytest.mark.parametrize(
    "thin, message",
    [
        ("distance", "thin='distance' is for steps that decrease"),
        ("distanse", "thin='distanse' must be 'distance', or a whole number of steps"),
    ],
)
def test_a_constant_step_has_no_distance(thin, message):
    with pytest.raises(ArgumentError, match=message):
        fit(sgmc.TiedMeans(np.arange(5.0)), sampler="sgld", step_size=0.1, batch_size=2, thin=thin)


DIM = 64


def second_moments(recorder, schedule, steps, weights):
    """sum w x^2 / sum w of a standard normal law in each coordinate, by chains of sgld that start
    in the mode, and what it is by the recursion v <- (1 - h/2)^2 v + h at the same draws.
    """
    y = np.zeros((10, DIM))
    found = []
    for k in range(50):
        gradient = Simple(GaussianLocation(y, 0.1), Prior(DIM), FullBatch(10), stream(k))
        chain = Chain(
            np.zeros(DIM), sgmc.SGLD().build(DIM, schedule(0)), gradient, stream(k), schedule
        )
        chain.recorder = recorder()
        chain.run(steps)
        w = weights(chain.recorder)
        found.append(w @ np.asarray(chain.recorder.draws) ** 2 / w.sum())
    return np.array(found)


@pytest.mark.cover(0)
@pytest.mark.mistake("draws of equal times weighted by their steps: {mistaken}")
@pytest.mark.parametrize("mistaken", [False, True])
@pytest.mark.parametrize("name", ["sgld"])
def test_weights_are_the_times_between_draws(name, mistaken):
    """The mean square by the recursion v <- (1 - h/2)^2 v + h within 5 Monte Carlo errors (about
    0.3 %): early draws, of long steps, are too wide by up to 60 %, and weights by steps, which
    count them more, are 9 % off.
    """
    schedule, draws = sgmc.Polynomial.between(1.5, 0.05, 300, gamma=1.0), 60
    steps = steps_to_space(schedule, 0, draws, 1.0, 10**6)
    kept, sums = by_hand(schedule, 0, draws)
    v, expected = 0.0, np.zeros(draws)
    for t in range(steps):
        v = (1 - schedule(t) / 2) ** 2 * v + schedule(t)
        if t + 1 in kept:
            expected[list(kept).index(t + 1)] = v
    found = second_moments(
        lambda: Spaced(draws, DIM, 1.0),
        schedule,
        steps,
        lambda r: np.array(r.weights if mistaken else r.times),
    )
    departure = standard_errors(found.mean(axis=1)[:, None], [np.average(expected, weights=sums)])
    assert (departure.max() > LIMIT) == mistaken


def test_time_that_ends_before_alpha_is_known_leaves_the_draws(monkeypatch):
    """Of topics it takes a sweep over each of many documents: its end got out of `fit`."""

    def late(_, x):
        raise OutOfTime

    monkeypatch.setattr(plan, "widest_noise_at", late)
    counts = np.random.default_rng(15).poisson(1.0, (30, 8))
    found = sgmc.LDA(counts, topics=2).fit(seed=1, draws=20, warmup=20, chains=2, time_limit=100)
    assert np.isnan(found.sampling_threshold) and found.draws.shape[:2] == (2, 20)
