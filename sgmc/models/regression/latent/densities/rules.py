"""Rules that integrate over effects whose law is about a standard normal one."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import special

from sgmc.errors import ArgumentError

FEW_EFFECTS = 3  # that have a grid of nodes by themselves
# of an effect: fewer than the first tell curvatures of densities only where these are about normal,
# and fewer than the second not even then, as fourth moments of a normal law need so many
FEWEST_NODES, FEWEST_OF_NORMAL = 5, 3
PROPOSALS_WIDER = 1.25  # sd of scattered points
SCATTERED_ENOUGH = 0.05  # error of many effects, nats: means are within as many posterior sds
MOST_WITH_WEIGHTS = 359  # nodes of an effect: some weights of more are zero in double precision
SETS = 64  # of scattered points: groups with different ones have errors that average out
SCRAMBLING_SEED = 20_201  # of their scrambles


@lru_cache(maxsize=32)
def normal_rule(nodes, effects):
    """Gauss-Hermite nodes and log weights that integrate over standard normal effects by their
    density.

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


@lru_cache(maxsize=8)
def scattered_rule(nodes, effects):
    """Points of a normal law that is wider than the standard one, with weights of importance
    sampling: scrambled Sobol sequences (Owen 1998, doi:10.1006/jcom.1998.0487).  A single node is
    that of `normal_rule`.

    Parameters
    ----------
    nodes, effects : int

    Returns
    -------
    t : array (SETS, nodes, effects)
    weight : array (SETS, nodes)
    """
    from scipy.stats.qmc import Sobol

    if nodes == 1:
        return normal_rule(nodes, effects)
    seeds = np.random.SeedSequence((SCRAMBLING_SEED, nodes, effects)).spawn(SETS)
    size = (nodes - 1).bit_length()  # powers of two are balanced
    u = np.array([Sobol(effects, seed=np.random.default_rng(s)).random_base2(size) for s in seeds])
    z = special.ndtri(u[:, :nodes])
    weight = 0.5 * (z**2).sum(axis=2) + effects * np.log(PROPOSALS_WIDER * np.sqrt(2 * np.pi))
    return np.ascontiguousarray(PROPOSALS_WIDER * z), weight - np.log(nodes)


class Scheme(NamedTuple):
    """A family of rules, finer and finer.

    Attributes
    ----------
    make : function of (int, int)
        `normal_rule` or `scattered_rule`.
    effects : int
        Of a group, those of its subgroups included.
    first, most : int
        Nodes to begin with, and the largest number that is taken unasked.
    enough : float
        Error of differences of log densities, nats, at which no finer one is tried.
    least : int
        The fewest nodes that are tried: those that curvatures of densities need, which weights and
        laws of groups are chosen by.
    """

    make: object
    effects: int
    first: int
    most: int
    enough: float
    least: int = FEWEST_NODES

    def coarse(self):
        """The scheme of chains, which ask for densities alone."""
        return self._replace(least=FEWEST_OF_NORMAL)

    @property
    def scattered(self):
        """Whether nodes are points of a group instead of nodes of each effect."""
        return self.make is scattered_rule

    def refuse(self, nodes):
        """ArgumentError for a number of nodes that is asked for, if the check by finer ones would
        have weights that are no numbers.
        """
        if nodes is not None and not self.scattered and self.finer(nodes) > MOST_WITH_WEIGHTS:
            raise ArgumentError(
                f"nodes={nodes} is too large: give at most {(MOST_WITH_WEIGHTS - 1) // 2}, or "
                "leave it out for as many as are needed"
            )

    def count(self, nodes):
        """Nodes of a group."""
        return nodes if self.scattered else nodes**self.effects

    def finer(self, nodes):
        """The next number of nodes; where they are many, few more."""
        if self.scattered:
            return 2 * nodes
        return 2 * nodes + 1 if self.effects <= FEW_EFFECTS else nodes + 1

    def coarser(self, nodes):
        """The next smaller number of nodes; 0 where there is none that may do."""
        return nodes - 2 if self.effects <= FEW_EFFECTS and nodes >= self.least + 2 else 0


def scheme_of(effects, nested=False):
    """The `Scheme` of a number of effects; nested ones have grids of nodes in any number."""
    if effects > FEW_EFFECTS and not nested:
        return Scheme(scattered_rule, effects, 128, 1024, SCATTERED_ENOUGH)
    first = {1: 9, 2: 7, 3: 5, 4: 3}.get(effects, 2)
    most = {1: 79, 2: 15, 3: 9, 4: 5}.get(effects, 2)
    return Scheme(
        normal_rule, effects, first, most, SCATTERED_ENOUGH if effects > FEW_EFFECTS else 0.01
    )
