"""Draws of normal vectors whose precision is known by its products with vectors.

With A the precision, and z standard normal, A^-1/2 z has the covariance A^-1.  Lanczos' method has
it from few products where A is near the identity, as it is in units of a root of another precision
that is near (Chow & Saad 2014, doi:10.1137/130920587).
"""

from collections.abc import Callable

import numpy as np

from sgmc.arguments.types import Floats

# of its length by which a vector may still move from step to step: sds are then right to a
# thousandth, and thousands of draws tell one to a hundredth
STILL_MOVING = 1e-4
MOST_STEPS = 200


def inverse_root_times(product: Callable[[Floats], Floats], z: Floats) -> tuple[Floats, bool]:
    """Return A_i^-1/2 z_i of vectors z_i, the columns of an array (k, n), and whether they settled
    within MOST_STEPS.

    Parameters
    ----------
    product : callable
        From columns x_i, (k, n), to A_i x_i, the A_i being symmetric and positive definite.
    z : array (k, n)
    """
    length = np.sqrt((z**2).sum(axis=0))
    basis = [z / np.where(length > 0, length, 1.0)]
    diagonal: list[Floats] = []
    beside: list[Floats] = []
    before = np.zeros((z.shape[1], 0))
    settled = len(z) <= MOST_STEPS  # as many steps as there are numbers leave nothing
    for step in range(min(MOST_STEPS, len(z))):
        x = product(basis[-1])
        # where the steps before have all there is, the matrix goes on apart from them
        over = ~basis[-1].any(axis=0)
        diagonal.append((basis[-1] * x).sum(axis=0) + over)
        x -= diagonal[-1] * basis[-1]
        if step:
            x -= beside[-1] * basis[-2]
        share = shares(diagonal, beside)
        moved = share - np.column_stack([before, np.zeros(len(share))])
        if (np.sum(moved**2, axis=1) <= STILL_MOVING**2 * np.sum(share**2, axis=1)).all():
            settled = True
            break
        before = share
        beside.append(np.sqrt((x**2).sum(axis=0)))
        basis.append(x / np.where(beside[-1] > 0, beside[-1], 1.0))
    out = np.zeros_like(z)
    for one, by in zip(basis, share.T):
        out += by * one
    return length * out, settled


def shares(diagonal: list[Floats], beside: list[Floats]) -> Floats:
    """Return the first columns (n, steps) of T_i^-1/2, the T_i being tridiagonal."""
    steps = len(diagonal)
    T = np.zeros((len(diagonal[0]), steps, steps))
    every = np.arange(steps)
    T[:, every, every] = np.stack(diagonal, axis=1)
    if beside:
        T[:, every[1:], every[:-1]] = np.stack(beside, axis=1)  # what is above is not read
    values, vectors = np.linalg.eigh(T)
    return np.einsum("nij,nj->ni", vectors, vectors[:, 0] / np.sqrt(values))
