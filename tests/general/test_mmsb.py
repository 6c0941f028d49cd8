"""Mixed-membership blockmodels: density and gradients by brute force, strata, posteriors against
Gibbs sweeps, data, results, refusals.
"""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment

import sgmc
from sgmc.core.engine import full
from sgmc.core.expansion import of_rows
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.bases.derived import exact_gradient
from sgmc.models.bases.priors import named_priors, separable
from sgmc.models.communities.results import link_probabilities

from .communities import KARATE, gibbs, simulated

N, K = 10, 2
DENSE = dict(communities=K, nodes=range(N), alpha=0.5, eta=(2.0, 1.5), delta=0.1)
EDGES = simulated(N, K, alpha=0.3, beta=0.8, delta=0.1, seed=3)[0]
EVERY = np.column_stack(np.triu_indices(N, 1))
FREE = np.array([pair for pair in EVERY if not (pair == EDGES).all(axis=1).any()])


def model(nonlinks="all", **more):
    """A small and dense one."""
    return sgmc.MMSB(EDGES, nonlinks=nonlinks, **{**DENSE, **more})


def somewhere(seed=1):
    """Memberships (N, K), strengths (K,) and theta."""
    rng = np.random.default_rng(seed)
    pi, beta = rng.dirichlet(np.ones(K), N), rng.uniform(0.2, 0.9, K)
    return pi, beta, np.concatenate([pi.ravel(), np.column_stack([beta, 1 - beta]).ravel()])


def brute_force(pi, beta, pairs, linked, delta=0.1):
    """The log-likelihood by sums over the communities that the nodes of each pair choose."""
    total = 0.0
    for (a, b), y in zip(pairs, linked):
        p = 0.0
        for k, m in itertools.product(range(K), repeat=2):
            chance = beta[k] if k == m else delta
            p += pi[a, k] * pi[b, m] * (chance if y else 1 - chance)
        total += np.log(p)
    return total


class TestDensity:
    def test_rows_together_have_the_likelihood(self):
        """Pairs that are held out are not in it."""
        pi, beta, theta = somewhere()
        linked = [(pair == EDGES).all(axis=1).any() for pair in EVERY]
        held = np.column_stack([EVERY, linked])[::4]
        kept = np.setdiff1d(np.arange(len(EVERY)), np.arange(len(EVERY))[::4])
        for held_out, rows in ((None, np.arange(len(EVERY))), (held, kept)):
            value, _ = of_rows(model(held_out=held_out).kernel(), theta, range(N))
            wanted = brute_force(pi, beta, EVERY[rows], np.array(linked)[rows])
            assert value == pytest.approx(wanted, rel=1e-12)

    @pytest.mark.parametrize("rows", [range(N), [3], [0, 5, 5]])
    def test_gradients_are_differences(self, rows):
        kernel, theta = model().kernel(), somewhere()[2]
        g, e = of_rows(kernel, theta, rows)[1], 1e-6
        found = [
            (of_rows(kernel, theta + e * one, rows)[0] - of_rows(kernel, theta - e * one, rows)[0])
            / (2 * e)
            for one in np.eye(len(theta))
        ]
        assert g == pytest.approx(np.array(found), rel=1e-6, abs=1e-6)

    def test_shapes_of_scir_have_constant_sums(self):
        """theta . gradient does not depend on theta, row by row."""
        made = model()
        for seed in range(3):
            theta = somewhere(seed)[2]
            g = theta * of_rows(made.kernel(), theta, range(N))[1]
            sums = np.append(g[: N * K].reshape(N, K).sum(axis=1), g[N * K :].reshape(K, 2).sum(1))
            assert sums == pytest.approx(made.spare())


def strata(made, draws=4000):
    """Means of drawn gradients in free numbers, their standard errors, and the exact one."""
    exact = model()
    start, map = somewhere()[2], exact.layout().map
    prior = separable(named_priors(exact.prior, exact.layout()))
    gradient = exact_gradient(made.kernel(), prior, map)
    g = np.array([full(gradient, map.inverse(start))[1] for _ in range(draws)])
    wanted = full(exact_gradient(exact.kernel(), prior, map), map.inverse(start))[1]
    return g.mean(axis=0), g.std(axis=0) / np.sqrt(draws), wanted


