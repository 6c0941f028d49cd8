"""Independent component analysis: distance between mixings, and how stable each component is."""

import numpy as np
from numpy.typing import ArrayLike

from sgmc.arguments.data.arrays import numeric, shaped
from sgmc.arguments.types import Floats
from sgmc.errors import ArgumentError, DataError


def amari_distance(unmixing: ArrayLike, mixing: ArrayLike) -> float | Floats:
    r"""Return the Amari distance of an unmixing matrix from the inverse of a mixing matrix, up to
    order, sign and scale of components.

    With :math:`P = W A`,
    :math:`\sum_i (\sum_j |p_{ij}| / \max_k |p_{ik}| - 1) + \sum_j (\sum_i |p_{ij}| /
    \max_k |p_{kj}| - 1)` (Amari, Cichocki and Yang 1996; used by Welling and Teh 2011): 0 if and
    only if P is a scaled permutation, and at most :math:`2 d (d - 1)`.

    Parameters
    ----------
    unmixing : array_like, (d, d) or (n, d, d)
        W, one or draws of it.
    mixing : array_like, (d, d)
        A; of two unmixings, the inverse of the other.

    Returns
    -------
    float or ndarray, (n,)
    """
    W, A = _matrices("unmixing", unmixing), _matrices("mixing", mixing)
    shaped("mixing", A, W.shape[-2:])
    P = np.abs(W @ A)
    rows, columns = P.max(axis=-1, keepdims=True), P.max(axis=-2, keepdims=True)
    if not (rows.all() and columns.all()):
        raise DataError("unmixing times mixing has a row or a column of zeros")
    distance = (P / rows).sum(axis=(-2, -1)) + (P / columns).sum(axis=(-2, -1)) - 2 * P.shape[-1]
    return float(distance) if P.ndim == 2 else distance


def instability(unmixing: ArrayLike, data: ArrayLike) -> Floats:
    r"""Return the instability index of each component, :math:`I_i = \sum_j \mathrm{var}(W_{ij}) \,
    \mathrm{var}(x_j)`.

    Variances over posterior draws of W and over the rows of the data (Welling and Teh 2011, section
    5.3).  Draws must belong to one order and sign of the components.

    Parameters
    ----------
    unmixing : array_like, (n, d, d)
        Draws of W.
    data : array_like, (N, d)

    Returns
    -------
    ndarray, (d,)
        Small for components that the data determine; Gaussian ones are not.
    """
    W, data = _matrices("unmixing", unmixing), numeric("data", data).astype(float, copy=False)
    shaped("unmixing", W, ("n", "d", "d"))
    shaped("data", data, ("N", W.shape[2]))
    return W.var(axis=0) @ data.var(axis=0)


def _matrices(name: str, values: ArrayLike) -> Floats:
    """Square matrices of finite numbers."""
    values = numeric(name, values).astype(float, copy=False)
    if values.ndim not in (2, 3) or values.shape[-1] != values.shape[-2]:
        raise ArgumentError(f"{name} has shape {values.shape}; it must be (d, d) or (n, d, d)")
    if not np.isfinite(values).all():
        raise DataError(f"{name} must be finite")
    return values
