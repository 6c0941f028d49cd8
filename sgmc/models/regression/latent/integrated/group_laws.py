"""Independent proposals of regressions with effects of large groups, whose densities are those of
normal laws of the groups' effects and a polynomial: rows are read for that alone.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any, Self

import numpy as np

from sgmc.arguments.types import Floats, Ints
from sgmc.coordinates.independent.conditioned import Conditioned
from sgmc.coordinates.independent.transport import WeightedTransport, spread_at_most
from sgmc.core.contract import Prior
from sgmc.core.engine import full_many
from sgmc.core.expansion import expand, of_prior
from sgmc.core.system import deadline
from sgmc.core.system.blas import one_blas_thread
from sgmc.fit.parts import Evidence
from sgmc.fit.problem import Problem
from sgmc.models.mixed.loading import Loading
from sgmc.models.regression.latent.densities.quadrature import Quadrature
from sgmc.models.regression.latent.integrated.normal_groups import log_integrals

# rows times nodes, of a logit's terms, from which their densities cost seconds
FEWEST_LAW_CELLS = 40_000
MOST_LAW_PARAMETERS = 40  # parameters: a polynomial of them has 861 numbers
# places of values and slopes beyond one for each parameter: a quadratic polynomial takes one more,
# as slopes tell its curvature along the lines between places alone
MORE_LAW_PLACES = 6
EQUATIONS_OF_CUBES = 1.6  # slopes for each number of a cubic polynomial
MOST_CUBED = 12  # parameters: it has 454 numbers
LAW_DIFFERENCE = 1e-3  # sds, of which slopes are central differences
LAW_CHECKS = 32  # proposals whose densities by the rows are compared
LAW_PROPOSALS = 256  # proposals whose weights are looked at
SAME_LAW = 0.02  # sd of log densities' errors up to which no chain of all rows is wanted
MOST_LAW_SPREAD = 0.39  # sd of log weights: draws of more are thinned, and chains cost as little
LAW_NUMBERS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class LawError(Evidence):
    """Densities that are not those of the rows.

    Attributes
    ----------
    spread : float
        What the sd of the errors of log densities may be.
    """

    spread: float

    def error_allowance(self, fit):
        return self.spread, "densities by normal laws of groups"


@dataclass(frozen=True, kw_only=True)
class GroupLaws(WeightedTransport):
    """Proposals z, standard normal in coordinates given an sd, and their weights.

    Around an anchor the log density of a group's outcomes is about normal in its effects, see
    `normal_groups`.  What else rows tell of the parameters that are not of Lambda is the expansion
    of all rows at the anchor.  What log densities differ by from the sum of these and of the prior
    is smooth, as it is of many rows: a polynomial of second or third order in z, by values and
    slopes at a few places.

    Attributes
    ----------
    loading : Loading
    prior : Prior
    map : Conditioned
    anchor : array (d,)
    rest : array (k,) of int
        Places of the parameters that are not of Lambda.
    K, h, M : array (groups, q, q), (groups, q), (groups, q, p)
    slope, precision : array (k,), (k, k)
        Of these parameters, at the anchor, without the integrals.
    factors : tuple of array (terms, order) of int
        Which coordinates the terms of the polynomial multiply, by their order.
    polynomial : array (terms,)
    """

    loading: Loading
    prior: Prior
    map: Conditioned
    anchor: Floats
    rest: Ints
    K: Floats
    h: Floats
    M: Floats
    slope: Floats
    precision: Floats
    factors: tuple[Ints, ...] = ()
    polynomial: Floats
    plain_sd: float = np.inf
    skewed_sd: float = np.inf

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return those of a problem, without the polynomial."""
        map, kernel, d = problem.coordinates.map, problem.model, problem.dim
        anchor, p, q = np.asarray(map.centre), kernel.p, kernel.q
        anchored = kernel.anchored(anchor)
        rest = np.r_[:p, p + kernel.loading.size : d]
        K, h = np.reshape(anchored.K, (-1, q, q)), np.asarray(anchored.h)
        M = np.reshape(anchored.M, (-1, q, p))
        root = kernel.loading.root(anchor[p : p + kernel.loading.size])
        pooled = root @ np.linalg.solve(np.eye(q) + root.T @ K @ root, root.T)
        _, slope, precision = expand(anchored, anchor)
        slope, precision = slope[rest], precision[np.ix_(rest, rest)]
        slope[:p] += np.einsum("gap,gab,gb->p", M, pooled, h)
        precision[:p, :p] += np.einsum("gap,gab,gbk->pk", M, pooled, M, optimize=True)
        return cls(
            loading=kernel.loading,
            prior=problem.prior,
            map=map,
            anchor=anchor,
            rest=rest,
            K=K,
            h=h,
            M=M,
            slope=slope,
            precision=precision,
            polynomial=np.zeros(0),
        )

    @property
    def cells(self) -> float:
        """See `WeightedTransport`."""
        return float(self.K.size)

    def integrals(self, theta: Floats) -> Floats:
        """Return log integrals over effects, summed over groups, at points theta (n, dim)."""
        p = self.M.shape[2]
        moved, phi = theta[:, :p] - self.anchor[:p], theta[:, p : p + self.loading.size]
        return log_integrals(self.loading, self.K, self.h, self.M, moved, phi)

    def log_densities(self, z: Floats) -> Floats:
        """Return log densities of the posterior in its coordinates, at points z (n, d)."""
        size = max(1, LAW_NUMBERS_AT_ONCE // self.K.size)
        return np.concatenate([self.of_few(z[a : a + size]) for a in range(0, len(z), size)])

    def of_few(self, z: Floats) -> Floats:
        """Return the same at few points."""
        theta, logs = self.map.with_logs(z)
        prior = np.array([of_prior(self.prior, one, slope=False)[0] for one in theta])
        moved = (theta - self.anchor)[:, self.rest]
        rows = moved @ self.slope - 0.5 * ((moved @ self.precision) * moved).sum(axis=1)
        known = self.integrals(theta) + rows + prior + logs
        return known + products(z, self.factors) @ self.polynomial

    def fitted(self, problem: Problem, random: np.random.Generator, order: int) -> Self:
        """Return the same with a polynomial of that order, by values and slopes at draws of z."""
        d = problem.dim
        factors = tuple(
            np.array(list(combinations_with_replacement(range(d), k))) for k in range(1, order + 1)
        )
        m = d + MORE_LAW_PLACES
        if order > 2:
            m = max(m, math.ceil(EQUATIONS_OF_CUBES * sum(map(len, factors)) / d))
        z = random.normal(size=(m, d))
        value, slope = full_many(problem.all_rows(), z)
        steps = LAW_DIFFERENCE * np.eye(d)
        around = np.concatenate([z[:, None] + steps, z[:, None] - steps], axis=1)
        after, before = np.moveaxis(
            self.log_densities(around.reshape(-1, d)).reshape(m, 2, d), 1, 0
        )
        value, slope = (
            value - self.log_densities(z),
            slope - (after - before) / (2 * LAW_DIFFERENCE),
        )
        # a constant is known to nobody
        values, slopes = products(z, factors), slopes_of_products(z, factors)
        equations = np.concatenate([values - values[0], slopes.reshape(m * d, -1)])
        found = np.linalg.lstsq(equations, np.append(value - value[0], slope.ravel()), rcond=None)
        return replace(self, factors=factors, polynomial=found[0])

    def judged(self, z: Floats, error: float) -> Self:
        """Return the same with what the sds of log weights may be, by those at z and the sd of the
        errors of log densities.
        """
        both = np.concatenate([z, -z])
        value = self.log_densities(both) + 0.5 * (both**2).sum(axis=1)
        here, there = np.split(value, 2)
        skewed = float(np.std(np.logaddexp(here, there)))
        return replace(self, plain_sd=spread_at_most(value) + error, skewed_sd=skewed)

    def weighted(self, z: Floats, share: Floats) -> tuple[Floats, Floats]:
        here, there = np.split(self.log_densities(np.concatenate([z, -z])), 2)
        with np.errstate(over="ignore", invalid="ignore"):
            turned = share * (1 + np.exp(here - there)) < 1
            weight = np.logaddexp(here, there) + 0.5 * (z**2).sum(axis=1)
        return np.where(turned[:, None], -z, z), weight

    def draws(self, z: Floats) -> Floats:
        return z


def products(z: Floats, factors: tuple[Ints, ...]) -> Floats:
    """Return products (n, terms) of some of the coordinates of points z (n, d)."""
    return np.concatenate([np.empty((len(z), 0)), *(z[:, k].prod(axis=2) for k in factors)], axis=1)


def slopes_of_products(z: Floats, factors: tuple[Ints, ...]) -> Floats:
    """Return their derivatives by z, (n, d, terms)."""
    out = []
    for of in factors:
        slope = np.zeros((*z.shape, len(of)))
        for k in range(of.shape[1]):
            slope[:, of[:, k], np.arange(len(of))] += z[:, np.delete(of, k, axis=1)].prod(axis=2)
        out.append(slope)
    return np.concatenate(out, axis=2)


def may_have_laws(kernel: Any) -> bool:
    """Whether rows and nodes are so many that laws of groups are looked for."""
    if not isinstance(kernel, Quadrature) or kernel.dim > MOST_LAW_PARAMETERS:
        return False
    return kernel.starts[-1] * kernel.count * kernel.row_terms >= FEWEST_LAW_CELLS


def with_laws(problem: Problem, seed: np.random.SeedSequence) -> Problem:
    """Return the problem with such proposals; the same where rows and nodes are few, or densities
    differ by what is no such polynomial.

    Parameters
    ----------
    problem : Problem
        In coordinates given an sd.
    seed : SeedSequence
    """
    random = np.random.default_rng(seed)
    kernel, d = problem.model, problem.dim
    if not may_have_laws(kernel):
        return problem
    try:
        deadline.check(operations=2.0 * (LAW_CHECKS + 4 * d) * problem.rows.cells)
    except deadline.OutOfTime:
        return problem
    with one_blas_thread(), np.errstate(all="ignore"):
        z = random.normal(size=(LAW_CHECKS, d))
        by_rows, known = full_many(problem.all_rows(), z, slopes=False)[0], GroupLaws.of(problem)
        for order in (2, 3) if d <= MOST_CUBED else (2,):
            laws = known.fitted(problem, random, order)
            error = spread_at_most(laws.log_densities(z) - by_rows)
            if error <= SAME_LAW:
                break
        else:  # or no number
            return problem
        laws = laws.judged(random.normal(size=(LAW_PROPOSALS, d)), error)
    if not laws.skewed_sd < MOST_LAW_SPREAD:
        return problem
    return replace(problem, transport=laws, evidence=(*problem.evidence, LawError(error)))
