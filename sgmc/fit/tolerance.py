"""Steps and batches whose bias and gradient noise change the variance by at most a tolerance.

With gradient noise V in whitened coordinates, V1/n (1 - n/N) for simple samples of rows, each
sampler states by how much it widens the variance of a Gaussian (`SamplerSpec.inflation`).  Defaults
keep that below VARIANCE_TOLERANCE at the least rows per unit of Langevin time.
"""

import math

import numpy as np

VARIANCE_TOLERANCE = 0.01  # of the variance: half a per cent of the sd
OVERHEAD = 60  # what a step costs besides its rows, in rows
SMALLEST_BATCH = 32
# alpha up to which noise is tolerated, and draws are kept by warmup="threshold" (Welling & Teh
# 2011, 5.3.1)
NOISE_SHARE = 0.1


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


def derive(spec, noise, n, batch=None):
    """(h, batch) with least cost (rows a step + OVERHEAD) / h within the tolerance."""
    sizes = (
        [batch]
        if batch
        else np.unique(np.clip(np.geomspace(SMALLEST_BATCH, n, 200).astype(int), 1, n))
    )
    options = [(largest_h(spec, noise, int(m), n), int(m)) for m in sizes]
    return min(options, key=lambda o: (noise.rows(o[1]) + OVERHEAD) / max(o[0], 1e-300))


def tolerable(spec, h, variance, base):
    """Whether noise of that variance leaves the variance within the tolerance around `base`, and
    not by a correction alone.
    """
    return (
        abs(spec.inflation(h, variance) - base) <= VARIANCE_TOLERANCE
        and spec.noise_ratio(h, variance) <= NOISE_SHARE
    )


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


def batch_for_step(spec, noise, h, n):
    """Least batch whose noise adds at most the tolerance at h; if none does, a hundredth of the
    rows.
    """
    h = min(h, 3.9)
    for m in np.unique(np.clip(np.geomspace(SMALLEST_BATCH, n, 200).astype(int), 1, n)):
        if tolerable(spec, h, noise.felt(spec, m, n)(h), spec.inflation(h, 0.0)):
            return int(m)
    return batch_by_share(n)


def batch_by_share(n):
    """A hundredth of the rows, where noise has no say."""
    return int(min(n, max(SMALLEST_BATCH, n // 100)))
