"""Buffers around the windows of sequences: what they do to gradients,
and how long they have to be.
"""

import numpy as np

from sgmc.core.expansion import of_rows
from sgmc.errors import BufferWarning
from sgmc.fit.noise import draws_of_laplace

UNSCALED = 50  # default buffer where no Gaussian approximation tells what bias matters
# shift of a posterior mean by the buffers, in sds: what is aimed at, and what is warned of
NEGLIGIBLE, TOLERABLE = 0.01, 0.05
# pairs of draws of the Gaussian approximation at which that is looked at, besides the mode
PLACES = 2


def bias(kernel, theta, buffers):
    """Sum of all windows' gradients with each buffer, minus the exact gradient:
    (len(buffers), size).
    """
    exact, every = of_rows(kernel, theta)[1], np.arange(kernel.n)
    return np.array(
        [of_rows(kernel.buffered(b), theta, every)[1] - exact for b in buffers]
    ).reshape(-1, len(exact))


def with_checked_buffer(problem, given, seed):
    """The compiled model with a buffer whose bias is negligible, or the one given,
    and what to warn of.

    Parameters
    ----------
    problem : Problem
        With a Gaussian approximation.
    given : int or None
    seed : int

    Returns
    -------
    kernel : Windows
    warnings : list of SGMCWarning
    """
    where = problem.coordinates
    z = draws_of_laplace(seed, problem.dim, PLACES)
    places = [where.from_white(one) for one in (np.zeros(problem.dim), *z, *-z)]
    kernel = problem.model.buffered(1 if given is None else given)
    longest, shift = kernel.longest, largest_shift(where, kernel, places)
    while given is None and shift > NEGLIGIBLE and kernel.buffer < longest:
        kernel = kernel.buffered(2 * kernel.buffer)
        shift = largest_shift(where, kernel, places)
    if shift <= TOLERABLE:
        return kernel, []
    return kernel, [
        BufferWarning(
            f"buffers of {kernel.buffer} steps bias the gradients of minibatches: without control "
            f"values they shift the mean of a parameter by up to {shift:.2g} posterior sds.",
            f"Use buffer={2 * kernel.buffer + 2}, or leave it None; results.buffer_bias() says "
            "more.",
        )
    ]


def largest_shift(where, kernel, places):
    """By how many posterior sds the bias of the buffered gradient moves the mean of a parameter, to
    first order; the largest.
    """
    found, sd = 0.0, np.sqrt((where.white**2).sum(axis=1))
    for x in places:
        theta = where.natural(x)
        off = bias(kernel, theta, [kernel.buffer])[0]
        moved = where.white @ (where.pull_white(x, off) - where.pull_white(x, np.zeros(len(theta))))
        found = max(found, float(np.abs(moved / sd).max()))
    return found
