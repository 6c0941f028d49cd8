"""Models at their defaults against posteriors by other means; races without a step; quantities that
do not depend on labels; data that determine nothing.
"""

import copy
import itertools

import numpy as np
import pytest

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, DataError
from sgmc.models.hmm.polar import Polar

from .cases import MODELS
from .test_lda import corpus, model

# four standard errors of 1,500 effective draws, in posterior sds and of an sd, relative
MEAN, SD = 0.10, 0.10
quiet = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")


def moments(draws, weights=None):
    """Means and sds of draws (..., k)."""
    flat = draws.reshape(-1, draws.shape[-1])
    mean = np.average(flat, axis=0, weights=weights)
    return mean, np.sqrt(np.average((flat - mean) ** 2, axis=0, weights=weights))


def departures(found, exact):
    """Largest errors of means, in posterior sds, and of sds, relative."""
    return np.abs((found[0] - exact[0]) / exact[1]).max(), np.abs(found[1] / exact[1] - 1).max()


class TestLDA:
    """By predictions, which do not depend on labels, against hmc on exact sums."""

    @staticmethod
    @quiet
    def predictions(made, **how):
        return moments(made.fit(seed=3, **how).judged_quantities()[1])

    @pytest.mark.extended
    @quiet
    def test_the_default_is_right(self):
        exact = self.predictions(model(), sampler="hmc", draws=700)
        mean, sd = departures(self.predictions(model(sweeps=8), draws=400), exact)
        assert mean < 1.5 * MEAN and sd < 1.5 * SD  # eight sweeps, and half a per cent of each step
        flat = departures(
            self.predictions(model(sweeps=8), prior="flat", draws=400), exact
        )  # planted
        assert flat[0] > 3 * MEAN

    @quiet
    def test_the_step_keeps_the_noise_of_minibatches_in_bounds(self):
        """At most half of the variance; all documents have none."""
        made = model(corpus(4000))
        step, batch, thin = made.derived_step(sgmc.SCIR(), None)
        counts = made.counts.data
        noise = (4000 / batch - 1) * (counts @ counts) / counts.sum()
        assert batch == 500 and thin == 10 and np.tanh(step / 4) * noise == pytest.approx(0.5)
        assert made.derived_step(sgmc.SCIR(), 4000)[0] > step
        assert made.derived_step(sgmc.SGLD(), None) is None
        plan = made.fit(seed=1, draws=2, chains=1, batch_size=50, warmup=1)._fit.plan
        assert plan.step_origin == "derived" and plan.batch == 50

    def test_samplers_without_a_derived_step_say_so(self):
        with pytest.raises(ArgumentError, match="step_size: sgld has no default here"):
            model(sweeps=4).fit(sampler="sgld")


def autoregression():
    """Eighty numbers that hardly tell r from q."""
    rng, x = np.random.default_rng(3), np.zeros(80)
    for t in range(1, 80):
        x[t] = 0.8 * x[t - 1] + 0.6 * rng.normal()
    return sgmc.LinearGaussian(x + 0.5 * rng.normal(size=80))


def by_quadrature(made, points=20):
    """Means and sds of a, q, r: a grid, the level by three values of the Kalman filter."""
    kernel, y = made.kernel(), made.y[:, 0]
    sd, centre, grid = y.std(), y.mean(), (np.arange(points) + 0.5) / points
    found, log_p = [], []
    for a, size, angle in itertools.product(2 * grid - 1, sd * (0.3 + 1.5 * grid), grid):
        q, r = size * np.cos(np.pi * angle / 2), size * np.sin(np.pi * angle / 2)
        low, middle, high = (
            of_rows(kernel, np.array([a, q, r, centre + step]))[0] - (step / sd / 2.5) ** 2 / 2
            for step in (-0.1, 0.0, 0.1)
        )
        curved, slope = (2 * middle - low - high) / 0.01, (high - low) / 0.2
        found.append((a, q, r))
        log_p.append(middle + slope**2 / curved / 2 - np.log(curved) / 2 + np.log(size))
        log_p[-1] -= (size / sd / 2.5) ** 2 / 2
    return moments(np.array(found), np.exp(np.array(log_p) - max(log_p)))


