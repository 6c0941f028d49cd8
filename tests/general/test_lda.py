"""Topics of documents: gradients by enumeration, posteriors against an exact sampler and a known
one, held-out words, refusals.
"""

import itertools
import os

import numpy as np
import pytest
from scipy import sparse, special, stats

import sgmc
from sgmc.coordinates.approximations.laplace import exact_gradient
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.core.engine import full
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.bases.priors import named_priors
from sgmc.models.lda.corpus import documents, halves
from sgmc.models.lda.folding import Completion

TRUE = np.array([[0.6, 0.3, 0.08, 0.01, 0.01], [0.01, 0.09, 0.2, 0.3, 0.4]])
ALPHA, BETA = 0.3, 0.5
START = {"topics": TRUE}


def corpus(n=20, tokens=8, topics=TRUE, seed=0):
    """Documents of so many tokens."""
    rng = np.random.default_rng(seed)
    return np.array(
        [
            rng.multinomial(tokens, rng.dirichlet(np.full(len(topics), ALPHA)) @ topics)
            for _ in range(n)
        ]
    )


def model(counts=None, topics=2, sweeps="exact", **more):
    """A small one."""
    return sgmc.LDA(
        corpus() if counts is None else counts,
        topics,
        **{"alpha": ALPHA, "beta": BETA, "sweeps": sweeps, **more},
    )


def enumerated(theta, words, alpha):
    """Log-likelihood of a document, and expected tokens of each topic at each of its words, over
    all assignments.
    """
    K, total, expected = len(theta), 0.0, np.zeros((len(theta), len(words)))
    for z in itertools.product(range(K), repeat=len(words)):
        n = np.bincount(z, minlength=K)
        proportions = special.gammaln([K * alpha, K * alpha + len(words)])
        p = np.prod(theta[list(z), words]) * np.exp(
            -np.diff(proportions)[0] + (special.gammaln(alpha + n) - special.gammaln(alpha)).sum()
        )
        total += p
        expected[list(z), range(len(words))] += p
    return np.log(total), expected / total


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_exact_sums_are_those_over_all_assignments(topics):
    rng = np.random.default_rng(1)
    theta = rng.dirichlet(np.ones(5), topics)
    counts = np.array([[2, 0, 3, 1, 0], [0, 0, 0, 0, 1], [0, 2, 0, 0, 2]])
    kernel = model(counts, topics).kernel()
    for i, row in enumerate(counts):
        words = np.repeat(np.arange(5), row)
        value, expected = enumerated(theta, words, ALPHA)
        slope = np.zeros((topics, 5))
        np.add.at(slope, (slice(None), words), expected / theta[:, words])
        found, g = of_rows(kernel, theta.ravel(), [i])
        assert found == pytest.approx(value, abs=1e-12)
        assert g.reshape(topics, 5) == pytest.approx(slope, rel=1e-10)


@pytest.mark.parametrize(
    "sweeps, alpha, right", [(400, ALPHA, True), (400, 3 * ALPHA, False), (1, ALPHA, False)]
)
def test_sweeps_approach_exact_gradients(sweeps, alpha, right):
    """In shares of counts; 400 sweeps leave an error of some 0.02.

    Planted: another alpha; a single sweep, which is not averaged.
    """
    theta = np.random.default_rng(1).dirichlet(np.ones(5), 2)
    one = model(corpus(3)), sgmc.LDA(corpus(3), 2, alpha=alpha, beta=BETA, sweeps=sweeps)
    priors = [density_of(named_priors("flat", m.layout())) for m in one]
    exact, found = (
        full(exact_gradient(m.kernel(), prior, None), theta.ravel())[1].reshape(2, 5) * theta
        for m, prior in zip(one, priors)
    )
    assert found.sum(axis=0) == pytest.approx(exact.sum(axis=0))
    assert (np.abs(found - exact).max() < 0.15) == right


@pytest.fixture(scope="module")
def exact():
    """Topics of few words by sums over all assignments."""
    return model().fit(seed=1, sampler="hmc", draws=2500, init=START)


