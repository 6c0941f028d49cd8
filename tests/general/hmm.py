"""Small hidden Markov models, their densities and derivatives by plain numpy."""

import itertools

import numpy as np
from scipy import stats

import sgmc
from sgmc.core.expansion import of_rows

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
