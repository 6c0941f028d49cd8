"""Probabilities: coordinates of them, gamma and Poisson variates, transitions of the
Cox-Ingersoll-Ross process, sparse posteriors.
"""

import numpy as np
import pytest
from _ext.probes import mapped
from scipy import stats

import sgmc
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.coordinates.transforms.simplices import COORDINATES
from sgmc.core.engine import Chain
from sgmc.core.random.variates import gammas, poissons
from sgmc.core.recorders import FullRecorder
from sgmc.core.schedules import Constant
from sgmc.errors import NotSupported
from sgmc.models.bases.priors import named_priors
from sgmc.samplers.scir import SCIR

from .cases import GRADIENTS, SCHEMES, stream

SURE = 1e-4  # least p-value: one false alarm in so many tests of a right program
# of ten words: most are at the edge of the simplex
COUNTS = np.array([0, 0, 0, 1, 0, 2, 0, 40, 0, 57])
BETA = 0.1


def sparse(rows=1):
    """Counts of words in one topic: the posterior is Dirichlet(BETA + COUNTS)."""
    dealt = np.zeros((rows, len(COUNTS)), dtype=int)
    for i, word in enumerate(np.repeat(np.arange(len(COUNTS)), COUNTS)):
        dealt[i % rows, word] += 1
    return sgmc.LDA(dealt, 1, beta=BETA, sweeps="exact")


class TestVariates:
    @pytest.mark.parametrize("shape", [0.3, 1.0, 1.7, 30.0])
    def test_gamma(self, shape):
        assert stats.kstest(gammas(stream(1), shape, 20_000), stats.gamma(shape).cdf).pvalue > SURE

    def test_tiny_shapes(self):
        """A hundredth: the law of the log, of which a share of the draws is below the smallest
        number.
        """
        x = gammas(stream(1), 0.01, 20_000)
        assert (
            stats.kstest(np.log(x[x > 0]), lambda u: stats.gamma(0.01).cdf(np.exp(u))).pvalue > SURE
        )

    @pytest.mark.parametrize("mean", [0.2, 4.0, 9.9, 10.1, 60.0])
    def test_poisson(self, mean):
        draws, k = poissons(stream(2), mean, 50_000), np.arange(200)
        p = stats.poisson(mean).pmf(k)
        often = 50_000 * p > 10
        seen, expected = np.bincount(draws.astype(int), minlength=200)[often], 50_000 * p[often]
        assert stats.chi2(often.sum() - 1).sf(((seen - expected) ** 2 / expected).sum()) > SURE

    def test_large_means(self):
        draws = poissons(stream(2), 1e9, 20_000)
        assert stats.kstest((draws - 1e9) / np.sqrt(1e9), stats.norm.cdf).pvalue > SURE
        assert (poissons(stream(2), 0.0, 10) == 0).all()


class TestCoordinates:
    @pytest.mark.parametrize("name", COORDINATES)
    def test_there_and_back_and_derivatives(self, name):
        rng = np.random.default_rng(3)
        map = COORDINATES[name]([3, 4], [1.5, 2.0])
        theta = np.concatenate([rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))])
        x = map.inverse(theta) * (1.3 if name == "expanded-mean" else 1)
        assert map(x) == pytest.approx(theta, rel=1e-12)
        g, v, h = rng.normal(size=7), rng.normal(size=map.dim), 1e-6
        jacobian = np.array(
            [(map(x + h * e) - map(x - h * e)) / (2 * h) for e in np.eye(map.dim)]
        ).T
        found, _, pushed = mapped(map, x, v)
        assert found == pytest.approx(theta, rel=1e-12)
        assert pushed == pytest.approx(jacobian @ v, abs=1e-8)
        slope = [
            (mapped(map, x + h * e, v)[1] - mapped(map, x - h * e, v)[1]) / (2 * h)
            for e in np.eye(map.dim)
        ]
        assert map.pulled(x, g) == pytest.approx(jacobian.T @ g + slope, rel=1e-6, abs=1e-7)

    @pytest.mark.parametrize("name", COORDINATES)
    def test_what_is_no_probability(self, name):
        with pytest.raises(ValueError, match="is not"):
            COORDINATES[name]([3], [1.0]).inverse([0.5, 0.6, -0.1])


def chain(model, h, batch, scheme="uniform", draws=20_000, thin=1, map=None):
    """Gamma variables (draws, K) of `scir` on a model of one topic,
    from the middle of the simplex.
    """
    layout, rng = model.layout(), stream(5)
    map = map or COORDINATES["expanded-mean"]([layout.size], [1.0])
    prior = density_of(named_priors(model.prior, layout))
    gradient = GRADIENTS["simple"](
        model.kernel(), prior, SCHEMES[scheme](model.n, batch), rng, map=map
    )
    made = Chain(
        np.full(layout.size, 1 / layout.size),
        SCIR().build(layout.size, h),
        gradient,
        rng,
        Constant(h),
        False,
    )
    made.recorder = FullRecorder(draws, layout.size, thin)
    made.run(100 * thin, record=False)
    made.run(draws * thin)
    return np.asarray(made.recorder.draws)