class TestLinearGaussian:
    @pytest.mark.extended
    @quiet
    def test_the_default_mixes_where_r_is_hardly_determined(self):
        made = autoregression()
        exact, results = by_quadrature(made), made.fit(seed=1)
        assert results.rhat().max() < 1.01 and results.ess().min() > 1000
        mean, sd = departures(moments(results.draws[..., :3]), exact)
        assert mean < MEAN and sd < SD
        twice = sgmc.LinearGaussian(np.tile(made.y[:, 0], 2), sequence=np.repeat([0, 1], 80))
        other = twice.fit(seed=1, prior=made.prior)  # planted: every row counts twice
        assert departures(moments(other.draws[..., :3]), exact)[1] > 2 * SD

    def test_its_coordinates(self):
        polar, shift = Polar(), 1e-6 * np.eye(4)
        for x in np.random.default_rng(1).normal(size=(5, 4)):
            theta, slopes = polar(x), polar.jacobian(x)
            assert polar.inverse(theta) == pytest.approx(x)
            found = [(polar(x + e) - polar(x - e)) / 2e-6 for e in shift]
            assert slopes == pytest.approx(np.transpose(found), abs=1e-8)
            assert polar.log_jacobian(x) == pytest.approx(np.linalg.slogdet(slopes)[1])
            rise = [(polar.log_jacobian(x + e) - polar.log_jacobian(x - e)) / 2e-6 for e in shift]
            assert polar.pulled(x, theta) == pytest.approx(slopes.T @ theta + rise, abs=1e-7)
        with pytest.raises(ValueError, match="must be"):
            polar.inverse([1.0, 1.0, 1.0, 0.0])


def sources():
    """Two Laplace sources, mixed."""
    rng = np.random.default_rng(0)
    return rng.laplace(size=(300, 2)) @ rng.normal(size=(2, 2)).T


@pytest.mark.extended
def test_ica_mixes_at_its_defaults():
    """Where the natural gradient's 1,000 steps have an R-hat over 1.03."""
    made = sgmc.ICA(sources(), start="whitening")
    results = made.fit(seed=1)
    other = made.fit(seed=2, sampler="hmc", precondition=None)
    assert results.rhat().max() < 1.01 and results.verdict.trustworthy
    assert departures(moments(results.draws), moments(other.draws))[0] < MEAN


@pytest.mark.cover(0)
@quiet
@pytest.mark.parametrize("sampler", [None, "sgld", "hmc"])
@pytest.mark.parametrize(
    "name", ["TiedMeans", "GaussianMixture", "HMM", "LinearGaussian", "ICA", "LDA"]
)
def test_races_need_no_step(name, sampler):
    """The derived step is in the grid, or the step that the sampler begins its warmup with."""
    how = {} if sampler is None else dict(sampler=sampler)
    results = MODELS[name][0]().fit(tune="mamba", seed=1, draws=20, **how)
    steps = np.unique(results.tuning.arms["step_size"])
    assert len(steps) == 9 and results._fit.plan.schedule(0) in steps
    assert np.isfinite(results.tuning.history["metric"]).any()


@pytest.mark.cover(0)
@quiet
@pytest.mark.parametrize("name, sampler", [("ICA", "sgrld"), ("LDA", "sgrld"), ("LDA", "scir")])
def test_samplers_with_a_metric_race_too(name, sampler):
    results = MODELS[name][0]().fit(tune="mamba", seed=1, draws=20, sampler=sampler)
    assert results.tuning.metric == ("log_perplexity" if name == "LDA" else "ksd")
    assert len(np.unique(results.tuning.arms["step_size"])) == 9


def relabelled(results, name):
    """Results of the same posterior under other labels, draw by draw."""
    other, draws = copy.copy(results), results.draws.copy()
    other._fit = results._fit  # which copies leave
    if name == "TiedMeans":
        draws[..., 0], draws[..., 1] = draws.sum(axis=-1), -draws[..., 1]
    elif name == "ICA":
        draws = -results.draws_of("W")[..., ::-1, :].reshape(draws.shape)
    else:
        for parameter, where in results.model.slices.items():
            theta = results.draws_of(parameter)
            moved = theta[..., ::-1, :] if theta.ndim > 3 else theta[..., ::-1]
            moved = moved[..., ::-1] if parameter == "transition" else moved
            draws[..., where] = moved.reshape(*draws.shape[:2], -1)
    other.draws = draws
    return other


UNORDERED = {
    "GaussianMixture": lambda: sgmc.GaussianMixture(MODELS["GaussianMixture"][0]().X, 2, "full"),
    "HMM": lambda: sgmc.HMM(MODELS["HMM"][0]().y[:, 0], 2, ordered=False),
}


