"""Minibatches whose size follows the gradient's noise while a chain warms up."""

import math

import numpy as np

from sgmc.core.engine import evaluate

LOOKS = 40  # at the noise, evenly over warmup
SLACK = 0.02  # of the size: smaller changes are left until the last look


class BatchSearch:
    """The least batch of one chain whose noise V is at most `target` in its worst coordinate.

    At fixed step numbers of warmup one more estimate is made, and its sd; V1 of each coordinate is
    the mean of what was seen.  V = V1 (1/m - 1/n), or V1/m for schemes that draw rows with
    replacement; after warmup m stays.

    Parameters
    ----------
    target : float
        V in units of the posterior precision.
    stiffness : float
        Largest precision of the sampler's coordinates.
    warmup, smallest, dim : int
        Steps, rows that a batch must have, and coordinates.
    make : callable
        ``make(m)`` is a subsampler of batches of m rows.
    """

    def __init__(self, target, stiffness, warmup, smallest, dim, make):
        self.target, self.stiffness, self.smallest, self.make = target, stiffness, smallest, make
        self.every, self.last = max(1, warmup // LOOKS), warmup
        self.looks, self.one_row = 0, np.zeros(dim)

    def until_next(self, step):
        """Steps from `step` to the next look."""
        return self.every - step % self.every

    def look(self, chain):
        """Look and choose, if the chain is at such a step."""
        rows, due = chain.gradient.rows, chain.steps // self.every
        if chain.steps > self.last or due == self.looks:
            return
        self.looks = due
        sd = evaluate(chain.gradient, chain.x, chain.rng, True)[1]
        seen = sd**2 / share(rows) / self.stiffness
        self.one_row = self.one_row + (seen - self.one_row) / due
        m = self.size(rows)
        if abs(m - rows.m) > SLACK * rows.m or due == self.last // self.every and m != rows.m:
            self.replace(chain, m)

    def noise(self, rows):
        """V a coordinate of the batches that the chain has now."""
        return self.one_row * share(rows)

    def size(self, rows):
        """The least m for the noise seen; not all rows,
        of which no noise would be seen any more.
        """
        worst = float(np.max(self.one_row))
        m = worst / (self.target + (0 if rows.replaces else worst / rows.n))
        return min(max(math.ceil(m), self.smallest), largest(rows.n))

    def replace(self, chain, m):
        """Give a chain batches of m rows."""
        old, new = chain.gradient.rows, self.make(m)
        new.set_design_effect(old.design_effect)
        chain.gradient.replace_rows(new)

    def state(self, chain):
        """What was seen, and the size that the chain has now."""
        return {"looks": self.looks, "one_row": np.array(self.one_row), "m": chain.gradient.rows.m}

    def set_state(self, chain, state):
        """Continue from a `state()`."""
        self.looks, self.one_row = state["looks"], state["one_row"]
        self.replace(chain, state["m"])


def share(rows):
    """V of a scheme's batches over V1."""
    return 1 / rows.m - (0 if rows.replaces else 1 / rows.n)


def largest(n):
    """Rows of the largest batch that adapts."""
    return max(1, n - 1)