class TestStrata:
    @pytest.mark.parametrize("nonlinks", [1, 3])
    def test_drawn_gradients_are_unbiased(self, nonlinks):
        """Within 4.5 standard errors, of 22 numbers; and they do vary."""
        mean, se, wanted = strata(model(nonlinks))
        assert (np.abs(mean - wanted) < 4.5 * se + 1e-9).all() and (se > 0).any()

    @pytest.mark.mistake("mmsb: {dropped} of the pairs without a link ignored")
    @pytest.mark.parametrize("name", ["strata"])
    @pytest.mark.parametrize("dropped", ["half", "all"])
    def test_wrong_weights_of_strata_are_seen(self, name, dropped):
        """Weights that are too small are those of fewer pairs."""
        table = np.column_stack([FREE, np.zeros(len(FREE), dtype=int)])
        mean, se, wanted = strata(model(3, held_out=table[:: 2 if dropped == "half" else 1]))
        assert (np.abs(mean - wanted) > 10 * se + 1e-9).any()

    def test_every_pair_of_a_node_is_drawn_as_often(self):
        """The walk over nodes that are not linked: by the slopes of a single row."""
        kernel, theta = model(2).kernel(), somewhere()[2]
        exact = of_rows(model().kernel(), theta, range(N))[1]
        gradient = exact_gradient(kernel, separable(named_priors("flat", model().layout())), None)
        found = np.mean([full(gradient, theta)[1] for _ in range(6000)], axis=0)
        assert found == pytest.approx(exact, rel=0.02, abs=0.05)

    def test_nodes_of_a_minibatch_are_scaled(self):
        """Halves of the nodes, each half as likely, add up to all."""
        kernel, theta = model().kernel(), somewhere()[2]
        whole = of_rows(kernel, theta, range(N))[1]
        parts = [of_rows(kernel, theta, range(k, N, 2))[1] for k in range(2)]
        assert sum(parts) == pytest.approx(whole, rel=1e-10)


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
        assert mean < 0.45 and sd < 0.25

    @pytest.mark.mistake("mmsb: {mistake}")
    @pytest.mark.parametrize("name", ["hmc"])
    @pytest.mark.parametrize("mistake", ["prior dropped", "non-links ignored", "weights x 1/2"])
    def test_mistakes_are_seen(self, reference, name, mistake):
        table = np.column_stack([FREE, np.zeros(len(FREE), dtype=int)])
        held = {"prior dropped": None, "non-links ignored": table, "weights x 1/2": table[::2]}
        prior = "flat" if mistake == "prior dropped" else None
        mean, sd = departure(reference, model(held_out=held[mistake]), prior=prior)
        assert mean > 0.25 or sd > 0.25


