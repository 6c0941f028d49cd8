"""Hidden Markov models: likelihood by enumeration of paths, gradients, bias of buffers, posteriors
against Gibbs sampling.
"""

import numpy as np
import pytest
from _ext import mistakes
from scipy import stats

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, BufferWarning

from .hmm import SOME, A, differences, enumerated, simulated, small


@pytest.mark.parametrize("emission", SOME)
@pytest.mark.parametrize("initial", ["stationary", "uniform"])
def test_likelihood_and_states_by_enumeration(emission, initial):
    model, theta = small(emission, initial=initial), SOME[emission]
    first = np.linalg.matrix_power(A, 200)[0] if initial == "stationary" else np.full(2, 0.5)
    value, laws, path = enumerated(model, theta, first)
    kernel = model.kernel()
    assert of_rows(kernel, theta)[0] == pytest.approx(value, rel=1e-12)
    assert kernel.laws(theta) == pytest.approx(laws, abs=1e-12)
    assert kernel.last_laws(theta) == pytest.approx(laws[[4, 7]], abs=1e-12)
    assert (kernel.path(theta) == path).all()


@pytest.mark.parametrize("emission", SOME)
@pytest.mark.parametrize("initial", ["stationary", [0.3, 0.7]])
def test_gradient(emission, initial):
    kernel, theta = small(emission, initial=initial).kernel(), SOME[emission]
    assert of_rows(kernel, theta)[1] == pytest.approx(
        differences(kernel, theta), rel=1e-6, abs=1e-6
    )


def test_forward_messages_of_the_wrong_step_are_seen():
    kernel, theta = small("gaussian").kernel(), SOME["gaussian"]
    wrong = mistakes.Belated(
        np.asarray(kernel.y), np.asarray(kernel.table), kernel.buffer, *kernel.rest
    )
    assert of_rows(wrong, theta)[0] == of_rows(kernel, theta)[0]
    assert np.abs(of_rows(wrong, theta)[1] - differences(wrong, theta)).max() > 0.1


@pytest.fixture(scope="module")
def long():
    """3,000 steps of three states, of which outcomes tell little."""
    rng = np.random.default_rng(5)
    transition = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    x = simulated(3000, transition, rng)
    y = rng.normal(np.array([-1.0, 0.0, 1.0])[x], np.array([0.8, 0.5, 0.8])[x])
    return sgmc.HMM(y, 3), np.r_[transition.ravel(), -1, 0, 1, 0.8, 0.5, 0.8], x


def test_blocks_of_long_sequences(long):
    """A whole sequence is gone through in blocks;
    windows whose buffers are long enough sum to the same.
    """
    model, theta = sgmc.HMM(np.random.default_rng(6).normal(size=70_000), 3, buffer=300), long[1]
    kernel = model.kernel()
    assert kernel.chunk < 70_000
    value, g = of_rows(kernel, theta)
    total, each = of_rows(kernel, theta, np.arange(kernel.n))
    assert total == pytest.approx(value, rel=1e-12) and each == pytest.approx(g, rel=1e-9, abs=1e-6)
    states = kernel.laws(theta)
    assert states[[0, 30_000, -1]].sum(axis=1) == pytest.approx(1)
    assert states[-1] == pytest.approx(kernel.last_laws(theta)[0])


def decay(kernel, theta, buffers):
    """Root mean square over windows of the bias of their terms, by buffer, and the factor a step by
    regression of its log.
    """
    exact = kernel.buffered(kernel.longest)
    terms = {
        k: np.array([of_rows(k, theta, [i])[1] for i in range(kernel.n)])
        for k in [exact, *map(kernel.buffered, buffers)]
    }
    sizes = np.array(
        [
            np.sqrt(((one - terms[exact]) ** 2).sum(axis=1).mean())
            for k, one in terms.items()
            if k is not exact
        ]
    )
    fit = stats.linregress(buffers, np.log(sizes))
    return sizes, np.exp(fit.slope), fit.rvalue**2


@pytest.mark.parametrize("mean, faster", [(0.02, False), (1.0, True)])
def test_bias_falls_geometrically_with_the_buffer(long, mean, faster):
    """Where outcomes tell next to nothing messages forget at the rate of the chain's second
    eigenvalue, 0.7; else faster.
    """
    kernel, theta = long[0].kernel(), long[1].copy()
    theta[9:] = [-mean, 0, mean, 1, 1, 1] if not faster else theta[9:]
    sizes, rate, straight = decay(kernel, theta, np.arange(2, 22, 2))
    assert straight > 0.99 and sizes[0] > 50 * sizes[-1]
    assert rate == pytest.approx(0.7, abs=0.01) if not faster else 0.4 < rate < 0.69