class TestPosteriors:
    """Two topics that documents tell apart, so that labels do not switch."""

    @staticmethod
    def departures(results, exact):
        """Largest errors of means, in posterior sds, and of sds, relative."""
        return np.abs((results.params - exact.params) / exact.bse).max(), np.abs(
            results.bse / exact.bse - 1
        ).max()

    @pytest.mark.extended
    @pytest.mark.parametrize(
        "sweeps, batch, more, right",
        [
            ("exact", 20, {}, True),
            (20, 20, {}, True),
            (20, 10, dict(step_size=0.1, thin=20), True),
            (20, 20, dict(prior="flat"), False),
        ],
    )
    def test_scir(self, exact, sweeps, batch, more, right):
        """Five standard errors of 2,500 effective draws, and sds that minibatches widen by
        tanh(h/4).  Planted: no prior.
        """
        results = model(sweeps=sweeps).fit(
            seed=2,
            sampler="scir",
            batch_size=batch,
            init=START,
            **{"draws": 1500, "step_size": 0.5, "thin": 4, **more},
        )
        mean, sd = self.departures(results, exact)
        assert (mean < 0.15 and sd < 0.15) == right

    @pytest.mark.extended
    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    @pytest.mark.parametrize("sampler, h", [("sgrld", 0.002), ("sgld", 0.01), ("mirrored", 0.01)])
    def test_langevin_steps(self, exact, sampler, h):
        """Of the words of more than a share of 0.05: at the edge of the simplex these have a bias,
        as `test_scir` says.
        """
        made, more = model(), {} if sampler == "sgrld" else dict(precondition=None)
        made.constraints = {"topics": "mirrored" if sampler == "mirrored" else "simplex"}
        results = made.fit(
            seed=2,
            sampler="sgrld" if sampler == "sgrld" else "sgld",
            step_size=h,
            batch_size=20,
            init=START,
            draws=500,
            thin=25,
            **more,
        )
        inside = exact.params > 0.05
        assert np.abs((results.params - exact.params) / exact.bse)[inside].max() < 0.25

    def test_one_topic_has_a_known_posterior(self):
        counts = corpus(30)
        results = sgmc.LDA(counts, 1, beta=BETA, sweeps=1).fit(
            seed=1, sampler="scir", step_size=10.0, batch_size=30, draws=1000
        )
        law = stats.dirichlet(BETA + counts.sum(axis=0))
        assert np.abs((results.params - law.mean()) / np.sqrt(law.var())).max() < 5 / np.sqrt(4000)
        assert np.abs(results.bse / np.sqrt(law.var()) - 1).max() < 5 / np.sqrt(2 * 4000)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestRuns:
    RUN = dict(
        seed=3, sampler="sgrld", step_size=0.01, batch_size=5, draws=40, warmup=40, chains=2, thin=2
    )

    def test_randomness_is_the_chains_own(self):
        """Of sweeps within minibatches too: the same for any number of threads,
        and where a run is gone on from.
        """
        one = model(sweeps=4).fit(threads=1, **self.RUN)
        assert (one.draws == model(sweeps=4).fit(threads=2, **self.RUN).draws).all()
        part = model(sweeps=4).fit(**{**self.RUN, "draws": 25})
        assert (part.resume(draws=15).draws == one.draws).all()

    @pytest.mark.parametrize("keep", [None, "few"])
    def test_perplexity_as_draws_come_is_that_of_kept_draws(self, keep, monkeypatch):
        held = corpus(10, 40, seed=9)
        whole = model(sweeps=4, held_out=held).fit(**self.RUN)
        if keep:
            monkeypatch.setattr("sgmc.models.bases.problem.DRAWS_MEMORY", 3000)
            monkeypatch.setattr("sgmc.models.bases.problem.RECORDED_SAMPLE", 3)
        results = model(sweeps=4, held_out=held).fit(**self.RUN)
        assert results.draws.shape[2] == (3 if keep else 10)
        assert results.perplexity() == pytest.approx(whole.perplexity(held), rel=1e-12)
        assert results.mean_topics == pytest.approx(whole.mean_topics)
        assert results.mean_topics.shape == (2, 2, 5)
        # of mean topics
        assert results.perplexity(held) == pytest.approx(whole.perplexity(), rel=0.02)

    def test_checkpoints_of_what_is_averaged(self, tmp_path, monkeypatch):
        monkeypatch.setattr("sgmc.models.bases.problem.DRAWS_MEMORY", 3000)
        monkeypatch.setattr("sgmc.models.bases.problem.RECORDED_SAMPLE", 3)
        made = model(sweeps=4, held_out=corpus(10, 40, seed=9))
        whole, part = made.fit(**self.RUN), made.fit(**{**self.RUN, "draws": 25})
        assert part.resume(draws=15).perplexity() == pytest.approx(whole.perplexity(), rel=1e-12)

    def test_words_and_proportions(self, tmp_path):
        words = ["a", "b", "c", "d", "e"]
        results = model(sweeps=4, vocabulary=words).fit(
            **{**self.RUN, "init": START, "step_size": 0.001}
        )
        assert list(results.topics(2, chain=1).loc[0]) == ["a", "b"]
        assert results.topics(3).loc[1, 0] == "e"
        p = results.transform([([0, 1], [9, 3]), ([4, 3], [9, 9])])
        assert p.shape == (2, 2)
        assert p.sum(axis=1) == pytest.approx(1)
        assert p[0, 0] > 0.8
        assert p[1, 1] > 0.8
        results.save(tmp_path / "file")
        assert (sgmc.load(tmp_path / "file").topics(2) == results.topics(2)).all().all()


