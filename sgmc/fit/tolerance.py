"""Steps and batches whose bias and gradient noise change the variance by at most a tolerance.

With gradient noise V in whitened coordinates, V1/n (1 - n/N) for simple samples of rows, each
sampler states by how much it widens the variance of a Gaussian (`SamplerSpec.inflation`).  Defaults
keep that below VARIANCE_TOLERANCE at the least rows per unit of Langevin time.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

VARIANCE_TOLERANCE = 0.01  # of the variance: half a per cent of the sd
OVERHEAD = 60  # what a step costs besides its rows, in rows
SMALLEST_BATCH = 32
# alpha up to which noise is tolerated, and draws are kept by warmup="threshold" (Welling & Teh
# 2011, 5.3.1)
NOISE_SHARE = 0.1
LONGEST_STEP = 3.9  # Langevin time from which on a batch is chosen as for this


class Noise(NamedTuple):
    """What a gradient estimator's minibatches cost.

    Attributes
    ----------
    one_row : float
        V1 of the worst parameter.
    always : int
        Rows computed at every step.
    each : float
        Row gradients computed for each row drawn.
    shared : float
        Noise that a batch's rows have in common, whatever their number (`Gradient.block_noise`).
    law : callable or None
        V of a batch by its size, for schemes that draw no simple samples.
    anisotropy : float
        Largest noise of any direction over that of the worst parameter.
    sweeps : bool
        Whether the errors of the batches of a sweep cancel (`Subsampler.sweeps`).
    """

    one_row: float
    always: int
    each: float = 1.0
    shared: float = 0.0
    law: Callable | None = None
    anisotropy: float = 1.0
    sweeps: bool = False

    def of(self, batch, n):
        """Noise V of batches of that size, of n rows."""
        if self.law is not None:
            return self.law(batch)
        return (self.one_row / batch + self.shared) * (1 - batch / n)

    def felt(self, spec, batch, n):
        """Return V of independent batches that widen the draws as much, as a function of the
        Langevin time h of a step.
        """
        alone = self.of(batch, n)
        if not self.sweeps:
            return lambda h: alone
        return lambda h: alone * spec.noise_left(h, math.ceil(n / batch))

    def rows(self, batch):
        """Row gradients a step."""
        return self.each * batch + self.always


def derive(spec, noise, n, batch=None):
    """(h, batch) with least cost (rows a step + OVERHEAD) / h within the tolerance."""
    options = [(largest_h(spec, noise, m, n), m) for m in ([batch] if batch else batch_sizes(n))]
    return min(options, key=lambda o: (noise.rows(o[1]) + OVERHEAD) / max(o[0], 1e-300))


def batch_sizes(n):
    """Sizes of batches of n rows to choose from, about evenly on a log scale."""
    found = np.geomspace(SMALLEST_BATCH, n, 200).astype(int)
    return [int(m) for m in np.unique(np.clip(found, 1, n))]


def largest_h(spec, noise, batch, n):
    """Largest h with inflation <= VARIANCE_TOLERANCE for batches of `batch` rows; where there is
    none, the one with the least.

    Without the noise it is at most three times that: what a sampler takes off for noise is not to
    be what its step adds.  And noise is at most the share NOISE_SHARE of a step's own: those who
    correct for it know it coordinate by coordinate, and where it is correlated, as in blocks, no
    more than that should rest on them.
    """
    felt = noise.felt(spec, batch, n)

    def excess(h):
        variance = felt(h)
        return (
            max(
                abs(spec.inflation(h, variance)),
                abs(spec.inflation(h, 0.0)) / 3,
                spec.noise_ratio(h, variance) * VARIANCE_TOLERANCE / NOISE_SHARE,
            )
            - VARIANCE_TOLERANCE
        )

    steps = spec.largest_step * 0.5 ** np.arange(40)
    low = next((h for h in steps if excess(h) <= 0), None)
    if low is None:
        return min(steps, key=excess)
    high = min(2 * low, spec.largest_step)
    for _ in range(30 if high > low else 0):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
    return low


def batch_for_step(spec, noise, h, n):
    """Least batch whose noise adds at most the tolerance at h; if none does, a hundredth of the
    rows.
    """
    h = min(h, LONGEST_STEP)
    base = spec.inflation(h, 0.0)
    for m in batch_sizes(n):
        if tolerable(spec, h, noise.felt(spec, m, n)(h), base):
            return m
    return batch_by_share(n)


def batch_by_share(n):
    """A hundredth of the rows, where noise has no say."""
    return int(min(n, max(SMALLEST_BATCH, n // 100)))


def tolerable_noise(spec, h):
    """The largest V with which the variance is within the tolerance at h, or where the step alone
    is not, as much off again.
    """
    own = spec.inflation(h, 0.0)
    base = own if abs(own) >= VARIANCE_TOLERANCE else 0.0
    low, high = 1e-9, 1e9
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if tolerable(spec, h, middle, base) else (low, middle)
    return low


def tolerable(spec, h, variance, base):
    """Whether noise of that variance leaves the variance within the tolerance around `base`, and
    not by a correction alone.
    """
    return (
        abs(spec.inflation(h, variance) - base) <= VARIANCE_TOLERANCE
        and spec.noise_ratio(h, variance) <= NOISE_SHARE
    )