def test_a_law_before_the_buffer_that_no_buffer_mends(long):
    """Planted: messages of the wrong step; the bias stays where it is."""
    kernel = long[0].kernel()
    wrong = mistakes.Belated(np.asarray(kernel.y), np.asarray(kernel.table), 20, *kernel.rest)
    off = [
        np.abs(of_rows(k, long[1], np.arange(k.n))[1] - of_rows(kernel, long[1])[1]).max()
        for k in (wrong, kernel.buffered(20))
    ]
    assert off[0] > 100 * off[1]


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_the_default_buffer_and_the_warning_of_a_short_one(long):
    model = long[0]
    results = model.fit(
        seed=1, draws=50, chains=2, sampler="lmsgld", warmup=10, thin=1, batch_size=10
    )
    table = results.buffer_bias()
    assert results.buffer > 1 and table["shift"][results.buffer] < 0.02 < table["shift"][2]
    assert np.linalg.norm(
        model.gradient_bias(results.params.to_numpy(), [2]), axis=1
    ) == pytest.approx(table["gradient"][2])
    with pytest.warns(BufferWarning, match="buffers of 0 steps bias the gradients"):
        sgmc.HMM(model.y, 3, buffer=0).fit(
            seed=1, draws=150, chains=2, sampler="lmsgld", warmup=10, batch_size=10
        )


@pytest.mark.cover(0)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("window, buffer, sampler", [(20, None, "lmsgld"), (2, 100, "mala")])
def test_auto_counts_the_steps_of_buffers(window, buffer, sampler):
    rng = np.random.default_rng(7)
    y = rng.normal(np.array([-1.5, 1.5])[simulated(10_000, A, rng)])
    results = sgmc.HMM(y, 2, window=window, buffer=buffer).fit(
        seed=1, draws=10, chains=1, warmup=1, thin=1
    )
    assert results.sampler.name == sampler


# ---- results and input ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_states_and_forecasts(long, tmp_path):
    model, theta, x = long
    results = model.fit(seed=1, sampler="mala", draws=100, warmup=100, chains=2)
    states = results.smooth(20)
    assert states.shape == (3000, 3) and states.sum(axis=1) == pytest.approx(1)
    assert (states.argmax(axis=1) == x).mean() > 0.75 and (results.path() == x).mean() > 0.75
    ahead = results.forecast(200)
    at_rest = np.linalg.matrix_power(results.mean_of("transition"), 500)[0]
    assert ahead["states"][-1] == pytest.approx(at_rest, abs=0.01)
    assert ahead["mean"][-1, 0] == pytest.approx(at_rest @ results.mean_of("mean"), abs=0.01)
    assert ahead["sd"][-1, 0] == pytest.approx(np.std(model.y), rel=0.05)
    results.save(tmp_path / "file")
    loaded = sgmc.load(tmp_path / "file")
    with pytest.raises(ArgumentError, match="give data=<the HMM model"):
        loaded.smooth()
    assert (loaded.smooth(20, data=model) == states).all()
    with pytest.raises(ArgumentError, match="must be a HMM model with the parameters"):
        loaded.path(data=sgmc.HMM(model.y, 2))


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.ShapeWarning")
def test_several_columns_and_counts():
    rng = np.random.default_rng(4)
    x = simulated(1500, np.array([[0.9, 0.1], [0.2, 0.8]]), rng)
    y = rng.normal(np.array([[0.0, 2.0], [1.5, -1.0]])[x], 1.0)
    for model, name, truth in (
        (sgmc.HMM(y, 2), "mean", [[0.0, 2.0], [1.5, -1.0]]),
        (
            sgmc.HMM(rng.poisson(np.array([1.0, 5.0])[x]), 2, "poisson"),
            "log_rate",
            np.log([1.0, 5.0]),
        ),
    ):
        results = model.fit(seed=1, sampler="laplace", draws=500)
        found, sd = results.mean_of(name), results.sd_of(name)
        near = [np.abs((found - np.asarray(truth)[order]) / sd).max() for order in ([0, 1], [1, 0])]
        assert min(near) < 4  # of at most four independent standard normal errors


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_a_saved_run_goes_on_with_its_own_buffers_alone(long, tmp_path):
    y = long[0].y
    how = dict(seed=1, sampler="lmsgld", draws=20, chains=1, warmup=5, thin=1, batch_size=10)
    whole, part = (sgmc.HMM(y, 3, buffer=4).fit(**{**how, "draws": draws}) for draws in (30, 20))
    part.save(tmp_path / "file")
    loaded = sgmc.load(tmp_path / "file")
    assert (loaded.resume(draws=10, data=sgmc.HMM(y, 3, buffer=4)).draws == whole.draws).all()
    with pytest.raises(ArgumentError, match="made from other data"):
        loaded.resume(draws=10, data=sgmc.HMM(y, 3, buffer=8))