@pytest.mark.extended
class TestDefaults:
    @pytest.mark.parametrize("seed", range(3))
    def test_karate_club(self, seed):
        """Both leaders are linked with their own; the verdict is that draws can be trusted."""
        res = sgmc.MMSB(KARATE, 4).fit(seed=seed)
        assert res.verdict.trustworthy
        near, far = res.predict([[1, 2], [33, 34], [2, 3]]), res.predict([[17, 27], [12, 16]])
        assert near.min() > 0.3 and far.max() < 0.1

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


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
class TestResults:
    RUN = dict(seed=2, draws=60, warmup=60, chains=2, thin=2)
    BATCHES = dict(sampler="sgrld", step_size=0.01, batch_size=5)

    def test_labels_of_chains_are_matched(self):
        res = model().fit(**self.RUN)
        swapped = model().fit(**self.RUN)
        where = res.model.slices
        pi, beta = where["memberships"], where["strengths"]
        swapped.draws[1][:, pi] = res.draws_of("memberships")[1][..., ::-1].reshape(60, -1)
        swapped.draws[1][:, beta] = res.draws_of("strengths")[1][:, ::-1].reshape(60, -1)
        assert swapped.memberships().to_numpy() == pytest.approx(res.memberships().to_numpy())
        assert swapped.strengths().to_numpy() == pytest.approx(res.strengths().to_numpy())
        assert swapped.predict(EVERY) == pytest.approx(res.predict(EVERY))

    def test_what_is_kept_where_draws_are_too_many(self, monkeypatch):
        held = np.column_stack([EVERY[::5], [(p == EDGES).all(axis=1).any() for p in EVERY[::5]]])
        whole = model(held_out=held).fit(**self.RUN, **self.BATCHES)
        monkeypatch.setattr("sgmc.models.bases.problem.DRAWS_MEMORY", 3000)
        monkeypatch.setattr("sgmc.models.bases.problem.RECORDED_SAMPLE", 3)
        few = model(held_out=held).fit(**self.RUN, **self.BATCHES)
        assert few.draws.shape[2] == 3
        assert few.perplexity() == pytest.approx(whole.perplexity(), rel=1e-12)
        assert few.perplexity(held) == pytest.approx(few.perplexity(), rel=1e-5)
        assert few.memberships().to_numpy() == pytest.approx(whole.memberships().to_numpy())
        assert few.strengths().to_numpy() == pytest.approx(whole.strengths().to_numpy(), abs=1e-5)
        assert str(few.summary())
        p = few.predict(held[:, :2])
        wanted = np.exp(-np.mean(np.log(np.where(held[:, 2], p, 1 - p))))
        assert few.perplexity(held) == pytest.approx(wanted)

    def test_drawn_pairs_go_on_as_if_they_had_not_stopped(self, tmp_path):
        run = {**self.RUN, "sampler": "scir", "step_size": 0.1, "batch_size": N}
        made = model(3, held_out=0.2)
        whole, part = made.fit(**run), made.fit(**{**run, "draws": 40})
        assert part.resume(draws=20).perplexity() == pytest.approx(whole.perplexity(), rel=1e-12)
        part.save(tmp_path / "file")
        again = sgmc.load(tmp_path / "file")
        assert (again.predict(EVERY) == part.predict(EVERY)).all()
        assert (made.fit(threads=2, **run).draws == whole.draws).all()

    def test_probabilities_are_those_of_the_draws(self):
        res = sgmc.MMSB(KARATE, 3).fit(**self.RUN)
        pi, beta = res.draws_of("memberships"), res.draws_of("strengths")[..., 0]
        delta = res.model.delta
        p = delta + (pi[..., 0, :] * pi[..., 33, :] * (beta - delta)).sum(axis=-1)
        assert res.predict([[34, 1]]) == pytest.approx(p.mean())
        assert res.memberships().index.tolist() == np.unique(KARATE).tolist()
        theta = res.draws.reshape(-1, res.draws.shape[2])
        found = link_probabilities(theta, 3, delta, np.array([0]), np.array([33]))[:, 0]
        assert found == pytest.approx(p.ravel())


def test_networks_in_any_form_are_the_same():
    A = sparse.coo_array((np.ones(len(EDGES)), EDGES.T), shape=(N, N))
    flipped = EDGES[::-1, ::-1]
    names = pd.DataFrame(np.array(list("abcdefghij"))[EDGES], columns=["from", "to"])
    models = [
        sgmc.MMSB(edges, **{**DENSE, "nodes": nodes})
        for edges, nodes in (
            (EDGES, range(N)),
            (flipped.astype(float), range(N)),
            (EDGES.tolist(), range(N)),
            (A + A.T, None),
            ((A + A.T).tocsc().astype(bool), None),
            (names, list("abcdefghij")),
        )
    ]
    for made in models[1:]:
        for one, other in zip(made.known(), models[0].known()):
            assert (one == other).all()
    assert list(models[-1].nodes) == list("abcdefghij")


def test_a_share_is_held_out():
    made = sgmc.MMSB(KARATE, 3, held_out=0.25)
    pairs = made.held_out
    assert pairs.linked.sum() == (~pairs.linked).sum() == round(0.25 * len(KARATE))
    assert not set(pairs.codes(34)) & set(made.links.codes(34))
    assert len(made.links.first) + pairs.linked.sum() == len(KARATE)
    assert len(set(pairs.codes(34))) == len(pairs.first)


