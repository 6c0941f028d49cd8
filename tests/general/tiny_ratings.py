"""Twenty-two ratings that can be sampled exactly."""

import numpy as np

USERS, ITEMS = 6, 5


TRUE = {"alpha": 2.0, "mu0": 0.0, "c": 1.0, "a": 2.0, "b": 2.0}


def tiny():
    """Twenty-two ratings of five items by six users."""
    rng = np.random.default_rng(11)
    pairs = rng.permutation(USERS * ITEMS)[:22]
    u, v = rng.normal(size=(USERS, 1)), rng.normal(1, 1, size=(ITEMS, 1))
    user, item = pairs // ITEMS, pairs % ITEMS
    return user, item, np.round((u @ v.T)[user, item] + 0.7 * rng.normal(size=22) + 3, 1)


def everyone():
    """All pairs of the tiny table."""
    return np.repeat(np.arange(USERS), ITEMS), np.tile(np.arange(ITEMS), USERS)