def test_completion_is_that_of_equal_topics():
    """Of documents where both topics are the same, proportions do not matter."""
    first, second = halves(documents("held_out", corpus(5, 30)))
    assert (first + second != documents("held_out", corpus(5, 30))).nnz == 0
    assert first.sum() == second.sum()
    found = Completion(first, second, ALPHA).probabilities(np.array([TRUE[0], TRUE[0]]))
    assert found == pytest.approx(TRUE[0][second.indices])
    p = Completion(first, second, ALPHA).proportions(TRUE)
    r = p[:, :, None] * TRUE / (p @ TRUE)[:, None]
    expected = (ALPHA + (first.toarray()[:, None] * r).sum(axis=2)) / (
        2 * ALPHA + first.sum(axis=1)
    )[:, None]
    assert p == pytest.approx(expected, abs=1e-4)


def test_counts_in_any_form_are_the_same():
    counts = corpus()
    pairs = [(np.flatnonzero(row), row[row > 0]) for row in counts]
    words = np.concatenate([np.repeat(np.arange(5), row) for row in counts])
    twice = sparse.coo_array((np.ones(counts.sum()), (np.repeat(np.arange(20), 8), words)))
    for given in (sparse.csr_array(counts), sparse.csc_array(counts.astype(float)), pairs, twice):
        before = given.copy()
        made = sgmc.LDA(given, 2, vocabulary=list("abcde"))
        assert (made.counts.toarray() == counts).all() and made.counts.has_canonical_format
        assert given is pairs or (before != given).nnz == 0


@pytest.mark.parametrize(
    "make, error, told",
    [
        (lambda: sgmc.LDA(corpus() - 0.5), DataError, "counts must hold counts"),
        (lambda: sgmc.LDA(-corpus()), DataError, "counts must hold counts"),
        (lambda: sgmc.LDA(np.zeros((3, 4))), DataError, "0.* tokens"),
        (lambda: sgmc.LDA(corpus(), 0), ArgumentError, "topics=0"),
        (lambda: sgmc.LDA(corpus(), alpha=-1), ArgumentError, "alpha=-1"),
        (lambda: sgmc.LDA(corpus(), beta=None), ArgumentError, "beta=None"),
        (
            lambda: sgmc.LDA(corpus(), vocabulary=["a"]),
            DataError,
            "counts has 5 words; there are 1",
        ),
        (lambda: sgmc.LDA(corpus(), vocabulary=["a"] * 5), ArgumentError, "different words"),
        (lambda: sgmc.LDA(corpus(), sweeps="all"), ArgumentError, "sweeps='all'"),
        (
            lambda: sgmc.LDA(corpus(2, 300), 5, sweeps="exact"),
            ArgumentError,
            "too many assignments",
        ),
        (
            lambda: sgmc.LDA(corpus(), held_out=[[1, 2]]),
            DataError,
            "held_out has 2 words; there are 5",
        ),
        (
            lambda: sgmc.LDA([([0, 9], [1, 1])], vocabulary=list("abc")),
            DataError,
            "ids whole numbers from 0 to 2",
        ),
        (
            lambda: sgmc.LDA(corpus()).fit(sampler="hmc"),
            NotSupported,
            "needs the likelihood, which Gibbs sweeps do not give",
        ),
    ],
)
def test_what_it_refuses(make, error, told):
    with pytest.raises(error, match=told):
        make()


@pytest.mark.extended
@pytest.mark.skipif(
    not os.environ.get("SGMC_DATA"),
    reason="the AP corpus is read from the folder of data sets (SGMC_DATA)",
)
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_associated_press():
    """A few steps are far better than the words' frequencies; the first hundred documents of the
    corpus are held out.
    """
    table = sgmc.datasets.load("ap")
    counts = sparse.csr_array((table["count"], (table["document"], table["word"])))
    made = sgmc.LDA(counts[100:], 20, held_out=counts[:100])
    how = dict(sampler="sgrld", step_size=0.01, batch_size=50)
    results = made.fit(seed=1, **how, warmup=100, draws=20, chains=1)
    frequencies = np.asarray(counts[100:].sum(axis=0)).ravel() + 0.1
    test = Completion(*made.held_out, 0.1)
    plain = test.perplexity(test.probabilities(frequencies[None] / frequencies.sum()))
    assert results.perplexity() < 0.75 * plain and results.moments().shape == (20 * 10_473, 2)
