"""Mixed-membership blockmodels: density and gradients by brute force, strata."""

import itertools

import numpy as np
import pytest

from sgmc.coordinates.approximations.laplace import exact_gradient
from sgmc.coordinates.priors.prior_table import density_of
from sgmc.core.engine import full
from sgmc.core.expansion import of_rows
from sgmc.models.bases.priors import named_priors

from .communities import EDGES, EVERY, FREE, K, N, model


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
    prior = density_of(named_priors(exact.prior, exact.layout()))
    gradient = exact_gradient(made.kernel(), prior, map)
    g = np.array([full(gradient, map.inverse(start))[1] for _ in range(draws)])
    wanted = full(exact_gradient(exact.kernel(), prior, map), map.inverse(start))[1]
    return g.mean(axis=0), g.std(axis=0) / np.sqrt(draws), wanted


class TestStrata:
    @pytest.mark.extended
    @pytest.mark.parametrize("nonlinks", [1, 3])
    def test_drawn_gradients_are_unbiased(self, nonlinks):
        """Within 4.5 standard errors, of 22 numbers; and they do vary."""
        mean, se, wanted = strata(model(nonlinks))
        assert (np.abs(mean - wanted) < 4.5 * se + 1e-9).all() and (se > 0).any()

    @pytest.mark.extended
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
        gradient = exact_gradient(kernel, density_of(named_priors("flat", model().layout())), None)
        found = np.mean([full(gradient, theta)[1] for _ in range(6000)], axis=0)
        assert found == pytest.approx(exact, rel=0.02, abs=0.05)

    def test_nodes_of_a_minibatch_are_scaled(self):
        """Halves of the nodes, each half as likely, add up to all."""
        kernel, theta = model().kernel(), somewhere()[2]
        whole = of_rows(kernel, theta, range(N))[1]
        parts = [of_rows(kernel, theta, range(k, N, 2))[1] for k in range(2)]
        assert sum(parts) == pytest.approx(whole, rel=1e-10)