@quiet
@pytest.mark.parametrize("name", ["TiedMeans", "GaussianMixture", "HMM", "ICA", "LDA"])
def test_judged_quantities_do_not_depend_on_labels(name):
    results = UNORDERED.get(name, MODELS[name][0])().fit(seed=1, draws=20)
    names, found = results.judged_quantities()
    assert found.shape == (4, 20, len(names)) and np.isfinite(found).all()
    other = relabelled(results, name)
    assert other.judged_quantities()[1] == pytest.approx(found)
    assert np.abs(other.draws - results.draws).max() > 0.1  # planted: the parameters themselves


@quiet
def test_judged_quantities_of_topics_come_with_the_draws():
    """Kept as draws come, where topics are not kept, and also after a run went on."""
    held = corpus(10, 40, seed=9)
    how = dict(seed=3, draws=12, warmup=5, chains=2)
    results = model(sweeps=4, held_out=held).fit(**how)
    names, found = results.judged_quantities()
    other = copy.copy(results)
    other._fit, other._scores = results._fit, None
    assert other.judged_quantities()[1] == pytest.approx(found)
    longer = model(sweeps=4, held_out=held).fit(**{**how, "draws": 20})
    assert (results.resume(draws=8).judged_quantities()[1] == longer.judged_quantities()[1]).all()


@quiet
@pytest.mark.parametrize("emission", ["poisson", "categorical"])
def test_judged_quantities_of_states_are_those_of_the_outcomes(emission):
    """Of states that are well apart: means, to a tenth."""
    y = np.random.default_rng(1).poisson(np.where(np.arange(300) // 10 % 2, 1.0, 8.0))
    if emission == "categorical":
        y = np.minimum(y, 5)
    found = moments(
        sgmc.HMM(y, 2, emission, ordered=False).fit(seed=1, draws=200).judged_quantities()[1]
    )[0]
    if emission == "poisson":
        assert found[:2] == pytest.approx([y.mean(), y.std()], rel=0.1)
        assert found[2] == pytest.approx(np.corrcoef(y[1:], y[:-1])[0, 1], abs=0.1)
    else:
        assert found[:6] == pytest.approx(np.bincount(y) / len(y), abs=0.04)
        assert found[6] == pytest.approx(np.mean(y[1:] == y[:-1]), abs=0.1)


X = np.random.default_rng(0).normal(size=(30, 3))
FLAT = np.where(np.arange(3) == 1, 2.0, X)
COUNTS = np.random.default_rng(0).integers(1, 4, (8, 5))
EMPTY = COUNTS * (np.arange(8) != 3)[:, None]


@pytest.mark.parametrize(
    "make, told",
    [
        (lambda: sgmc.ICA(FLAT), r"X: column 1 is constant \(2\); leave it out"),
        (lambda: sgmc.GaussianMixture(FLAT), "X: column 1 is constant.*leave it out"),
        (lambda: sgmc.GaussianMixture(np.ones(9)), "X: column 0 is constant"),
        (lambda: sgmc.TiedMeans(np.ones(9)), "y has 1 different values; .* at least 2"),
        (lambda: sgmc.LDA(EMPTY), "counts has 1 documents without words, first document 3; leave"),
        (lambda: sgmc.LDA(COUNTS, held_out=EMPTY), r"held_out has 1 .*held_out\[held_out.sum"),
        (lambda: sgmc.LDA(COUNTS * (np.arange(5) == 2)), "1 different words; topics need at least"),
        (lambda: sgmc.HMM(np.ones(30), 2), "y is constant in column 0, which cannot"),
        (lambda: sgmc.HMM(FLAT, 2), "y is constant in column 1"),
        (lambda: sgmc.HMM(np.ones(30, dtype=int), 2, "poisson"), "y is constant in column 0"),
        (lambda: sgmc.HMM(np.arange(30) % 3.0, 3), "only 3 different values.*emission="),
        (lambda: sgmc.HMM(["a"] * 30, 2, "categorical"), "y has 1 category; at least 2"),
        (lambda: sgmc.HMM(X[:, 0], 2, sequence=range(30)), "every sequence has a single step"),
        (lambda: sgmc.LinearGaussian(FLAT), "y is constant in column 1, which cannot"),
        (lambda: sgmc.LinearGaussian(X[:, 0], sequence=range(30)), "has a single step"),
    ],
)
def test_data_that_determine_nothing_are_refused(make, told):
    with pytest.raises(DataError, match=told):
        make()


@quiet
def test_words_that_no_document_has_are_told_of():
    made = model(np.column_stack([corpus(), np.zeros((20, 2))]))
    results = made.fit(seed=1, draws=5, warmup=5, chains=1)
    assert "2 words occur in no document" in str(results.summary(details=True))
