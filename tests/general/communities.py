"""Networks of communities: simulated ones, Zachary's karate club, and an exact sampler."""

import numpy as np

import sgmc

KARATE = np.array(
    [
        tuple(map(int, pair.split("-")))
        for pair in (
            "1-2 1-3 2-3 1-4 2-4 3-4 1-5 1-6 1-7 5-7 6-7 1-8 2-8 3-8 4-8 1-9 3-9 3-10 1-11 5-11 "
            "6-11 1-12 1-13 4-13 1-14 2-14 3-14 4-14 6-17 7-17 1-18 2-18 1-20 2-20 1-22 2-22 24-26 "
            "25-26 3-28 24-28 25-28 3-29 24-30 27-30 2-31 9-31 1-32 25-32 26-32 29-32 3-33 9-33 "
            "15-33 16-33 19-33 21-33 23-33 24-33 30-33 31-33 32-33 9-34 10-34 14-34 15-34 16-34 "
            "19-34 20-34 21-34 23-34 24-34 27-34 28-34 29-34 30-34 31-34 32-34 33-34"
        ).split()
    ]
)  # Zachary (1977), J. Anthropol. Res. 33:452


def simulated(n, K, alpha=0.1, beta=0.5, delta=0.01, seed=0):
    """Links (m, 2) of n nodes by the model, and their memberships (n, K)."""
    rng = np.random.default_rng(seed)
    pi = rng.dirichlet(np.full(K, alpha), n)
    a, b = np.triu_indices(n, 1)
    linked = rng.random(len(a)) < delta + (beta - delta) * (pi[a] * pi[b]).sum(axis=1)
    return np.column_stack([a, b])[linked], pi


def gibbs(links, n, K, alpha, eta, delta, sweeps, seed=0):
    """Probabilities of links of all pairs, (sweep, pair), by Gibbs sweeps over memberships,
    strengths and the communities that the nodes of each pair choose.
    """
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(n, 1)
    y = np.zeros((n, n))
    y[links[:, 0], links[:, 1]] = y[links[:, 1], links[:, 0]] = 1
    y, own = y[a, b].astype(bool), np.arange(K) * (K + 1)
    pi, beta = rng.dirichlet(np.ones(K), n), rng.beta(2, 2, K)
    found = np.empty((sweeps, len(a)))
    for sweep in range(sweeps):
        chance = np.full((len(a), K * K), 1.0) * np.where(y, delta, 1 - delta)[:, None]
        chance[:, own] = np.where(y[:, None], beta, 1 - beta)
        up = np.cumsum(chance * (pi[a][:, :, None] * pi[b][:, None, :]).reshape(-1, K * K), axis=1)
        z = (up < rng.random((len(a), 1)) * up[:, -1:]).sum(axis=1)
        counts = np.zeros((n, K))
        np.add.at(counts, (a, z // K), 1)
        np.add.at(counts, (b, z % K), 1)
        pi = rng.gamma(alpha + counts)
        pi /= pi.sum(axis=1, keepdims=True)
        same = z // K == z % K
        on, off = (np.bincount(z[same & where] // K, minlength=K) for where in (y, ~y))
        beta = rng.beta(eta[0] + on, eta[1] + off)
        found[sweep] = delta + ((pi[a] * pi[b]) @ (beta - delta))
    return found


N, K = 10, 2
DENSE = dict(communities=K, nodes=range(N), alpha=0.5, eta=(2.0, 1.5), delta=0.1)
EDGES = simulated(N, K, alpha=0.3, beta=0.8, delta=0.1, seed=3)[0]
EVERY = np.column_stack(np.triu_indices(N, 1))
FREE = np.array([pair for pair in EVERY if not (pair == EDGES).all(axis=1).any()])


def model(nonlinks="all", **more):
    """A small and dense one."""
    return sgmc.MMSB(EDGES, nonlinks=nonlinks, **{**DENSE, **more})
