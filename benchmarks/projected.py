"""Projected Langevin steps beside steps of a transformed parameter, by their exact laws.

    python benchmarks/projected.py

The target is N(centre, 1) above zero.  Projected steps go to max(0, theta + h/2 g + sqrt(h) xi)
(Brosse, Durmus, Moulines & Pereyra 2017, arXiv:1705.08964, compare such schemes; Bubeck, Eldan &
Lehec 2018), transformed ones are those of log theta, as for `constraints="positive"`.  Laws are
those of transition matrices on 1,000 cells.  Printed, for steps of the same autocorrelation time:
errors of mean and sd in sds of the target, and the share of draws at zero itself, where the target
has none.
"""

import numpy as np
from scipy import stats

CELLS = 1_000


def law(edges, centre_of, sd):
    """Stationary shares of cells, and the autocorrelation time of their middles."""
    middles = (edges[1:] + edges[:-1]) / 2
    below = stats.norm.cdf((edges[None, :] - centre_of(middles)[:, None]) / sd)
    moves = np.diff(below, axis=1)
    moves[:, 0] += below[:, 0]  # what goes beyond an edge stays in the cell beside it
    moves[:, -1] += 1 - below[:, -1]
    ones = np.ones((CELLS, CELLS))
    return np.linalg.solve((np.eye(CELLS) - moves + ones).T, np.ones(CELLS)), middles, moves


def summary(share, theta, moves):
    """Mean, sd, autocorrelation time."""
    mean = share @ theta
    off = theta - mean
    spread = share @ off**2
    later = np.linalg.solve(np.eye(CELLS) - moves + np.outer(np.ones(CELLS), share), off)
    return mean, np.sqrt(spread), 2 * (share * off) @ later / spread - 1


def projected(centre, h):
    """Shares, places and moves: the first cell stands for zero."""
    edges = np.concatenate([[-1e-9], np.linspace(1e-9, max(centre, 0) + 6, CELLS)])
    return law(edges, lambda theta: theta + h / 2 * (centre - theta), np.sqrt(h))


def transformed(centre, h):
    """The same of log theta."""
    edges = np.linspace(-12, np.log(max(centre, 0) + 6), CELLS + 1)
    share, u, moves = law(
        edges, lambda u: u + h / 2 * (1 + np.exp(u) * (centre - np.exp(u))), h**0.5
    )
    return share, np.exp(u), moves


def step_with(kind, centre, time):
    """The step whose autocorrelation time is `time`, by bisection of its log."""
    low, high = np.log(1e-3), np.log(1.5)
    for _ in range(20):
        h = np.exp((low + high) / 2)
        low, high = (low, np.log(h)) if summary(*kind(centre, h))[2] < time else (np.log(h), high)
    return h


if __name__ == "__main__":
    print("centre  time  scheme       mean      sd  at zero")
    for centre in (0.0, 1.0, 3.0):
        exact = stats.truncnorm(-centre, np.inf, loc=centre)
        for time in (20, 100):
            for kind in (projected, transformed):
                found = kind(centre, step_with(kind, centre, time))
                mean, sd, _ = summary(*found)
                off = (mean - exact.mean()) / exact.std(), sd / exact.std() - 1
                zero = found[0][0] if kind is projected else 0.0
                print(
                    f"{centre:6}{time:6}  {kind.__name__:11}{off[0]:7.3f} {off[1]:7.3f}{zero:9.3f}"
                )
