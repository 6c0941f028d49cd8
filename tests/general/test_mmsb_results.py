"""Mixed-membership blockmodels: what results give, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import sgmc
from sgmc.errors import ArgumentError, DataError, NotSupported
from sgmc.models.communities.results import link_probabilities

from .communities import DENSE, EDGES, EVERY, KARATE, N, model


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
        row = res.get_prediction([[34, 1], [1, 2]]).loc[(34, 1)]
        assert (row["mean"], row["sd"]) == pytest.approx((p.mean(), p.std()))
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
