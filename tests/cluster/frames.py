"""Tables in partitions, without a cluster: what `map_blocks` promises, in a loop."""

import numpy as np
import pandas as pd


class Frames:
    """Partitions of a frame, of neighbours."""

    def __init__(self, frame, parts):
        edges = np.linspace(0, len(frame), parts + 1).astype(int)
        self.frames = [frame.iloc[a:b] for a, b in zip(edges, edges[1:])]

    def map_blocks(self, function):
        """``function(number, table)`` of every partition."""
        return [function(k, frame) for k, frame in enumerate(self.frames)]


def outcomes(n=20_000, seed=2):
    """A table with outcomes of all families, sorted by one of them, with gaps in a column."""
    random = np.random.default_rng(seed)
    x, z = random.normal(2000, 1, n), 3 * random.normal(size=n)
    g = random.choice(list("abcd"), n, p=[0.5, 0.3, 0.19, 0.01])
    eta = -1 + 0.5 * (x - 2000) - 0.2 * z + 0.4 * (g == "b") - 0.7 * (g == "d")
    p, mean, e = 1 / (1 + np.exp(-eta)), np.exp(0.5 * eta), random.uniform(0.5, 2, n)
    frame = pd.DataFrame({"x": x, "z": z, "g": g, "e": e})
    frame["w"] = random.integers(1, 4, n).astype(float)
    frame["b"] = np.where(random.random(n) < p, "yes", "no")
    frame["y"] = eta + 2 * random.normal(size=n)
    frame["count"] = random.poisson(mean * e)
    frame["spread"] = random.negative_binomial(3, 3 / (3 + mean))
    frame["kind"] = np.where(random.random(n) < 0.3, "u", np.where(frame.b == "yes", "v", "w"))
    frame["size"] = random.gamma(3, mean / 3)
    frame["won"] = random.binomial(5, p)
    frame["lost"] = 5 - frame.won
    frame["above"] = eta / 2 + random.normal(size=n) > 0
    frame.loc[random.choice(n, 300, replace=False), "z"] = np.nan
    return frame.sort_values(["kind", "b", "x"]).reset_index(drop=True)


def rare(n=20_000, events=16, seed=5):
    """Few successes, sorted by what tells them: the posterior is skewed by what single rows say."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n)
    order = np.argsort(x)
    p = np.exp(0.8 * x)
    p *= events / p.sum()
    y = (random.random(n) < p).astype(int)
    return pd.DataFrame({"y": y[order], "x": x[order]})
