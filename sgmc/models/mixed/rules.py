"""Gauss-Hermite rules on products of normal laws."""

from itertools import product

import numpy as np


def normal_rule(nodes, effects):
    """Nodes and log weights that integrate over standard normal effects by their density.

    sum_k exp(weight_k) f(t_k) is the integral of f over R^q, exactly for a normal density times a
    polynomial of degree 2 nodes - 1: weights of Gauss and Hermite divided by the density at t_k.

    Parameters
    ----------
    nodes, effects : int

    Returns
    -------
    t : array (nodes^effects, effects)
    weight : array (nodes^effects,)
    """
    place, mass = np.polynomial.hermite_e.hermegauss(nodes)
    single = np.log(mass) + 0.5 * place**2
    t = np.array(list(product(place, repeat=effects)))
    weight = np.array([sum(one) for one in product(single, repeat=effects)])
    return t, weight