class TestTransitions:
    @pytest.mark.extended("0.5-20")
    @pytest.mark.parametrize("h, thin", [(0.5, 20), (20.0, 1)])
    def test_gamma_variables_have_their_law_at_any_step(self, h, thin):
        """All rows: x_k ~ Gamma(beta + c_k, 1), independent; draws are exp(-5) correlated."""
        x = chain(sparse(), h, 1, draws=8000, thin=thin)
        for k, a in enumerate(BETA + COUNTS):
            assert stats.kstest(x[:, k], stats.gamma(a).cdf).pvalue > SURE
        # planted: one of ten tokens lost
        assert stats.kstest(x[:, 7], stats.gamma(BETA + 36).cdf).pvalue < SURE / 1000

    def test_small_steps_are_those_of_the_process(self):
        """Neighbours are exp(-h/2) correlated; four standard errors, of a window of 1/h steps."""
        x = chain(sparse(), 0.2, 1, draws=60_000)[:, 9]
        found = np.corrcoef(x[:-1], x[1:])[0, 1]
        assert found == pytest.approx(
            np.exp(-0.1), abs=4 * np.sqrt((1 - np.exp(-0.2)) / 60_000) * 3
        )

    @pytest.mark.parametrize("h", [1.0, 4.0])
    def test_minibatches_add_the_variance_that_is_said(self, h):
        """a_k + tanh(h/4) Var(a_k) where draws of rows with replacement have Var(a_k) = N^2/n times
        the variance over rows.
        """
        model, n, N = sparse(50), 5, 50
        x = chain(model, h, n, "replacement", draws=40_000, thin=max(1, round(2 / h)))
        a, noise = BETA + COUNTS, N**2 / n * model.counts.toarray().var(axis=0)
        # relative, of a variance
        error = 5 * np.sqrt((1 + np.exp(-1)) / (1 - np.exp(-1)) * 2 / 40_000)
        for k in (7, 9):
            assert x[:, k].mean() == pytest.approx(a[k], abs=error * x[:, k].std())
            assert x[:, k].var() == pytest.approx(a[k] + np.tanh(h / 4) * noise[k], rel=1.5 * error)
            # planted: h in the paper's unit
            assert abs(x[:, k].var() / (a[k] + np.tanh(h / 2) * noise[k]) - 1) > 1.5 * error


def departures(results):
    """Of the edge of the simplex: relative errors of the means of words that never came, and of the
    share of draws below their median.
    """
    law, draws = stats.dirichlet(BETA + COUNTS), results.draws_of("topics").reshape(-1, len(COUNTS))
    none = COUNTS == 0
    median = stats.beta(BETA, (BETA + COUNTS).sum() - BETA).median()
    return draws[:, none].mean() / law.mean()[none].mean() - 1, (
        draws[:, none] < median
    ).mean() - 0.5


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestSparsePosteriors:
    """Dirichlet(0.1 + counts), seven of ten words without a count: their probabilities are at the
    edge of the simplex.
    """

    def test_scir_has_no_bias_at_the_edge(self):
        """Four standard errors: seven means of gamma variables with an sd of three times their
        mean, 4,000 draws; and shares.
        """
        mean, below = departures(
            sparse().fit(sampler="scir", step_size=10.0, batch_size=1, draws=1000, seed=1)
        )
        assert abs(mean) < 4 * np.sqrt(10 / 28_000) and abs(below) < 4 * 0.5 / np.sqrt(28_000)

    @pytest.mark.extended
    @pytest.mark.parametrize("simplex, h", [("expanded-mean", 0.02), ("reduced-mean", 0.001)])
    def test_langevin_steps_have(self, simplex, h):
        mean, below = departures(
            sparse().fit(
                sampler=sgmc.SGRLD(simplex=simplex),
                step_size=h,
                batch_size=1,
                draws=2000,
                thin=20,
                seed=1,
            )
        )
        assert mean > 0.5 and below < -0.2

    @pytest.mark.extended
    @pytest.mark.parametrize(
        "simplex, h",
        [
            ("expanded-mean", 0.01),
            ("expanded-natural", 0.002),
            ("reduced-mean", 0.002),
            ("reduced-natural", 0.002),
        ],
    )
    @pytest.mark.parametrize("divergence", [True, False])
    def test_all_coordinates_are_right_away_from_it(self, simplex, h, divergence):
        """Five standard errors of 2,000 effective draws; planted: without the metric's divergence
        means are off by 0.3 sds.
        """
        counts = np.array([[3, 3, 12]])
        model = sgmc.LDA(counts, 1, beta=1.0, sweeps="exact")
        results = model.fit(
            sampler=sgmc.SGRLD(simplex=simplex, divergence=divergence),
            step_size=h,
            batch_size=1,
            draws=2000,
            thin=50,
            seed=1,
        )
        law = stats.dirichlet(1 + counts[0])
        off = np.abs((results.params - law.mean()) / np.sqrt(law.var())).max()
        assert off < 0.12 if divergence else off > 0.24


def test_what_it_refuses():
    with pytest.raises(NotSupported, match="scir moves probabilities alone"):
        sgmc.TiedMeans(np.arange(5.0)).fit(sampler="scir", step_size=0.1)
    with pytest.raises(NotSupported, match="scir moves probabilities alone"):
        sgmc.Logit(np.arange(40) % 2, np.ones((40, 1))).fit(sampler="scir")
    with pytest.raises(sgmc.SGMCError, match="gradient='cv' does not apply to scir"):
        sparse().fit(sampler="scir", gradient="cv", step_size=0.1)


class Steep(sgmc.Model):
    """Ten rows that weigh against a probability so much that its gamma variable has a negative
    shape.
    """

    parameters, constraints, prior = {"p": 3}, {"p": "simplex"}, {"p": sgmc.dirichlet(1.0)}
    scaled, n = False, 10

    def log_lik(self, theta, rows):
        return -50.0 * len(np.arange(10)[rows]) * theta["p"][0]

    def grad(self, theta, rows):
        return {"p": np.array([-50.0 * len(np.arange(10)[rows]), 0.0, 0.0])}


def test_gradients_that_make_no_gamma_variables_end_the_run():
    with pytest.raises(sgmc.errors.ArgumentError, match="diverged"):
        Steep().fit(sampler="scir", step_size=0.1, batch_size=5, draws=10, chains=1, seed=1)
