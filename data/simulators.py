"""Tables of the shape of the literature's data sets, for where those are absent.

Each has the columns of `sgmc.datasets.load`'s table of the same name, its number of rows by
default, and coefficients, scales and rates of its kind; nothing in them was fitted to the original
rows.  ``python data/simulators.py`` writes the small ones beside itself.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import sgmc

HERE = Path(__file__).resolve().parent
A9A_GROUPS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)


def coin(rng, eta):
    """0 or 1 with log-odds eta."""
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.int64)


def a9a(rows=32_561, seed=0):
    """Fourteen factors as 123 binary columns, some of them very rare;
    a quarter of the outcomes are 1.
    """
    rng = np.random.default_rng(seed)
    blocks = [
        np.eye(levels, dtype=np.int8)[rng.choice(levels, rows, p=share / share.sum())]
        for levels, share in (
            (levels, 1.0 / np.arange(1, levels + 1) ** 1.5) for levels in A9A_GROUPS
        )
    ]
    X = np.hstack(blocks)
    eta = X @ rng.normal(0, 0.6, X.shape[1])
    table = pd.DataFrame(X, columns=[f"f{j}" for j in range(1, X.shape[1] + 1)])
    return table.assign(y=coin(rng, eta - np.quantile(eta, 0.8)).astype(np.int8))


def sepsis(rows=110_204, seed=0):
    """Ages, sexes, episodes and survival, of which 93 % are 1: `sgmc.datasets.hospital_stays`."""
    table, _ = sgmc.datasets.hospital_stays(rows, seed)
    return table[["age", "female", "episode", "alive"]].set_axis(
        ["age_years", "sex_0male_1female", "episode_number", "hospital_outcome_1alive_0dead"],
        axis=1,
    )


def arrhythmia(rows=452, seed=0):
    """279 measurements of scales from 0.1 to 100, many of them nearly constant, and a diagnosis,
    of which 54 % are 1.
    """
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(rows, 20)) @ rng.normal(size=(20, 279)) / np.sqrt(20)
    Z = 0.7 * shared + 0.7 * rng.normal(size=(rows, 279))
    rare = rng.random(279) < 0.3
    X = np.where(rare, (rng.random((rows, 279)) < 0.03) * 1.0, Z) * 10.0 ** rng.uniform(-1, 2, 279)
    X[:, :17] = 0.0
    eta = Z[:, 17:67] @ rng.normal(0, 0.4, 50)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(1, 280)])
    return table.assign(diagnosis=np.where(coin(rng, eta + 0.2) == 1, 1, 10))


def meg(rows=17_730, seed=0):
    """Ten channels that mix ten independent, heavy-tailed sources with some memory."""
    rng = np.random.default_rng(seed)
    sources = rng.standard_t(5, (rows, 10))
    for lag in range(1, rows):
        sources[lag] += 0.5 * sources[lag - 1]
    mixed = 100 * sources @ rng.normal(size=(10, 10)) / np.sqrt(10) + rng.normal(0, 20, 10)
    return pd.DataFrame(mixed, columns=[f"x{j}" for j in range(1, 11)])


def flights(rows=336_776, seed=0):
    """A year's departures from three airports: times, carriers, distances, and delays on arrival
    that grow over the day.
    """
    rng = np.random.default_rng(seed)
    carriers = ["UA", "B6", "EV", "DL", "AA", "MQ", "US", "WN"]
    table = pd.DataFrame(
        {
            "month": rng.integers(1, 13, rows),
            "hour": rng.integers(5, 24, rows).astype(float),
            "origin": rng.choice(["EWR", "JFK", "LGA"], rows),
            "carrier": rng.choice(carriers, rows),
            "distance": rng.gamma(3, 350, rows).round(),
        }
    )
    location = (
        2.2 * (table.hour - 12) + 6 * (table.carrier == "EV") + 4 * table.month.isin([6, 7, 12])
    )
    delay = (location + 25 * rng.gumbel(size=rows) - 5).round()
    return table.assign(arr_delay=delay.where(rng.random(rows) > 0.02))


def ratings(rows=100_000, seed=0):
    """1 to 5 by 943 users for 1,682 items: means of each, two factors, noise;
    few of each have most of the ratings.
    """
    rng = np.random.default_rng(seed)
    popular = rng.gamma(0.4, 1.0, (1682, 1)).ravel() + 1e-3
    busy = rng.gamma(0.8, 1.0, 943) + 0.2
    pairs = rng.choice(943, 2 * rows, p=busy / busy.sum()) * 1682 + rng.choice(
        1682, 2 * rows, p=popular / popular.sum()
    )
    user, item = np.divmod(rng.permutation(np.unique(pairs))[:rows], 1682)
    u, v = rng.normal(0, 0.5, (943, 2)), rng.normal(0, 0.7, (1682, 2))
    mean = (
        3.5
        + rng.normal(0, 0.4, 943)[user]
        + rng.normal(0, 0.5, 1682)[item]
        + (u[user] * v[item]).sum(1)
    )
    stars = np.clip((mean + rng.normal(0, 0.85, len(mean))).round(), 1, 5).astype(np.int64)
    return pd.DataFrame({"user": user + 1, "item": item + 1, "rating": stars, "timestamp": 0})


def train():
    """Four fifths of `ratings`."""
    return ratings().iloc[20_000:].reset_index(drop=True)


def test():
    """The other fifth."""
    return ratings().iloc[:20_000].reset_index(drop=True)


def mnist(rows=60_000, seed=0):
    """Images of 28 x 28 bytes in ten kinds: blots, three of a kind at its own places, here and
    there missing, of varying strength.
    """
    rng, kinds = np.random.default_rng(seed), np.random.default_rng(1)
    label, axis = rng.integers(0, 10, rows), np.arange(28)
    centres, widths = kinds.uniform(6, 22, (10, 3, 2)), kinds.uniform(1.5, 4, (10, 3))
    bumps = np.exp(
        -(
            (axis[:, None, None, None] - centres[..., 0]) ** 2
            + (axis[:, None, None] - centres[..., 1]) ** 2
        )
        / (2 * widths**2)
    )
    blots = bumps.transpose(2, 3, 0, 1).reshape(10, 3, 784).astype(np.float32)
    strength = (rng.gamma(2, 0.4, (rows, 3)) * (rng.random((rows, 3)) < 0.8)).astype(np.float32)
    images = np.zeros((rows, 784), dtype=np.float32)
    for k in range(10):
        images[label == k] = strength[label == k] @ blots[k]
    images *= 0.5 + rng.random(images.shape, dtype=np.float32)
    table = pd.DataFrame(
        np.clip(255 * images, 0, 255).astype(np.uint8), columns=[f"p{j}" for j in range(784)]
    )
    table.insert(0, "label", label.astype(np.uint8))
    return table


def mnist_test():
    """Others of the same kinds."""
    return mnist(10_000, seed=2)


SIMULATORS = {
    "a9a": a9a,
    "sepsis": sepsis,
    "arrhythmia": arrhythmia,
    "meg": meg,
    "flights": flights,
    "movielens-100k": ratings,
    "movielens-100k-u1-train": train,
    "movielens-100k-u1-test": test,
    "mnist": mnist,
    "mnist-test": mnist_test,
}

if __name__ == "__main__":
    for name, rows in (("sepsis", 2_000), ("flights", 2_000), ("meg", 1_000)):
        SIMULATORS[name](rows).round(4).to_csv(HERE / f"{name}.csv", index=False)