A3 = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    "make, error, told",
    [
        (lambda: sgmc.MMSB([[1, 2], [2, 2], [1, 3]], 2), DataError, "pairs node 2 with itself"),
        (lambda: sgmc.MMSB([[1, 2], [2, 1], [1, 3]], 2), DataError, "pair of 1 and 2 more than"),
        (lambda: sgmc.MMSB([["a", "b"], ["b", None]], 2), DataError, "1 labels .* missing"),
        (
            lambda: sgmc.MMSB([[1, 2], [2, 3]], 2, nodes=[1, 2]),
            DataError,
            "the node 3, which is none of the 2",
        ),
        (lambda: sgmc.MMSB([[1, 2]], 2, nodes=[1, 2, 2]), DataError, "nodes repeats 2"),
        (lambda: sgmc.MMSB([[1, 2], [2, 3]], 3), DataError, "3 nodes; 3 communities"),
        (lambda: sgmc.MMSB([1, 2], 2), DataError, "shape .2,.; it must be a table or an array"),
        (lambda: sgmc.MMSB([[1, 2, 1, 1]], 2), DataError, "must be a table or an array"),
        (lambda: sgmc.MMSB([[1, 2, 1]], 2), DataError, "edges has 3 columns"),
        (lambda: sgmc.MMSB(np.empty((0, 2)), 2), DataError, "edges has no rows"),
        (lambda: sgmc.MMSB(sparse.csr_array(A3[:2]), 2), DataError, "is square"),
        (lambda: sgmc.MMSB(sparse.csr_array(2 * A3), 2), DataError, "holds 2"),
        (lambda: sgmc.MMSB(sparse.csr_array(A3 + np.eye(3)), 2), DataError, "node 0 with itself"),
        (lambda: sgmc.MMSB(sparse.csr_array(np.triu(A3)), 2), DataError, "not symmetric"),
        (lambda: sgmc.MMSB(sparse.csr_array((5, 5)), 2), DataError, "no link"),
        (lambda: sgmc.MMSB(EVERY, 2), DataError, "all pairs of its 10 nodes"),
        (lambda: sgmc.MMSB(EDGES + 0.5, 2), DataError, r"the node 0\.5; .* whole numbers or text"),
        (lambda: sgmc.MMSB(KARATE, 1), ArgumentError, "communities=1"),
        (lambda: sgmc.MMSB(KARATE, alpha=0), ArgumentError, "alpha=0"),
        (lambda: sgmc.MMSB(KARATE, eta=1), ArgumentError, "eta=1"),
        (lambda: sgmc.MMSB(KARATE, eta=(1, -1)), ArgumentError, "eta="),
        (lambda: sgmc.MMSB(KARATE, delta=1), ArgumentError, "delta=1"),
        (lambda: sgmc.MMSB(KARATE, nonlinks=0), ArgumentError, "nonlinks=0"),
        (lambda: sgmc.MMSB(KARATE, held_out=1.5), ArgumentError, "held_out=1.5"),
        (lambda: sgmc.MMSB(KARATE, held_out=[[1, 2]]), DataError, "held_out needs a third column"),
        (lambda: sgmc.MMSB(KARATE, held_out=[[1, 99, 0]]), DataError, "held_out has the node 99"),
        (lambda: sgmc.MMSB(KARATE, held_out=[[1, 2, 7]]), DataError, "third column must be 0 or 1"),
        (lambda: model(3).fit(sampler="hmc"), NotSupported, "needs the likelihood of all pairs"),
        (
            lambda: model().fit(sampler="scir", step_size=0.1, batch_size=5),
            NotSupported,
            "batch_size=5: sampler='scir' needs all nodes",
        ),
        (lambda: model().fit(sampler="sgrld"), ArgumentError, "step_size"),
    ],
)
def test_what_it_refuses(make, error, told):
    with pytest.raises(error, match=told):
        make()


@pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning")
def test_what_results_refuse():
    res = model().fit(seed=1, draws=10, warmup=10, chains=1, thin=1)
    for call, error, told in (
        (lambda: res.predict([[0, 99]]), DataError, "pairs has the node 99"),
        (lambda: res.predict([[1, 1]]), DataError, "pairs node 1 with itself"),
        (lambda: res.perplexity(), ArgumentError, "no pairs were held out"),
        (lambda: res.perplexity([[0, 1]]), ArgumentError, "test needs a third column"),
    ):
        with pytest.raises(error, match=told):
            call()
