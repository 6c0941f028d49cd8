"""Topics at their defaults against collapsed Gibbs sampling, and what too few sweeps over documents
do to them.
"""

import numpy as np
import pytest

import sgmc
from sgmc.core.expansion import of_rows
from sgmc.core.random.rng import Rng, seed_sequence
from sgmc.core.system import deadline
from sgmc.errors import SweepsWarning
from sgmc.models.lda import sweeping
from sgmc.models.lda.sweeping import LARGEST_TOPIC_SHIFT, TRIED_SWEEPS, expected, settled, shift

from .collapsed import ordered, topics

BETA = 0.1  # the default, of topics
SHORT = dict(seed=1, draws=40, warmup=150, chains=2)


def corpus(K=2, documents=20, words=10, tokens=20, seed=2):
    """Documents of topics that share words, and the word that tells two topics apart best."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(words, 0.5), K)
    shares = rng.dirichlet(np.full(K, 0.5), documents) @ theta
    counts = np.array([rng.multinomial(tokens, p) for p in shares])
    return counts, int(np.argmax(np.abs(theta[0] - theta[1])))


def typical(counts, K):
    """Topics as the posterior has them, and their exact expected tokens."""
    model = sgmc.LDA(counts, K, sweeps="exact")
    start = model.starts(np.random.default_rng(1)).reshape(model.parameters["topics"])
    theta = settled(model.sampled(model.counts, 64), start, BETA, 1)
    slope = of_rows(model.kernel(), theta.ravel(), np.arange(model.n))[1]
    return theta, slope * theta.ravel()


def off(counts, K, sweeps, theta, truth):
    """How far 400 expected tokens are from exact ones, in sds given the assignments."""
    kernel = sgmc.LDA(counts, K).sampled(sgmc.LDA(counts, K).counts, sweeps)
    found = expected(kernel, theta, 400, Rng(seed_sequence(5, "pilot", 0))).mean(axis=0)
    return np.linalg.norm((found - truth) / np.sqrt(BETA + truth))


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
@pytest.mark.parametrize("sweeps", ["auto", 8])
def test_default_topics_are_those_of_collapsed_gibbs_sampling(sweeps):
    """4,000 draws, some hundreds of them effective, and 5,000 exact ones, err by 0.1 sd together
    (seen: 0.11 sd for the worst of 20 numbers); eight sweeps are off by 2.7 sds.
    """
    counts, word = corpus()
    exact = ordered(topics(counts, 2, 0.1, BETA, np.random.default_rng(1), 160, 50, 60), word)
    res = sgmc.LDA(counts, 2, sweeps=sweeps).fit(seed=1, draws=1000)
    found = ordered(res.draws_of("topics"), word)
    apart = found.mean(axis=(0, 1)) - exact.mean(axis=(0, 1))
    worst = np.abs(apart / exact.std(axis=(0, 1))).max()
    if sweeps == "auto":
        assert worst < 0.3
    else:
        assert worst > 0.6 and not res.verdict.trustworthy
        assert "too few sweeps" in str(res.verdict)


def test_two_topics_of_short_documents_are_exact_by_default():
    counts, _ = corpus()
    model = sgmc.LDA(counts, 2)
    theta, truth = typical(counts, 2)
    slope = of_rows(model.kernel(), theta.ravel(), np.arange(model.n))[1]
    assert slope * theta.ravel() == pytest.approx(truth, rel=1e-9)
    assert off(counts, 2, 8, theta, truth) > 0.5


@pytest.mark.cover(0)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_measured_sweeps_leave_expected_tokens_as_they_are(seed):
    """To 0.2 sds, by 400 estimates that err by about 0.03 in each of 24 numbers."""
    counts, _ = corpus(3, 30, 8, 15, seed)
    model = sgmc.LDA(counts, 3)
    assert model.sweeps == "auto" and model.used_sweeps in TRIED_SWEEPS
    theta, truth = typical(counts, 3)
    chosen = off(counts, 3, model.used_sweeps, theta, truth)
    assert chosen < 1.5 * LARGEST_TOPIC_SHIFT or model.used_sweeps == TRIED_SWEEPS[-1]


@pytest.mark.extended
def test_the_shift_is_that_of_exact_sums():
    counts, _ = corpus()
    theta, truth = typical(counts, 2)
    model = sgmc.LDA(counts, 2)
    pair = [model.sampled(model.counts, sweeps) for sweeps in (8, 512)]
    moved, error = shift(*pair, [theta] * 4, 1.0, BETA, 1)
    assert moved == pytest.approx(off(counts, 2, 8, theta, truth), abs=3 * error + 0.1)
    same, error = shift(pair[1], pair[1], [theta] * 4, 1.0, BETA, 1)
    assert same < 3 * error


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_sweeps_that_move_topics_are_not_trusted():
    counts, _ = corpus()
    with pytest.warns(SweepsWarning, match="8 Gibbs sweeps .* move topics by .* LDA.*sweeps=32"):
        res = sgmc.LDA(counts, 2, sweeps=8).fit(**SHORT)
    assert not res.verdict.trustworthy


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_sweeps_that_are_enough_are_not_blamed():
    """Of documents of one topic each, of words of their own."""
    counts = np.repeat(np.kron(np.eye(2, dtype=int), np.full(5, 4)), 10, axis=0)
    res = sgmc.LDA(counts, 2, sweeps=8).fit(**SHORT)
    assert not any(isinstance(one, SweepsWarning) for one in res.warnings)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_sweeps_are_measured_in_half_of_the_time_that_there_is(monkeypatch):
    """Without the time the most of them are taken; a later fit measures."""
    limits = []

    def least(model):
        limits.append(deadline.current().left())
        deadline.check()
        return TRIED_SWEEPS[1]

    monkeypatch.setattr(sweeping, "least", least)
    model = sgmc.LDA(corpus(3, tokens=40)[0], 3)
    with deadline.limited(1e-9):
        assert model.used_sweeps == TRIED_SWEEPS[-1]
    for seconds in (1000, None):
        model.fit(seed=1, draws=2, warmup=2, chains=2, time_limit=seconds)
        assert model.used_sweeps == TRIED_SWEEPS[1]
    assert len(limits) == 2 and limits[0] < 1 and 0 < limits[1] <= 500
