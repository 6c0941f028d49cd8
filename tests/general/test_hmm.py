"""Hidden Markov models: likelihood by enumeration of paths, gradients, bias of buffers, posteriors
against Gibbs sampling.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sgmc
from _ext import mistakes
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, BufferWarning, DataError

A = np.array([[0.8, 0.2], [0.35, 0.65]])
EDGES = [0, 5, 8]  # two sequences
# three standard errors of 500 effective draws, in posterior sds and of an sd, relative
MEAN, SD = 0.14, 0.10
SOME = {
    "gaussian": np.r_[A.ravel(), -1, 1, 0.7, 1.3],
    "poisson": np.r_[A.ravel(), 0.2, 1.4],
    "categorical": np.r_[A.ravel(), 0.2, 0.3, 0.5, 0.6, 0.1, 0.3],
}


def simulated(T, transition, rng):
    """States of a chain."""
    ahead, x = np.cumsum(transition, axis=1), np.zeros(T, dtype=int)
    for t in range(1, T):
        x[t] = np.searchsorted(ahead[x[t - 1]], rng.random())
    return x


def small(emission, **more):
    """Eight steps of two sequences, one outcome missing, in windows of two."""
    rng = np.random.default_rng(3)
    y = rng.normal(size=8) if emission == "gaussian" else np.array([0, 2, 1, 1, 0, 2, 2, 1])
    y = np.ma.masked_array(y, np.arange(8) == 3)
    return sgmc.HMM(
        y, 2, emission, sequence=np.repeat([0, 1], [5, 3]), window=2, ordered=False, **more
    )


def density(emission, theta, y, k):
    """p(y | state k)."""
    if np.isnan(y):
        return 1.0
    own = theta[4:]
    return {
        "gaussian": lambda: stats.norm.pdf(y, own[k], own[2 + k]),
        "poisson": lambda: stats.poisson.pmf(y, np.exp(own[k])),
        "categorical": lambda: own.reshape(2, 3)[k, int(y)],
    }[emission]()


def enumerated(model, theta, first):
    """Log likelihood, laws of the states and likeliest path of each sequence, over all paths."""
    total, laws, best = 0.0, [], []
    for begin, end in itertools.pairwise(EDGES):
        paths = np.array(list(itertools.product(range(2), repeat=end - begin)))
        p = first[paths[:, 0]]
        for t in range(end - begin):
            p = p * (A[paths[:, t - 1], paths[:, t]] if t else 1)
            p = (
                p
                * np.array(
                    [density(model.emission, theta, model.y[begin + t, 0], k) for k in range(2)]
                )[paths[:, t]]
            )
        total += np.log(p.sum())
        one = p @ paths / p.sum()
        laws.append(np.column_stack([1 - one, one]))
        best.append(paths[p.argmax()])
    return total, np.vstack(laws), np.concatenate(best)


def differences(kernel, theta):
    """The gradient of the value by central differences."""
    steps = 1e-6 * np.eye(len(theta))
    return np.array(
        [(of_rows(kernel, theta + h)[0] - of_rows(kernel, theta - h)[0]) / 2e-6 for h in steps]
    )


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


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("window, buffer, sampler", [(20, None, "lmsgld"), (2, 100, "mala")])
def test_auto_counts_the_steps_of_buffers(window, buffer, sampler):
    rng = np.random.default_rng(7)
    y = rng.normal(np.array([-1.5, 1.5])[simulated(10_000, A, rng)])
    results = sgmc.HMM(y, 2, window=window, buffer=buffer).fit(
        seed=1, draws=10, chains=1, warmup=1, thin=1
    )
    assert results.sampler.name == sampler


# ---- posteriors ----------------------------------------------------------------------------------

STEPS, PARALLEL, SWEEPS = 400, 150, 120
DIRICHLET = 8.0


@pytest.fixture(scope="module")
def letters():
    """Categories of two states that stay apart."""
    rng = np.random.default_rng(8)
    x = simulated(STEPS, np.array([[0.9, 0.1], [0.15, 0.85]]), rng)
    p = np.array([[0.7, 0.25, 0.05], [0.1, 0.2, 0.7]])
    return np.array([rng.choice(3, p=p[k]) for k in x])


def model_of(letters, buffer=None):
    """With a uniform first law, under which Gibbs sampling is conjugate."""
    return sgmc.HMM(letters, 2, "categorical", window=8, buffer=buffer, initial="uniform")


PRIOR = {"transition": sgmc.dirichlet(DIRICHLET), "probability": sgmc.dirichlet(DIRICHLET)}


@pytest.fixture(scope="module")
def gibbs(letters):
    """Means and sds of (transition, probability) by forward filtering and backward sampling (Scott
    2002), many chains at once.
    """
    rng = np.random.default_rng(9)
    transition = np.tile([[0.9, 0.1], [0.15, 0.85]], (PARALLEL, 1, 1))
    p = np.tile([[0.7, 0.25, 0.05], [0.1, 0.2, 0.7]], (PARALLEL, 1, 1))
    draws, every = [], np.arange(PARALLEL)
    for sweep in range(SWEEPS):
        laws = np.empty((STEPS, PARALLEL, 2))
        for t, c in enumerate(letters):
            ahead = (
                np.full((PARALLEL, 2), 0.5)
                if t == 0
                else np.einsum("cj,cjk->ck", laws[t - 1], transition)
            )
            laws[t] = ahead * p[:, :, c]
            laws[t] /= laws[t].sum(axis=1, keepdims=True)
        moves, counts = np.full((PARALLEL, 2, 2), DIRICHLET), np.full((PARALLEL, 2, 3), DIRICHLET)
        x = (rng.random(PARALLEL) < laws[-1][:, 1]).astype(int)
        counts[every, x, letters[-1]] += 1
        for t in range(STEPS - 2, -1, -1):
            w = laws[t] * transition[every, :, x]
            before = (rng.random(PARALLEL) * w.sum(axis=1) < w[:, 1]).astype(int)
            moves[every, before, x] += 1
            counts[every, before, letters[t]] += 1
            x = before
        gamma = [rng.standard_gamma(m) for m in (moves, counts)]
        transition, p = (g / g.sum(axis=2, keepdims=True) for g in gamma)
        if sweep >= 20:
            draws.append(np.hstack([transition.reshape(PARALLEL, -1), p.reshape(PARALLEL, -1)]))
    draws = np.concatenate(draws)
    first = draws[:, 4] > draws[:, 7]
    assert first.mean() > 0.999  # labels never changed
    return draws.mean(axis=0), draws.std(axis=0)


def departures(results, gibbs):
    """Largest errors of means, in posterior sds, and of sds, relative; the fit's labels put in the
    order of the simulation's.
    """
    mean, sd = results.params.to_numpy(), results.bse.to_numpy()
    if mean[4] < mean[7]:
        order = [3, 2, 1, 0, 7, 8, 9, 4, 5, 6]
        mean, sd = mean[order], sd[order]
    return np.abs((mean - gibbs[0]) / gibbs[1]).max(), np.abs(sd / gibbs[1] - 1).max()


SIMPLE = dict(
    seed=2,
    prior=PRIOR,
    sampler="sgld",
    gradient="simple",
    step_size=0.03,
    batch_size=25,
    thin=30,
    warmup=200,
    draws=800,
)


@pytest.mark.parametrize(
    "arguments",
    [
        dict(sampler="mala", draws=3000),
        dict(sampler="hmc", draws=1000),
        dict(sampler="sgld", gradient="cv", step_size=0.05, batch_size=15, thin=30),
        dict(sampler="sghmc", gradient="cv", batch_size=15),
    ],
    ids=lambda a: a["sampler"],
)
def test_posteriors_against_gibbs_sampling(letters, gibbs, arguments):
    mean, sd = departures(model_of(letters).fit(seed=1, prior=PRIOR, **arguments), gibbs)
    assert mean < MEAN and sd < SD


@pytest.mark.filterwarnings("ignore::sgmc.errors.LowESSWarning")
def test_the_plain_estimate_of_the_paper(letters, gibbs):
    mean, sd = departures(model_of(letters).fit(**SIMPLE), gibbs)
    assert mean < MEAN and sd < SD


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("mistake", ["no buffer", "N/n", "no prior"])
def test_planted_mistakes_are_seen(letters, gibbs, mistake, monkeypatch):
    right = sgmc.HMM.problem
    if mistake == "N/n":

        def heavy(self, prior, checked):
            made = right(self, prior, checked)
            made.model = mistakes.Heavy(made.model, 0.5)
            return made

        monkeypatch.setattr(sgmc.HMM, "problem", heavy)
    prior = {name: sgmc.dirichlet(1 if mistake == "no prior" else DIRICHLET) for name in PRIOR}
    mean, sd = departures(
        model_of(letters, 0 if mistake == "no buffer" else None).fit(**{**SIMPLE, "prior": prior}),
        gibbs,
    )
    assert mean > 2 * MEAN or sd > 2 * SD


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


def test_windows_stay_within_their_sequences():
    model = sgmc.HMM(np.arange(12.0), 2, sequence=list("aaaaabbbbbbb"), window=3)
    assert model.windows.tolist() == [
        [0, 3, 0, 5],
        [3, 5, 0, 5],
        [5, 8, 5, 12],
        [8, 11, 5, 12],
        [11, 12, 5, 12],
    ]


@pytest.mark.parametrize(
    "error, text, arguments",
    [
        (DataError, "missing or infinite values, first at step 1", dict(y=[1, np.nan, 2, 3, 4])),
        (DataError, "too few for 2 states", dict(y=[1.0, 2.0, 3.0])),
        (DataError, "at least 2 is needed", dict(y=[1.0])),
        (DataError, "nothing was observed in column 0", dict(y=np.ma.masked_all(8))),
        (DataError, "y must hold counts", dict(y=[1, 2, 0.5, 3], emission="poisson")),
        (DataError, "y must hold counts", dict(y=[1, -2, 5, 3], emission="poisson")),
        (
            DataError,
            "missing categories, first at step 2",
            dict(y=["a", "b", None, "a"], emission="categorical"),
        ),
        (
            DataError,
            "missing categories, first at step 1",
            dict(y=pd.Categorical(["a", None, "b", "a"]), emission="categorical"),
        ),
        (
            DataError,
            "missing categories, first at step 3",
            dict(y=pd.array(["a", "b", "a", None], dtype="string"), emission="categorical"),
        ),
        (DataError, "1 category", dict(y=["a"] * 5, emission="categorical")),
        (DataError, "one label a step", dict(y=[["a", "b"]] * 5, emission="categorical")),
        (DataError, "sequence has shape", dict(y=np.arange(5.0), sequence=[1, 2])),
        (DataError, "are not neighbours", dict(y=np.arange(5.0), sequence=[1, 1, 2, 1, 1])),
        (ArgumentError, "states=1", dict(y=np.arange(5.0), states=1)),
        (ArgumentError, "emission='normal'", dict(y=np.arange(5.0), emission="normal")),
        (ArgumentError, "initial='first'", dict(y=np.arange(5.0), initial="first")),
        (
            ArgumentError,
            "2 probabilities that sum to 1",
            dict(y=np.arange(5.0), initial=[0.5, 0.6]),
        ),
        (ArgumentError, "ordered=True needs one number", dict(y=np.ones((5, 2)), ordered=True)),
        (ArgumentError, "window=0", dict(y=np.arange(5.0), window=0)),
        (ArgumentError, "buffer=-1", dict(y=np.arange(5.0), buffer=-1)),
    ],
)
def test_what_it_refuses(error, text, arguments):
    with pytest.raises(error, match=text):
        sgmc.HMM(**{"states": 2, **arguments})


def test_categories_that_do_not_occur_are_kept_where_they_are_named():
    model = sgmc.HMM(pd.Categorical(list("abab") * 5, categories=list("abc")), 2, "categorical")
    assert model.categories == ["a", "b", "c"] and model.parameters["probability"] == (2, 3)
    assert model.start["probability"].shape == (2, 3) and (model.start["probability"] > 0).all()
    masked = sgmc.HMM(np.ma.masked_array(list("abcab"), [0, 0, 1, 0, 0]), 2, "categorical")
    assert masked.categories == ["a", "b"] and np.isnan(masked.y[2, 0])


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_categories_that_the_fit_has_not_seen(letters):
    results = sgmc.HMM(np.array(list("abc"))[letters], 2, "categorical").fit(
        seed=1, sampler="laplace", draws=50
    )
    assert results.categories == ["a", "b", "c"]
    ahead = results.forecast(2, data=sgmc.HMM(list("cabcab"), 2, "categorical"))
    assert ahead["mean"].shape == (2, 3) and ahead["mean"].sum(axis=1) == pytest.approx(1)
    with pytest.raises(
        ArgumentError, match="data has the categories ..a., .b., .d..; those of the fit are"
    ):
        results.smooth(data=sgmc.HMM(list("abdabd"), 2, "categorical"))
