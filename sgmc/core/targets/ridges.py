"""Functions that are sums of ridges, f_k(r_k . theta), by what bounds their derivatives."""

from typing import NamedTuple

import numpy as np


class Ridges(NamedTuple):
    """A function sum_k f_k(r_k . theta), by what bounds its derivatives.

    Attributes
    ----------
    directions : array (k, dim)
        r_k.
    curvature : array (k,)
        Bound of |f_k''|.
    constant : array (k,) of bool
        Whether f_k'' is that number everywhere.
    jump : array (k,)
        Bound of |f_k'| where f_k has a kink, else 0.
    """

    directions: np.ndarray
    curvature: np.ndarray
    constant: np.ndarray
    jump: np.ndarray
