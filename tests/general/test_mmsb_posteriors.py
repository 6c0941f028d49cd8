"""Mixed-membership blockmodels: posteriors against Gibbs sweeps, scores, defaults."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import sgmc
from sgmc.models.bases.problem import FreeForms
from sgmc.results.checks.scores.functionals import functional_draws

from .communities import DENSE, EDGES, EVERY, FREE, KARATE, K, N, gibbs, model, simulated


@pytest.fixture(scope="module")
def reference():
    """Means and sds of the probabilities of links by 40,000 Gibbs sweeps."""
    p = gibbs(EDGES, N, K, DENSE["alpha"], DENSE["eta"], DENSE["delta"], 41_000)[1000:]
    return p.mean(axis=0), p.std(axis=0)


def departure(reference, made, **fit):
    """Largest errors over all pairs: of means, in sds, and of sds, relative."""
    res = made.fit(**{"seed": 1, "draws": 2000, "chains": 2, **fit})
    p = res.link_draws(EVERY)
    mean, sd = reference
    return np.abs((p.mean(axis=0) - mean) / sd).max(), np.abs(p.std(axis=0) / sd - 1).max()


SCIR = dict(sampler="scir", step_size=0.2, batch_size=N, thin=25, warmup=1000)


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestPosteriors:
    @pytest.mark.extended
    def test_the_default(self, reference):
        """Standard errors of the worst of 45 pairs: 3.5 of 2,000 effective draws, and as much of
        the sweeps.
        """
        mean, sd = departure(reference, model())
        assert mean < 0.12 and sd < 0.1

    @pytest.mark.extended
    @pytest.mark.parametrize("nonlinks", ["all", 3])
    def test_scir(self, reference, nonlinks):
        """Of fewer effective draws, and with sds that steps make 1.5 % too small."""
        mean, sd = departure(reference, model(nonlinks), **SCIR)
        assert mean < 0.2 and sd < 0.15

    @pytest.mark.extended
    def test_sgrld(self, reference):
        """With half of the nodes in a mini-batch, and the bias at the edges of its docstring."""
        run = dict(sampler="sgrld", step_size=0.01, batch_size=N // 2, thin=50, warmup=2000)
        mean, sd = departure(reference, model(), **run)
        assert mean < 0.3 and sd < 0.15

    @pytest.mark.extended
    @pytest.mark.mistake("mmsb: {mistake}")
    @pytest.mark.parametrize("name", ["hmc"])
    @pytest.mark.parametrize("mistake", ["prior dropped", "non-links ignored", "weights x 1/2"])
    def test_mistakes_are_seen(self, reference, name, mistake):
        table = np.column_stack([FREE, np.zeros(len(FREE), dtype=int)])
        held = {"prior dropped": None, "non-links ignored": table, "weights x 1/2": table[::2]}
        prior = "flat" if mistake == "prior dropped" else None
        mean, sd = departure(reference, model(held_out=held[mistake]), prior=prior)
        assert mean > 0.25 or sd > 0.25


def width(nonlinks, step):
    """How much too wide draws of scir are by the virial of their scores, with its error."""
    run = {**SCIR, "step_size": step, "thin": round(5 / step), "warmup": 500}
    res = model(nonlinks).fit(seed=3, draws=1000, chains=2, **run)
    found = functional_draws(res._fit, res).temperatures
    return found.wide[0, 0], found.mcse[0, 0]


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestScores:
    """Steps h of scir make memberships about 0.1 h too narrow: see `width`."""

    @pytest.mark.extended
    @pytest.mark.parametrize("nonlinks", ["all", 3])
    def test_short_steps_are_right(self, nonlinks):
        """Within four standard errors of at most 1 %, and the 0.1 h of the step itself."""
        wide, mcse = width(nonlinks, 0.05)
        assert mcse < 0.01 and abs(wide) < 4 * mcse + 0.005

    @pytest.mark.extended
    @pytest.mark.mistake("mmsb: steps of scir of one, by scores")
    @pytest.mark.parametrize("name", ["scir"])
    def test_long_steps_are_seen(self, name):
        wide, mcse = width("all", 1.0)
        assert wide < -0.04 - 4 * mcse

    @pytest.mark.extended
    @pytest.mark.mistake("mmsb: scores in coordinates that end at zero, or of drawn pairs")
    @pytest.mark.parametrize("name", ["scir"])
    def test_scores_of_the_sampler_would_be_wrong(self, name, monkeypatch):
        monkeypatch.setattr(FreeForms, "unbounded", lambda _, problem: problem)
        wide, mcse = width(3, 0.05)
        assert abs(wide) > 8 * mcse or mcse > 0.1


@pytest.mark.extended
class TestDefaults:
    @pytest.mark.parametrize("seed", range(3))
    def test_karate_club(self, seed):
        """Both leaders are linked with their own; the verdict is that draws can be trusted."""
        res = sgmc.MMSB(KARATE, 4).fit(seed=seed)
        assert res.verdict.trustworthy
        near, far = res.predict([[1, 2], [33, 34], [2, 3]]), res.predict([[17, 27], [12, 16]])
        assert near.min() > 0.3 and far.max() < 0.1

    @pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
    @pytest.mark.parametrize("seed", range(2))
    def test_simulated(self, seed):
        """By mini-batches: memberships that made the network, and its perplexity."""
        links, pi = simulated(120, 3, seed=seed)
        made = sgmc.MMSB(links, 3, nodes=range(120), delta=0.01, alpha=0.1, held_out=0.1)
        res = made.fit(seed=seed, chains=2, thin=40)
        mean = res.memberships().to_numpy()
        order = linear_sum_assignment(-(pi.T @ mean))[1]
        assert np.sqrt(((mean[:, order] - pi) ** 2).mean()) < 0.12
        assert np.abs(res.strengths()["mean"] - 0.5).max() < 0.1
        pairs = made.held_out
        p = 0.01 + 0.49 * (pi[pairs.first] * pi[pairs.second]).sum(axis=1)
        best = np.exp(-np.mean(np.log(np.where(pairs.linked, p, 1 - p))))
        assert res.perplexity() < 1.15 * best

    def test_memory_does_not_grow_with_the_square_of_nodes(self):
        """30,000 nodes: a table of all pairs would have 7 GB."""
        n, rng = 30_000, np.random.default_rng(0)
        pairs = np.unique(np.sort(rng.integers(0, n, (150_000, 2)), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        tracemalloc.start()
        made = sgmc.MMSB(pairs, 3, nodes=range(n), held_out=0.01)
        made.kernel()
        made.functionals()
        assert tracemalloc.get_traced_memory()[1] < 300e6
        tracemalloc.stop()
